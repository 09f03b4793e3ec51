// Tools of MCP servers, as the official library makes them: our client lists and calls them, whichever of the ways to
// answer the server has chosen, and finds its way back when the server was restarted.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { test } from 'node:test';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { CallToolRequestSchema, ListToolsRequestSchema, McpError } from '@modelcontextprotocol/sdk/types.js';
import { findBinary } from './harness.mjs';

const options = { timeout: 60_000 };
const input = { type: 'object', properties: { z: { type: 'string' }, a: { type: 'integer' } } };
// In pages of two.
const tools = [
  { name: 'echo', description: 'Says what it was told.', inputSchema: input },
  { name: 'fail', inputSchema: { type: 'object' } },
  { name: 'refuse', inputSchema: { type: 'object' } },
  { name: 'draw', inputSchema: { type: 'object' } },
  { name: 'dotted.name', inputSchema: { type: 'object' } },
];
const does = {
  echo: ({ arguments: given, _meta }) => ({ content: [{ type: 'text', text: JSON.stringify({ given, call: _meta['holdpoint/call'] }) }] }),
  fail: () => ({ content: [{ type: 'text', text: 'it is broken' }], isError: true }),
  refuse: () => { throw new McpError(-32602, 'not like this'); },
  draw: () => ({ content: [{ type: 'image', mimeType: 'image/png', data: Buffer.alloc(1234).toString('base64') }] }),
  'dotted.name': () => ({ content: [{ type: 'text', text: 'one' }, { type: 'text', text: 'two' }] }),
};

function makeServer() {
  const server = new Server({ name: 'test', version: '1' }, { capabilities: { tools: {}, logging: {} } });
  server.setRequestHandler(ListToolsRequestSchema, ({ params }) => {
    const from = Number(params?.cursor ?? 0);
    return { tools: tools.slice(from, from + 2), ...(from + 2 < tools.length ? { nextCursor: String(from + 2) } : {}) };
  });
  server.setRequestHandler(CallToolRequestSchema, async ({ params }, { sendNotification }) => {
    // In a stream this comes before the response.
    await sendNotification({ method: 'notifications/message', params: { level: 'info', data: 'working' } });
    return does[params.name](params);
  });
  return server;
}

// A server with these options of the library's transport; `forgetWith` is its answer for a session that it does not know,
// `seen` are the methods that it was sent, with their headers. A restart drops connections and sessions.
async function startServer({ json, stateful, forgetWith }) {
  let transports = new Map();
  const seen = [];
  const listener = http.createServer(async (request, response) => {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    const message = JSON.parse(Buffer.concat(chunks).toString('utf8'));
    seen.push({ method: message.method, headers: request.headers });
    let transport = transports.get(request.headers['mcp-session-id']);
    if (!transport && stateful && message.method !== 'initialize' && forgetWith) {
      response.writeHead(forgetWith).end();
      return;
    }
    if (!transport) {
      transport = new StreamableHTTPServerTransport({
        enableJsonResponse: json,
        sessionIdGenerator: stateful ? () => randomUUID() : undefined,
        onsessioninitialized: (id) => transports.set(id, transport),
      });
      await makeServer().connect(transport);
    }
    await transport.handleRequest(request, response, message);
  });
  const listen = (port) => new Promise((done) => { listener.listen(port, '127.0.0.1', done); });
  const stop = () => new Promise((done) => { listener.close(done); listener.closeAllConnections(); });
  await listen(0);
  const { port } = listener.address();
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    seen,
    count: (method) => seen.filter((known) => known.method === method).length,
    restart: async () => {
      await stop();
      transports = new Map();
      await listen(port);
    },
    stop,
  };
}

// An agent with this server; `ask` sends one line to it and gives the answer.
function startAgent(server) {
  const binary = path.join(path.dirname(findBinary()), 'tests/call_tool');
  assert.ok(existsSync(binary), `no ${binary}: build call_tool`);
  const folder = mkdtempSync(path.join(tmpdir(), 'holdpoint-mcp-'));
  const file = path.join(folder, 'agent.md');
  writeFileSync(file, `---\nrunner: llm\nmodel: m\nmcp_servers: ${JSON.stringify([{ name: 'hub', timeout: 10, ...server }])}\n---\nprompt\n`);
  const child = spawn(binary, [file], { stdio: ['pipe', 'pipe', 'inherit'] });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    ask: async (wanted) => {
      child.stdin.write(`${JSON.stringify(wanted)}\n`);
      const { value, done } = await lines.next();
      assert.ok(!done, 'call_tool has ended');
      return JSON.parse(value);
    },
    stop: () => {
      child.stdin.end();
      rmSync(folder, { recursive: true });
    },
  };
}

async function together({ server: wanted, agent: more = {} }, use) {
  const server = await startServer(wanted);
  const agent = startAgent({ url: server.url, headers: { authorization: 'Bearer abc' }, ...more });
  try {
    await use(server, agent);
  } finally {
    agent.stop();
    await server.stop();
  }
}

