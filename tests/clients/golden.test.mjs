// The bodies that callers, receivers and agents rely on, byte for byte: golden/*.json holds each of them with ids, times
// and error messages replaced. These files are the promise: when a case fails, mend the server, not the file.
import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { deployApproval, failsOnce, givesUp, writePoem } from './agents.mjs';
import { eventually, gate, startReceiver, startWorld } from './harness.mjs';

const options = { timeout: 60_000 };
const folder = new URL('golden/', import.meta.url);
const events = ['question_settled', 'session_completed', 'session_failed', 'session_cancelled'];
const pinned = new Set();
const late = gate();
let receiver;
let world;

before(async () => {
  receiver = await startReceiver();
  const told = { question_callback: `${receiver.url}/hook`, callback_events: events };
  world = await startWorld({
    agents: {
      'write-poem': { ...writePoem, ...told },
      'deploy-approval': deployApproval,
      'fails-once': { ...failsOnce(), ...told },
      'gives-up': givesUp(late),
    },
  });
}, options);
after(async () => {
  late.open();
  await world?.stop();
  await receiver?.close();
}, options);

// `names`: what stands for each id. Spaces between tokens are the file's own; order, spelling and repeats of keys are not.
function assertGolden(name, raw, names) {
  pinned.add(`${name}.json`);
  const golden = JSON.parse(readFileSync(new URL(`${name}.json`, folder), 'utf8'));
  let text = raw;
  for (const [word, id] of Object.entries(names)) text = text.replaceAll(id, `<${word}>`);
  text = text.replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g, '<time>').replace(/("error":\{"code":"\w+","message":")(?:[^"\\]|\\.)+"/, '$1<text>"');
  assert.deepStrictEqual(JSON.parse(text), golden, name);
  assert.equal(text, JSON.stringify(golden), name);
}

async function call(status, method, target, body, headers) {
  const response = await world.request(method, target, { body, headers });
  assert.equal(response.status, status, `${method} ${target} → ${response.status} ${response.text}`);
  assert.equal(response.headers['content-type'], 'application/json');
  return response.text;
}
const get = (target) => call(200, 'GET', target);
const started = async (agent, payload = {}) => JSON.parse(await call(202, 'POST', `/agent/webhook/${agent}`, payload)).session_id;
const parked = async (session) => JSON.parse(await get(`/agent/session/${session}?wait=10`)).questions;
const turnsOf = (session) => world.turns.filter((raw) => JSON.parse(raw).session_id === session);

async function assertNotice(event, session, names) {
  const [notice] = await receiver.take(`${event} of ${session}`, ({ raw }) => {
    const body = JSON.parse(raw);
    return body.event === event && body.session_id === session;
  });
  assert.equal(notice.method, 'POST');
  assert.equal(notice.headers['x-agent-session'], session);
  assert.equal(notice.headers['content-type'], 'application/json');
  assertGolden(`notice_${event}`, notice.raw, names);
}

test('a poem from its trigger to its result', options, async () => {
  const key = { 'Idempotency-Key': 'golden' };
  const triggered = await call(202, 'POST', '/agent/webhook/write-poem', { topic: 'love' }, key);
  const session = JSON.parse(triggered).session_id;
  const [{ id: question }] = await parked(session);
  const names = { session, question };
  assertGolden('trigger', triggered, names);
  assertGolden('trigger_repeated', await call(202, 'POST', '/agent/webhook/write-poem', { topic: 'love' }, key), names);
  assertGolden('session_pending', await get(`/agent/session/${session}`), names);
  assertGolden('questions', await get('/agent/questions?status=pending'), names);
  await assertNotice('question_pending', session, names);

  const target = `/agent/answer/${session}`;
  assertGolden('answer_refused', await call(422, 'POST', target, { question_id: question, answer: '' }), names);
  assertGolden('answer', await call(200, 'POST', target, { question_id: question, answer: 'haiku' }), names);
  assertGolden('session', await get(`/agent/session/${session}?wait=10&until=finished`), names);
  assertGolden('answer_repeated', await call(200, 'POST', target, { question_id: question, answer: 'haiku' }), names);
  assertGolden('answer_conflict', await call(409, 'POST', target, { question_id: question, answer: 'sonnet' }), names);
  assertGolden('answer_unknown_session', await call(404, 'POST', '/agent/answer/019a8b3c-0000-7000-8000-000000000000', { answer: 'haiku' }), names);
  await assertNotice('question_settled', session, names);
  await assertNotice('session_completed', session, names);

  const sent = await eventually('all notices to be delivered', async () => {
    const listed = await get(`/agent/deliveries?session=${session}`);
    return JSON.parse(listed).deliveries.every(({ status }) => status === 'delivered') && listed;
  });
  const ids = JSON.parse(sent).deliveries.map(({ id }) => id);
  assertGolden('deliveries', sent, { ...names, receiver: receiver.url, ...Object.fromEntries(ids.map((id, i) => [`delivery ${ids.length - i}`, id])) });

  const turns = turnsOf(session);
  assert.equal(turns.length, 2);
  assertGolden('turn_start', turns[0], names);
  assertGolden('turn_answer', turns[1], names);
});

test('a batch that is answered in part', options, async () => {
  const session = await started('deploy-approval');
  const [environment, checks] = await parked(session);
  const answer = { question_id: environment.id, answer: 'staging' };
  assertGolden('answer_partial', await call(200, 'POST', `/agent/answer/${session}`, answer), { session });
  const several = { question_id: checks.id, answer: ['security', 'unit'], answered_by: 'ana@example.org' };
  await call(200, 'POST', `/agent/answer/${session}`, several);
  assertGolden('question_answered', await get(`/agent/questions/${checks.id}`), { session, question: checks.id });
});

test('an answer that comes too late', options, async () => {
  const session = await started('gives-up');
  const [{ id: question }] = await parked(session);
  await get(`/agent/questions/${question}?wait=10`);
  const answer = { question_id: question, answer: 'me' };
  assertGolden('answer_too_late', await call(409, 'POST', `/agent/answer/${session}`, answer), { session, question });
  late.open();
  await get(`/agent/session/${session}?wait=10&until=finished`);
  assertGolden('answer_session_finished', await call(404, 'POST', `/agent/answer/${session}`, answer), { session, question });
});

test('a session that fails, and one that is cancelled', options, async () => {
  const failed = await started('fails-once');
  assertGolden('session_failed', await get(`/agent/session/${failed}?wait=10&until=finished`), { session: failed });
  await assertNotice('session_failed', failed, { session: failed });

  const cancelled = await started('write-poem', { topic: 'rain' });
  await parked(cancelled);
  assertGolden('cancel', await call(200, 'POST', `/agent/session/${cancelled}/cancel`, { reason: 'no longer needed' }), { session: cancelled });
  await assertNotice('session_cancelled', cancelled, { session: cancelled });
});

test('no golden file is left over', options, () => {
  assert.deepEqual([...pinned].sort(), readdirSync(folder).sort());
});
