// The server at /mcp, used by the official library's clients: with sessions (sdk), and of the revision without them (client).
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { CallToolResultSchema, ElicitRequestSchema, McpError } from '@modelcontextprotocol/sdk/types.js';
import { eventually, within } from './harness.mjs';
import { ask, startMcpWorld, textOf } from './mcp_people.mjs';

const options = { timeout: 40_000 };
const tools = ['ask_user_question', 'get_answer', 'cancel_question', 'notify_user', 'request_permission'];

describe('a client with a session', options, () => {
  let world;
  before(async () => { world = await startMcpWorld({ wait_seconds: 20, permission_wait_seconds: 30 }); });
  after(() => world.stop());

  test('learns who we are, and the tools with schemas that it takes', options, async () => {
    const client = await world.connect();
    assert.equal(client.getServerVersion().name, 'holdpoint');
    assert.match(client.getInstructions(), /ask_user_question/);
    await client.ping();
    const listed = (await client.listTools()).tools;
    assert.deepEqual(listed.map(({ name }) => name), tools);
    for (const { inputSchema, description } of listed) {
      assert.equal(inputSchema.additionalProperties, false);
      assert.ok(description.length > 20);
    }
  });

  test('gets the answer that comes within the wait', options, async () => {
    const client = await world.connect();
    const call = client.callTool(ask('Deploy to production?'));
    await world.answer(await world.asked('Deploy to production?'), 'Yes');
    const result = await within(3_000, 'the result', call);
    assert.equal(result.isError, false);
    assert.match(textOf(result), /Yes/);
    assert.equal(result.structuredContent.status, 'answered');
    assert.deepEqual(result.structuredContent.answers, { 'Deploy to production?': 'Yes' });
    assert.equal(result.structuredContent.questions[0].answered_by, 'ana');
  });

  test('gets several answers at once: options, several of them, and own words', options, async () => {
    const client = await world.connect();
    const call = client.callTool({ name: 'ask_user_question', arguments: { questions: [
      { question: 'Which regions?', options: [{ label: 'EU' }, { label: 'US' }, { label: 'Asia' }], multiSelect: true },
      { question: 'What should the notes say?' }] } });
    const [regions, notes] = [await world.asked('Which regions?'), await world.asked('What should the notes say?')];
    await world.answer(regions, ['EU', 'Asia']);
    await world.answer(notes, 'Only that it works.');
    const { structuredContent } = await within(3_000, 'the result', call);
    assert.deepEqual(structuredContent.answers, { 'Which regions?': ['EU', 'Asia'], 'What should the notes say?': 'Only that it works.' });
  });

  test('is told that the question is open when nobody answers in time, and gets the answer later', options, async () => {
    const client = await world.connect();
    const pending = await within(4_000, 'the pending result', client.callTool(ask('Is it late?', { wait_seconds: 1 })));
    assert.equal(pending.isError, false);
    assert.equal(pending.structuredContent.status, 'pending');
    const { id } = pending.structuredContent;
    assert.match(textOf(pending), new RegExp(`get_answer.*${id}`));
    assert.ok(Date.parse(pending.structuredContent.expires_at) > Date.now());

    const still = await client.callTool({ name: 'get_answer', arguments: { id, wait_seconds: 0 } });
    assert.equal(still.structuredContent.status, 'pending');
    const waiting = client.callTool({ name: 'get_answer', arguments: { id } });
    const question = await world.asked('Is it late?');
    await world.answer(question, 'No');
    for (const result of [await within(3_000, 'the answer', waiting), await client.callTool({ name: 'get_answer', arguments: { id: question.id.toUpperCase() } })]) {
      assert.equal(result.structuredContent.status, 'answered');
      assert.deepEqual(result.structuredContent.answers, { 'Is it late?': 'No' });
    }
  });

  test('is told of progress, which holds off its own timeout', options, async () => {
    const client = await world.connect();
    const seen = [];
    const call = client.callTool(ask('Are you there?'), CallToolResultSchema,
      { timeout: 5_900, resetTimeoutOnProgress: true, onprogress: (progress) => seen.push(progress) });
    await eventually('two signs of progress', () => seen.length >= 2, 8_000);
    const question = await world.asked('Are you there?');
    await eventually('the time that the client would wait without them', () => Date.now() - Date.parse(question.created_at) > 6_500);
    await world.answer(question, 'Yes');
    assert.match(textOf(await within(3_000, 'the result', call)), /Yes/);
    assert.match(seen[0].message, /waiting for a person/);
    assert.equal(seen[0].total, 20);
    for (let i = 1; i < seen.length; ++i) assert.ok(seen[i].progress > seen[i - 1].progress);
  });

  test('that cancels keeps the question, unless the call said to withdraw it', options, async () => {
    const client = await world.connect();
    for (const [onCancel, key] of [[undefined], ['keep'], ['withdraw'], ['withdraw', 'a key of its own']]) {
      const text = `Cancelled with ${onCancel} and ${key}?`;
      const stop = new AbortController();
      const call = client.callTool(ask(text, { ...(onCancel ? { on_cancel: onCancel } : {}), ...(key ? { idempotency_key: key } : {}) }), undefined, { signal: stop.signal });
      const question = await world.asked(text);
      stop.abort('changed my mind');
      await assert.rejects(call, McpError);
      if (onCancel === 'withdraw') {
        await world.settled(question, 'cancelled');
      } else {
        await client.ping();  // It comes after the cancellation.
        assert.equal(await world.status(question), 'pending');
        await world.answer(question, 'Yes');
        const { structuredContent } = await client.callTool({ name: 'get_answer', arguments: { id: question.session_id } });
        assert.equal(structuredContent.status, 'answered');
      }
    }
  });

  test('that cancels as somebody answers ends the question in one way, which that person is told', options, async () => {
    const client = await world.connect();
    for (let round = 0; round < 20; ++round) {
      const text = `Race ${round}?`;
      const stop = new AbortController();
      const call = client.callTool(ask(text, { on_cancel: 'withdraw' }), undefined, { signal: stop.signal });
      const question = await world.asked(text);
      const answering = world.request('POST', `/agent/answer/${question.session_id}`, { headers: world.person, body: { answer: 'Yes' } });
      stop.abort();
      await assert.rejects(call, McpError);
      const { status } = await answering;
      const end = await eventually('an end', async () => { const now = await world.status(question); return now !== 'pending' && now; });
      assert.equal(end, status === 200 ? 'answered' : 'cancelled');
    }
  });

  test('withdraws a question by its id, and what is answered stays so', options, async () => {
    const client = await world.connect();
    const { structuredContent: { id } } = await client.callTool(ask('To be withdrawn?', { wait_seconds: 0 }));
    const question = await world.asked('To be withdrawn?');
    const done = await client.callTool({ name: 'cancel_question', arguments: { id, reason: 'not needed any more' } });
    assert.equal(done.isError, false);
    assert.equal(await world.status(question), 'cancelled');
    const after = await client.callTool({ name: 'get_answer', arguments: { id } });
    assert.equal(after.isError, true);
    assert.match(textOf(after), /not needed any more/);

    const { structuredContent: other } = await client.callTool(ask('To be answered?', { wait_seconds: 0 }));
    await world.answer(await world.asked('To be answered?'), 'Yes');
    const late = await client.callTool({ name: 'cancel_question', arguments: { id: other.id } });
    assert.equal(late.structuredContent.status, 'answered');
  });

  test('tells people something, once for a key, and is told where it went', options, async () => {
    const client = await world.connect();
    const tell = (given) => client.callTool({ name: 'notify_user', arguments: given });
    const told = await tell({ title: 'Build 118', message: 'All checks are green.', idempotency_key: 'green' });
    assert.equal(told.isError, false);
    assert.match(textOf(told), /no channel is set up/);
    const { id, channels } = told.structuredContent;
    assert.deepEqual(channels, []);
    assert.equal((await tell({ message: 'All checks are green.', idempotency_key: 'green' })).structuredContent.id, id);
    const { json } = await world.request('GET', `/agent/session/${id}`, { headers: await world.key('sessions:read') });
    assert.deepEqual([json.status, json.agent_name], ['completed', 'mcp']);
    for (const [given, field] of [[{}, 'message'], [{ message: '' }, 'message'], [{ message: 'x', agent: 'other' }, 'agent'], [{ message: 'x', text: 'y' }, 'text'], [{ message: 'x', channels: ['slack'] }, 'channels[0]']]) {
      const refused = await tell(given);
      assert.equal(refused.isError, true);
      assert.ok(textOf(refused).startsWith(`${field}: `), textOf(refused));
    }
    // It is no question: there is nothing to get or to withdraw.
    assert.equal((await client.callTool({ name: 'get_answer', arguments: { id } })).isError, true);
  });

  test('has its own user asked first if it offers that and the call wants it', options, async () => {
    const shown = [];
    let reply = () => ({ action: 'accept', content: { answer1: 'Yes' } });
    const client = await world.connect({ capabilities: { elicitation: {} }, setUp: (made) => made.setRequestHandler(ElicitRequestSchema, async ({ params }) => {
      shown.push(params);
      return reply();
    }) });
    const result = await client.callTool(ask('May I, here?', { elicit: true }));
    assert.equal(result.structuredContent.status, 'answered');
    assert.equal(result.structuredContent.answered_via, 'elicitation');
    assert.deepEqual(result.structuredContent.answers, { 'May I, here?': 'Yes' });
    assert.equal(shown[0].message, 'May I, here?');
    assert.deepEqual(shown[0].requestedSchema.properties.answer1.enum, ['Yes', 'No']);
    assert.equal(await world.count('May I, here?'), 0);

    // Declined, cancelled, or no answer that the question allows: people elsewhere are asked.
    for (const [round, other] of [{ action: 'decline' }, { action: 'cancel' }, { action: 'accept', content: {} }].entries()) {
      reply = () => other;
      const text = `May I, ${round}?`;
      const call = client.callTool(ask(text, { elicit: true }));
      await world.answer(await world.asked(text), 'No');
      assert.deepEqual((await call).structuredContent.answers, { [text]: 'No' });
    }
    assert.equal(shown.length, 4);
    // Who does not ask for it does not get it.
    const call = client.callTool(ask('May I, there?'));
    await world.answer(await world.asked('May I, there?'), 'No');
    await call;
    assert.equal(shown.length, 4);
  });

  test('has people elsewhere asked when its own user says nothing for the whole wait', options, async () => {
    const client = await world.connect({ capabilities: { elicitation: {} }, setUp: (made) => made.setRequestHandler(ElicitRequestSchema, () => new Promise(() => {})) });
    const result = await client.callTool(ask('Nobody here?', { elicit: true, wait_seconds: 1 }));
    assert.equal(result.structuredContent.status, 'pending');
    await world.answer(await world.asked('Nobody here?'), 'Yes');
    const { structuredContent } = await client.callTool({ name: 'get_answer', arguments: { id: result.structuredContent.id } });
    assert.equal(structuredContent.status, 'answered');
  });

  test('does not get what another asked, and both wait at once', options, async () => {
    const [one, two] = [await world.connect(), await world.connect()];
    // Both libraries number their requests alike: these two calls have the same id.
    const calls = [one.callTool(ask('From the first?')), two.callTool(ask('From the second?'))];
    await world.answer(await world.asked('From the second?'), 'No');
    await world.answer(await world.asked('From the first?'), 'Yes');
    const [first, second] = await within(3_000, 'both results', Promise.all(calls));
    assert.deepEqual(first.structuredContent.answers, { 'From the first?': 'Yes' });
    assert.deepEqual(second.structuredContent.answers, { 'From the second?': 'No' });
  });

  test('joins an open question that is the same, if it wants to', options, async () => {
    const clients = [await world.connect(), await world.connect()];
    const calls = clients.map((client) => client.callTool(ask('The same for both?', { dedupe: true })));
    const question = await world.asked('The same for both?');
    await eventually('both to wait for it', async () =>
      (await world.request('GET', `/agent/session/${question.session_id}/events`, { headers: world.person })).json.events.some(({ type }) => type === 'ask_joined'));
    await world.answer(question, 'Yes');
    const results = await within(3_000, 'both results', Promise.all(calls));
    assert.equal(results[0].structuredContent.id, results[1].structuredContent.id);
    assert.equal(await world.count('The same for both?'), 1);
  });

  test('gets permissions in the words of Claude Code\'s permission prompt', options, async () => {
    const client = await world.connect();
    const input = { command: 'rm -rf build', z: 1, a: [1, { ü: null }] };
    const request = (n) => client.callTool({ name: 'request_permission', arguments: { tool_name: `Bash${n}`, input, tool_use_id: `toolu_${n}` } });
    const allowed = request(1);
    const question = await world.asked('Allow Bash1?');
    assert.match(question.question, /rm -rf build/);
    assert.deepEqual(question.options.map((option) => option.label ?? option), ['Allow', 'Deny']);
    await world.answer(question, 'Allow');
    assert.deepEqual(JSON.parse(textOf(await allowed)), { behavior: 'allow', updatedInput: input });

    const denied = request(2);
    await world.answer(await world.asked('Allow Bash2?'), 'Deny');
    const { behavior, message } = JSON.parse(textOf(await denied));
    assert.equal(behavior, 'deny');
    assert.ok(message.length > 0);

    const told = request(3);
    await world.answer(await world.asked('Allow Bash3?'), 'Use make clean instead.');
    assert.deepEqual(JSON.parse(textOf(await told)), { behavior: 'deny', message: 'Use make clean instead.' });
  });

  test('that calls wrongly gets a tool error that names the field, and no question is asked', options, async () => {
    const client = await world.connect();
    const before = (await world.questions('limit=500')).length;
    for (const [name, given, complaint] of [
      ['ask_user_question', {}, /^questions: /],
      ['ask_user_question', { questions: [{}] }, /^questions\[0\]\.question: /],
      ['ask_user_question', { questions: [{ question: 'x?', options: [{ label: 'one' }] }] }, /^questions\[0\]\.options: /],
      ['ask_user_question', { questions: [{ question: 'x?', colour: 'red' }] }, /^questions\[0\]\.colour: /],
      ['ask_user_question', { questions: [{ question: 'x?' }], wait_seconds: 'long' }, /^wait_seconds: /],
      ['ask_user_question', { questions: [{ question: 'x?' }], on_cancel: 'forget' }, /^on_cancel: /],
      ['ask_user_question', { questions: [{ question: 'x?' }], elicit: 1 }, /^elicit: /],
      ['ask_user_question', { questions: [{ question: 'x?' }], agent: 'other' }, /^agent: /],
      ['ask_user_question', { questions: [{ question: 'x?' }], channels: ['pigeon'] }, /^channels/],
      ['get_answer', {}, /^id: is required/],
      ['get_answer', { id: 'nothing' }, /^id: there is no such question/],
      ['cancel_question', { id: '01890000-0000-7000-8000-000000000000' }, /^id: there is no such question/],
      ['cancel_question', { id: 7 }, /^id: must be a string/],
      ['request_permission', { tool_name: 'Bash' }, /^input: /],
      ['request_permission', { tool_name: '  ', input: {} }, /^tool_name: /],
    ]) {
      const result = await client.callTool({ name, arguments: given });
      assert.equal(result.isError, true, JSON.stringify(given));
      assert.match(textOf(result), complaint);
    }
    await assert.rejects(client.callTool({ name: 'ask_usr_question' }), /-32602.*there is no tool "ask_usr_question"/);
    await assert.rejects(client.request({ method: 'resources/list' }, CallToolResultSchema), /-32601.*there is no method "resources\/list"/);
    assert.equal((await world.questions('limit=500')).length, before);
  });

  test('asks in the name of the agent that its address says', options, async () => {
    const client = await world.connect({ query: '?agent=external' });
    const call = client.callTool(ask('In whose name?'));
    const question = await world.asked('In whose name?');
    assert.equal(question.agent_name, 'external');
    await world.answer(question, 'Yes');
    await call;
    const lost = await world.connect({ query: '?agent=nobody' });
    await assert.rejects(lost.callTool(ask('In nobody\'s name?')), /there is no agent "nobody"/);
  });

  test('without the right key, or from the page of another site, does not get in', options, async () => {
    await assert.rejects(world.connect({ headers: {} }), /unauthenticated/);
    await assert.rejects(world.connect({ headers: await world.key('questions:read') }), /forbidden.*questions:ask/);
    await assert.rejects(world.connect({ headers: { ...world.asker, origin: 'https://evil.example' } }), /foreign_origin/);
    // A session is of no use to another key.
    const client = await world.connect();
    const { status } = await world.request('POST', '/mcp', {
      headers: { ...(await world.key('questions:ask', 'questions:read')), accept: 'application/json, text/event-stream', 'mcp-session-id': client.transport.sessionId },
      body: { jsonrpc: '2.0', id: 1, method: 'ping' } });
    assert.equal(status, 404);
  });

  test('ends its session, and has none then', options, async () => {
    const client = await world.connect();
    const session = client.transport.sessionId;
    await client.transport.terminateSession();
    const { status } = await world.request('POST', '/mcp', { headers: { ...world.asker, 'mcp-session-id': session }, body: { jsonrpc: '2.0', id: 1, method: 'ping' } });
    assert.equal(status, 404);
  });
});