for (const [way, wanted] of Object.entries({
  'streams and sessions': { json: false, stateful: true },
  'JSON and sessions': { json: true, stateful: true },
  'streams without sessions': { json: false, stateful: false },
  'JSON without sessions': { json: true, stateful: false },
})) {
  test(`a server with ${way} has its tools listed, page by page, and called`, options, () => together({ server: wanted }, async (server, agent) => {
    const { offered } = await agent.ask({ list: true });
    assert.deepEqual(offered.map(({ name }) => name), ['hub__echo', 'hub__fail', 'hub__refuse', 'hub__draw', 'hub__dotted_name']);
    assert.equal(offered[0].description, 'Says what it was told.');
    assert.deepEqual(offered[0].schema, input);
    assert.equal(server.count('tools/list'), 3);
    await agent.ask({ list: true });
    assert.equal(server.count('tools/list'), 3);

    const { content, is_error: isError } = await agent.ask({ tool: 'hub__echo', input: { z: 'ü\n"', a: 7 } });
    assert.equal(isError, false);
    assert.deepEqual(JSON.parse(content), { given: { z: 'ü\n"', a: 7 }, call: 'session:1:call_1' });
    assert.deepEqual(await agent.ask({ tool: 'hub__dotted_name', input: {} }), { content: 'one\ntwo', is_error: false });
    assert.deepEqual(await agent.ask({ tool: 'hub__draw', input: {} }), { content: '[image image/png, 1234 bytes]', is_error: false });
    assert.deepEqual(await agent.ask({ tool: 'hub__fail', input: {} }), { content: 'it is broken', is_error: true });
    const refused = await agent.ask({ tool: 'hub__refuse', input: {} });
    assert.equal(refused.is_error, true);
    assert.match(refused.content, /not like this/);
    assert.deepEqual(await agent.ask({ tool: 'hub__other', input: {} }), { unknown: 'hub__other' });

    assert.equal(server.count('initialize'), 1);
    assert.equal(server.count('notifications/initialized'), 1);
    for (const { method, headers } of server.seen) {
      assert.equal(headers.authorization, 'Bearer abc');
      assert.equal(headers['mcp-protocol-version'], method === 'initialize' ? undefined : '2025-06-18');
      assert.equal(headers['mcp-session-id'] !== undefined, wanted.stateful && method !== 'initialize');
    }
  }));
}

// The library's own answer is 404 in a transport that has another session; its example of a server says 400.
for (const forgetWith of [404, 400]) {
  test(`a server that was restarted, and says ${forgetWith}, gets a new session and the call`, options, () => together({ server: { json: false, stateful: true, forgetWith } }, async (server, agent) => {
    await agent.ask({ list: true });
    await server.restart();
    assert.deepEqual(await agent.ask({ tool: 'hub__dotted_name', input: {} }), { content: 'one\ntwo', is_error: false });
    assert.equal(server.count('initialize'), 2);
    assert.equal(new Set(server.seen.map(({ headers }) => headers['mcp-session-id']).filter(Boolean)).size, 2);
    assert.deepEqual(await agent.ask({ tool: 'hub__fail', input: {} }), { content: 'it is broken', is_error: true });
    assert.equal(server.count('initialize'), 2);
  }));
}

test('an agent\'s list of tools is all that its model gets, and a wrong name in it is told', options, async () => {
  await together({ server: { json: true, stateful: true }, agent: { tools: ['dotted.name', 'echo'] } }, async (server, agent) => {
    const { offered } = await agent.ask({ list: true });
    assert.deepEqual(offered.map(({ name }) => name), ['hub__echo', 'hub__dotted_name']);
    assert.deepEqual(await agent.ask({ tool: 'hub__fail', input: {} }), { unknown: 'hub__fail' });
    assert.equal(server.count('tools/call'), 0);
  });
  await together({ server: { json: true, stateful: true }, agent: { tools: ['echo', 'ecko'] } }, async (server, agent) => {
    assert.deepEqual(await agent.ask({ list: true }), {
      failed: 'mcp_servers: hub has no tool "ecko"; it has: echo, fail, refuse, draw, dotted.name', retryable: false });
  });
});

test('a server that is gone fails the listing for now, and a call for the model to read', options, () => together({ server: { json: true, stateful: true } }, async (server, agent) => {
  await agent.ask({ list: true });
  await server.stop();
  const called = await agent.ask({ tool: 'hub__echo', input: {} });
  assert.equal(called.is_error, true);
  assert.match(called.content, /did not do it: /);
  const other = startAgent({ url: server.url });
  try {
    const listed = await other.ask({ list: true });
    assert.equal(listed.retryable, true);
    assert.match(listed.failed, /did not list its tools: /);
  } finally {
    other.stop();
  }
}));
