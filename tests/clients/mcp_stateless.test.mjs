// The server at /mcp in the revision without sessions, 2026-07-28, used by that revision's official client; tasks, which
// that client leaves to others, by hand.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { within } from './harness.mjs';
import { ask, startMcpWorld, textOf } from './mcp_people.mjs';

const options = { timeout: 30_000 };
const revision = '2026-07-28';
let world;
before(async () => { world = await startMcpWorld({ wait_seconds: 20 }); });
after(() => world.stop());

async function connect({ capabilities = {}, mode = { pin: revision }, setUp = () => {} } = {}) {
  const client = new Client({ name: 'tests', version: '1' }, { capabilities, versionNegotiation: { mode } });
  setUp(client);
  await client.connect(new StreamableHTTPClientTransport(new URL(`${world.address()}/mcp`), { requestInit: { headers: world.asker } }));
  return client;
}

// One request as the revision wants it, with `capabilities` declared.
let last = 0;
async function send(method, params, { capabilities = {}, headers = {} } = {}) {
  const name = params.name ?? params.taskId;
  const { status, json } = await world.request('POST', '/mcp', {
    headers: { ...world.asker, accept: 'application/json', 'mcp-protocol-version': revision, 'mcp-method': method, ...(name ? { 'mcp-name': name } : {}), ...headers },
    body: { jsonrpc: '2.0', id: ++last, method, params: { ...params, _meta: {
      'io.modelcontextprotocol/protocolVersion': revision, 'io.modelcontextprotocol/clientCapabilities': capabilities,
      'io.modelcontextprotocol/clientInfo': { name: 'tests', version: '1' } } } } });
  assert.equal(json.id, last);
  return { status, ...json };
}
const withTasks = { capabilities: { extensions: { 'io.modelcontextprotocol/tasks': {} } } };

for (const mode of [{ pin: revision }, 'auto']) {
  test(`the client discovers us without a session (${JSON.stringify(mode)}), lists the tools and gets an answer`, options, async () => {
    const client = await connect({ mode });
    assert.equal(client.getNegotiatedProtocolVersion(), revision);
    assert.equal(client.getServerVersion().name, 'holdpoint');
    assert.ok((await client.listTools()).tools.some(({ name }) => name === 'ask_user_question'));
    const text = `Without a session, ${JSON.stringify(mode)}?`;
    const call = client.callTool(ask(text));
    await world.answer(await world.asked(text), 'Yes');
    assert.deepEqual((await within(3_000, 'the result', call)).structuredContent.answers, { [text]: 'Yes' });
    await assert.rejects(client.callTool({ name: 'nothing' }), /there is no tool "nothing"/);
    const wrong = await client.callTool({ name: 'ask_user_question', arguments: { questions: [] } });
    assert.equal(wrong.isError, true);
    assert.match(textOf(wrong), /^questions: /);
    await client.close();
  });
}

test('an old client of the same library gets a session instead', options, async () => {
  const client = await connect({ mode: 'legacy' });
  assert.equal(client.getNegotiatedProtocolVersion(), '2025-11-25');
  assert.ok(client.transport.sessionId);
  await client.close();
});

test('a question that is open is told with its id, which any later call may ask for', options, async () => {
  const client = await connect();
  const { structuredContent: { id, status } } = await client.callTool(ask('Open for long?', { wait_seconds: 1 }));
  assert.equal(status, 'pending');
  await world.answer(await world.asked('Open for long?'), 'No');
  const other = await connect();
  const { structuredContent } = await other.callTool({ name: 'get_answer', arguments: { id } });
  assert.deepEqual(structuredContent.answers, { 'Open for long?': 'No' });
});

test('the client\'s own user is asked by a result that wants input, and people only if that brings none', options, async () => {
  const shown = [];
  let reply = { action: 'accept', content: { answer1: 'No', other1: 'Rather not.' } };
  const client = await connect({ capabilities: { elicitation: { form: {} } }, setUp: (made) => made.setRequestHandler('elicitation/create', async ({ params }) => {
    shown.push(params.message);
    return reply;
  }) });
  const own = await client.callTool(ask('Here, without a session?', { elicit: true }));
  assert.deepEqual(own.structuredContent.answers, { 'Here, without a session?': 'Rather not.' });
  assert.equal(await world.count('Here, without a session?'), 0);
  reply = { action: 'decline' };
  const call = client.callTool(ask('Elsewhere, then?', { elicit: true }));
  await world.answer(await world.asked('Elsewhere, then?'), 'Yes');
  assert.deepEqual((await call).structuredContent.answers, { 'Elsewhere, then?': 'Yes' });
  assert.deepEqual(shown, ['Here, without a session?', 'Elsewhere, then?']);
});

