// `holdpoint mcp`, as the official library's client starts it: a server's tools over pipes, while that server comes and goes.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import http from 'node:http';
import { createInterface } from 'node:readline';
import { after, before, describe, test } from 'node:test';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { ElicitRequestSchema, McpError } from '@modelcontextprotocol/sdk/types.js';
import { eventually, findBinary, within } from './harness.mjs';
import { ask, startMcpWorld, textOf } from './mcp_people.mjs';

const options = { timeout: 40_000 };

// A client behind a bridge; `log` is what that says on standard error.
async function connect(world, { args = [], server = world.address(), key = world.asker.authorization.slice('Bearer '.length), ...more } = {}) {
  const transport = new StdioClientTransport({ command: findBinary(), args: ['mcp', '--server', server, ...args], env: { PATH: process.env.PATH, HOLDPOINT_KEY: key }, stderr: 'pipe' });
  const log = [];
  transport.stderr.setEncoding('utf8').on('data', (text) => log.push(text));
  const client = await world.connect({ transport, ...more });
  return Object.assign(client, { log: () => log.join('') });
}

// The bridge without a client: `send` writes a line, `next` gives the next that comes back.
function startBridge(world, env = {}) {
  const child = spawn(findBinary(), ['mcp'], { stdio: ['pipe', 'pipe', 'ignore'], env: { PATH: process.env.PATH, HOLDPOINT_SERVER: world.address(), HOLDPOINT_KEY: world.asker.authorization.slice('Bearer '.length), ...env } });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const exited = once(child, 'exit');
  return {
    send: (line) => child.stdin.write(`${typeof line === 'string' ? line : JSON.stringify(line)}\n`),
    next: async () => JSON.parse((await within(10_000, 'a line', lines.next())).value),
    end: async () => {
      child.stdin.end();
      const [code] = await within(5_000, 'the bridge to end', exited);
      return code;
    },
    kill: () => child.kill('SIGKILL'),
  };
}
const initialize = (id = 0) => ({ jsonrpc: '2.0', id, method: 'initialize', params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'tests', version: '1' } } });

// Stands before one server or another, and shows each the key that it knows.
async function startRelay(first) {
  let target = first;
  const relay = http.createServer((request, response) => {
    const { hostname, port } = new URL(target.address());
    const headers = { ...request.headers, authorization: target.asker.authorization };
    request.pipe(http.request({ hostname, port, method: request.method, path: request.url, headers }, (answer) => {
      response.writeHead(answer.statusCode, answer.headers);
      answer.pipe(response);
    }));
  });
  relay.listen(0, '127.0.0.1');
  await once(relay, 'listening');
  return {
    url: `http://127.0.0.1:${relay.address().port}`,
    use: (other) => { target = other; },
    stop: () => {
      relay.close();
      relay.closeAllConnections();
    },
  };
}

describe('behind the bridge', options, () => {
  let world;
  before(async () => { world = await startMcpWorld({ wait_seconds: 20 }); });
  after(() => world.stop());

  test('a client lists the tools and gets answers, with progress, in its agent\'s name', options, async () => {
    const client = await connect(world, { args: ['--agent', 'external'] });
    assert.equal(client.getServerVersion().name, 'holdpoint');
    assert.equal((await client.listTools()).tools.length, 5);
    const seen = [];
    const call = client.callTool(ask('Over pipes?'), undefined, { onprogress: (progress) => seen.push(progress) });
    const question = await world.asked('Over pipes?');
    assert.equal(question.agent_name, 'external');
    await eventually('a sign of progress', () => seen.length > 0);
    // What waits holds up nothing else.
    await within(2_000, 'a ping beside it', client.ping());
    await world.answer(question, 'Yes');
    assert.deepEqual((await within(3_000, 'the result', call)).structuredContent.answers, { 'Over pipes?': 'Yes' });
    const wrong = await client.callTool({ name: 'get_answer', arguments: {} });
    assert.match(textOf(wrong), /^id: is required/);
    await assert.rejects(client.callTool({ name: 'nothing' }), /-32602.*there is no tool/);
    assert.deepEqual(client.errors, []);
  });

  test('its own user is asked, and its cancellation arrives', options, async () => {
    const client = await connect(world, { capabilities: { elicitation: {} }, setUp: (made) => made.setRequestHandler(ElicitRequestSchema, async () => ({ action: 'accept', content: { answer1: 'Yes' } })) });
    const { structuredContent } = await client.callTool(ask('By a form?', { elicit: true }));
    assert.equal(structuredContent.answered_via, 'elicitation');
    const stop = new AbortController();
    const call = client.callTool(ask('Withdrawn over pipes?', { on_cancel: 'withdraw' }), undefined, { signal: stop.signal });
    const question = await world.asked('Withdrawn over pipes?');
    stop.abort();
    await assert.rejects(call, McpError);
    await world.settled(question, 'cancelled');
    await client.ping();
  });

  test('what is no message is answered with an error, and the next line counts', options, async () => {
    const bridge = startBridge(world);
    bridge.send(initialize());
    assert.equal((await bridge.next()).result.serverInfo.name, 'holdpoint');
    for (const [line, code] of [['garbage', -32700], ['[]', -32600], ['{"jsonrpc":"2.0"}', -32600], ['{"jsonrpc":"1.0","id":1,"method":"ping"}', -32600], ['\u0000\u0001', -32700]]) {
      bridge.send(line);
      const { id, error } = await bridge.next();
      assert.equal(id, null);
      assert.equal(error.code, code);
    }
    bridge.send('');
    bridge.send({ jsonrpc: '2.0', id: 'p', method: 'ping' });
    assert.deepEqual(await bridge.next(), { jsonrpc: '2.0', id: 'p', result: {} });
    bridge.send({ jsonrpc: '2.0', id: 'huge', method: 'ping', params: { text: 'x'.repeat(300_000) } });
    const huge = await bridge.next();
    assert.equal(huge.id, 'huge');
    assert.match(huge.error.message, /larger|bytes|large/);
    assert.equal(await bridge.end(), 0);
  });

  test('it ends with its input, also while a call waits, and what was asked stays', options, async () => {
    const bridge = startBridge(world);
    bridge.send(initialize());
    await bridge.next();
    bridge.send({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: ask('Left behind?') });
    const question = await world.asked('Left behind?');
    assert.equal(await bridge.end(), 0);
    assert.match((await bridge.next()).error.message, /the input ended/);
    assert.equal(await world.status(question), 'pending');
    await world.answer(question, 'No');
  });

  test('lines that come all at once are answered, also where the input ends with them', options, async () => {
    const bridge = startBridge(world);
    bridge.send(initialize());
    bridge.send({ jsonrpc: '2.0', method: 'notifications/initialized' });
    bridge.send({ jsonrpc: '2.0', id: 1, method: 'tools/list' });
    const ended = bridge.end();
    assert.equal((await bridge.next()).id, 0);
    assert.equal((await bridge.next()).result.tools.length, 5);
    assert.equal(await ended, 0);
  });

  test('it speaks the revision without sessions too', options, async () => {
    const bridge = startBridge(world);
    const _meta = { 'io.modelcontextprotocol/protocolVersion': '2026-07-28', 'io.modelcontextprotocol/clientCapabilities': {} };
    bridge.send({ jsonrpc: '2.0', id: 1, method: 'server/discover', params: { _meta } });
    assert.ok((await bridge.next()).result.supportedVersions.includes('2026-07-28'));
    bridge.send({ jsonrpc: '2.0', id: 2, method: 'tools/call', params: { ...ask('Stateless over pipes?'), _meta } });
    await world.answer(await world.asked('Stateless over pipes?'), 'Yes');
    assert.equal((await bridge.next()).result.structuredContent.status, 'answered');
    await bridge.end();
  });

  test('a wrong key or address is told to whoever asks', options, async () => {
    const bridge = startBridge(world, { HOLDPOINT_KEY: '' });
    bridge.send(initialize(7));
    const { id, error } = await bridge.next();
    assert.equal(id, 7);
    assert.match(error.message, /HOLDPOINT_KEY/);
    await bridge.end();
    const lost = startBridge(world, { HOLDPOINT_SERVER: 'nonsense' });
    assert.equal(await lost.end(), 2);
  });
});