describe('while calls wait', options, () => {
  test('hundreds of them do not stand in an answer\'s way, and all end at once when the server stops', { timeout: 60_000 }, async () => {
    const world = await startMcpWorld({ wait_seconds: 60 });
    try {
      const client = await world.connect();
      for (let i = 0; i < 300; ++i) client.callTool(ask(`Crowd ${i}?`)).catch(() => {});
      await eventually('all to be asked', async () => (await world.questions('status=pending&limit=500')).length === 300, 20_000);
      const call = client.callTool(ask('One of many?'));
      const question = await world.asked('One of many?');
      const began = Date.now();
      await world.answer(question, 'Yes');
      await call;
      const took = Date.now() - began;
      assert.ok(took < 1_000, `the answer took ${took} ms`);
      const stop = Date.now();
      await world.stopServer();
      assert.ok(Date.now() - stop < 3_000, `the server took ${Date.now() - stop} ms to stop`);
    } finally {
      await world.stop();
    }
  });

  test('the server may be killed: the client takes its call up again, and the question is asked once', { timeout: 60_000 }, async () => {
    const world = await startMcpWorld({ wait_seconds: 40 });
    try {
      const client = await world.connect();
      const seen = [];
      const call = client.callTool(ask('Asked once?'), undefined, { onprogress: (progress) => seen.push(progress) });
      const permission = client.callTool({ name: 'request_permission', arguments: { tool_name: 'Bash', input: { command: 'ls' } } });
      await world.asked('Asked once?');
      await world.asked('Allow Bash?');
      await eventually('the first sign of progress', () => seen.length > 0);
      await world.crash();
      await world.restart();
      const question = await world.asked('Asked once?');
      // The client knows only that its stream broke: it comes back by itself, and is told of progress as before.
      await eventually('progress after the restart', () => seen.length > 1, 10_000);
      assert.ok(seen.at(-1).progress > seen[0].progress);
      await world.answer(question, 'Yes');
      await world.answer(await world.asked('Allow Bash?'), 'Allow');
      assert.deepEqual((await within(8_000, 'the result', call)).structuredContent.answers, { 'Asked once?': 'Yes' });
      assert.equal(JSON.parse(textOf(await within(8_000, 'the permission', permission))).behavior, 'allow');
      assert.equal(await world.count('Asked once?'), 1);
      // The session outlived the process.
      assert.equal((await client.listTools()).tools.length, tools.length);
      // So does its word on what becomes of a question.
      const stop = new AbortController();
      const other = client.callTool(ask('Withdrawn after a restart?', { on_cancel: 'withdraw' }), undefined, { signal: stop.signal });
      const withdrawn = await world.asked('Withdrawn after a restart?');
      await world.crash();
      await world.restart();
      stop.abort();
      await assert.rejects(other);
      await world.settled(withdrawn, 'cancelled');
    } finally {
      await world.stop();
    }
  });

  test('a call that is sent again under the same id is the same question', options, async () => {
    const world = await startMcpWorld();
    try {
      const client = await world.connect();
      const send = (id, body, more = {}) => world.request('POST', '/mcp', {
        headers: { ...world.asker, accept: 'application/json', 'mcp-session-id': client.transport.sessionId, ...more },
        body: { jsonrpc: '2.0', id, method: 'tools/call', params: body } });
      const first = await send(77, ask('Sent twice?', { wait_seconds: 0 }));
      await world.crash();
      await world.restart();
      const again = await send(77, ask('Sent twice?', { wait_seconds: 0 }));
      assert.equal(first.json.result.structuredContent.id, again.json.result.structuredContent.id);
      assert.equal(await world.count('Sent twice?'), 1);
      // A client that counts from the start again means another question.
      const other = await send(77, ask('Something else?', { wait_seconds: 0 }));
      assert.notEqual(other.json.result.structuredContent.id, first.json.result.structuredContent.id);
    } finally {
      await world.stop();
    }
  });
});