test('a form belongs to its call: another state, or another call\'s, is refused', options, async () => {
  const forms = { capabilities: { elicitation: { form: {} } } };
  const { result } = await send('tools/call', ask('Whose form?', { elicit: true }), forms);
  assert.equal(result.resultType, 'input_required');
  const answer = { inputResponses: { answer: { action: 'accept', content: { answer1: 'Yes' } } } };
  for (const [params, requestState] of [[ask('Whose form?', { elicit: true }), `${result.requestState}x`], [ask('Mine?', { elicit: true }), result.requestState]]) {
    const { error } = await send('tools/call', { ...params, ...answer, requestState }, forms);
    assert.equal(error.code, -32602);
    assert.match(error.message, /params\.requestState/);
  }
  const taken = await send('tools/call', { ...ask('Whose form?', { elicit: true }), ...answer, requestState: result.requestState }, forms);
  assert.equal(taken.result.structuredContent.status, 'answered');
});

test('hanging up cancels, and keeps or withdraws the question as the call said', options, async () => {
  const client = await connect();
  for (const onCancel of ['keep', 'withdraw']) {
    const text = `Hung up with ${onCancel}?`;
    const stop = new AbortController();
    const call = client.callTool(ask(text, { on_cancel: onCancel }), { signal: stop.signal });
    const question = await world.asked(text);
    stop.abort();
    await assert.rejects(call);
    if (onCancel === 'withdraw') {
      await world.settled(question, 'cancelled');
    } else {
      await world.answer(question, 'Yes');
    }
  }
});

test('a client that knows tasks gets one at once, polls it, and finds the answer in it', options, async () => {
  const { result: task } = await send('tools/call', ask('As a task?'), withTasks);
  assert.equal(task.resultType, 'task');
  assert.equal(task.status, 'working');
  assert.ok(task.ttlMs > 0 && task.pollIntervalMs > 0);
  const { taskId } = task;
  assert.equal((await send('tasks/get', { taskId }, withTasks)).result.status, 'working');
  await world.crash();
  await world.restart();
  await world.answer(await world.asked('As a task?'), 'Yes');
  const { result: done } = await send('tasks/get', { taskId }, withTasks);
  assert.equal(done.status, 'completed');
  assert.deepEqual(done.result.structuredContent.answers, { 'As a task?': 'Yes' });

  const { result: other } = await send('tools/call', ask('A task to cancel?'), withTasks);
  const question = await world.asked('A task to cancel?');
  assert.equal((await send('tasks/cancel', { taskId: other.taskId }, withTasks)).result.resultType, 'complete');
  assert.equal((await send('tasks/get', { taskId: other.taskId }, withTasks)).result.status, 'cancelled');
  assert.equal(await world.status(question), 'cancelled');
  assert.equal((await send('tasks/get', { taskId: 'nothing' }, withTasks)).error.code, -32602);
  assert.equal((await send('tasks/get', { taskId }, {})).error.code, -32021);
});

test('what a request must say is asked for by name', options, async () => {
  for (const [headers, code, complaint] of [
    [{ 'mcp-method': 'tools/call' }, -32020, /Mcp-Method/],
    [{ 'mcp-protocol-version': '2025-11-25' }, -32020, /MCP-Protocol-Version/],
  ]) {
    const { status, error } = await send('tools/list', {}, { headers });
    assert.equal(status, 400);
    assert.equal(error.code, code);
    assert.match(error.message, complaint);
  }
  const { status, error } = await send('ping', {});
  assert.equal(status, 404);
  assert.equal(error.code, -32601);
});

test('a server that stops tells where its calls stand', options, async () => {
  const client = await connect();
  const call = client.callTool(ask('Before it stops?'));
  await world.asked('Before it stops?');
  await world.stopServer();
  const { structuredContent } = await within(5_000, 'the result', call);
  assert.equal(structuredContent.status, 'pending');
});