describe('while the server comes and goes', options, () => {
  test('a call that waits gets its answer after kill -9 and a restart, and asks once', options, async () => {
    const world = await startMcpWorld({ wait_seconds: 30 });
    try {
      const client = await connect(world);
      const seen = [];
      const calls = [client.callTool(ask('Through a restart?'), undefined, { onprogress: (progress) => seen.push(progress) }), client.callTool(ask('And without progress?'))];
      const permission = client.callTool({ name: 'request_permission', arguments: { tool_name: 'Bash', input: { command: 'ls' } } });
      for (const text of ['Through a restart?', 'And without progress?', 'Allow Bash?']) await world.asked(text);
      await world.crash();
      const listing = client.listTools();  // Sent while it is away.
      await world.restart();
      assert.equal((await within(8_000, 'the list', listing)).tools.length, 5);
      await world.crash();
      await world.restart();
      for (const [text, answer] of [['Through a restart?', 'Yes'], ['And without progress?', 'No'], ['Allow Bash?', 'Allow']]) await world.answer(await world.asked(text), answer);
      const [first, second] = await within(10_000, 'the results', Promise.all(calls));
      assert.deepEqual(first.structuredContent.answers, { 'Through a restart?': 'Yes' });
      assert.deepEqual(second.structuredContent.answers, { 'And without progress?': 'No' });
      assert.equal(JSON.parse(textOf(await within(10_000, 'the permission', permission))).behavior, 'allow');
      for (const text of ['Through a restart?', 'And without progress?', 'Allow Bash?']) assert.equal(await world.count(text), 1, text);
      // The library looks at progress after the result that came with it.
      assert.deepEqual(client.errors.filter(({ message }) => !message.includes('unknown token')), []);
    } finally {
      await world.stop();
    }
  });

  test('a server that is away at first is waited for', options, async () => {
    const world = await startMcpWorld();
    try {
      await world.crash();
      const connecting = connect(world);
      await world.restart();
      const client = await within(10_000, 'the session', connecting);
      assert.equal((await client.listTools()).tools.length, 5);
    } finally {
      await world.stop();
    }
  });

  test('a server that knows the session no more gets a new one, and the client does not notice', options, async () => {
    const [old, other] = [await startMcpWorld(), await startMcpWorld()];
    const relay = await startRelay(old);
    try {
      const client = await connect(old, { server: relay.url });
      assert.equal((await client.listTools()).tools.length, 5);
      relay.use(other);
      const call = client.callTool(ask('In another session?'));
      await other.answer(await other.asked('In another session?'), 'Yes');
      assert.deepEqual((await within(5_000, 'the result', call)).structuredContent.answers, { 'In another session?': 'Yes' });
      assert.match(client.log(), /mcp_session_renewed/);
    } finally {
      relay.stop();
      await old.stop();
      await other.stop();
    }
  });
});
