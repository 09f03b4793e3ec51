// The shapes that existing callers rely on, word for word. golden/*.json holds each body with ids and times replaced.
// These files are the promise: when a case fails, mend the server, not the file.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { writePoem } from './agents.mjs';
import { startReceiver, startWorld } from './harness.mjs';

const options = { timeout: 60_000 };
let receiver;
let world;
let names;  // what stands for each id

before(async () => {
  receiver = await startReceiver();
  world = await startWorld({ agents: { 'write-poem': { ...writePoem, question_callback: `${receiver.url}/hook` } } });
}, options);
after(async () => {
  await world?.stop();
  await receiver?.close();
}, options);

function masked(raw) {
  let text = raw;
  for (const [id, name] of names) text = text.replaceAll(id, name);
  return text.replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g, '<time>');
}

// `order` lists, for places in the body, the keys whose order is part of the promise. What was added later may follow
// in any order.
function assertGolden(name, raw, order = {}) {
  const golden = JSON.parse(readFileSync(new URL(`golden/${name}.json`, import.meta.url), 'utf8'));
  const text = masked(raw);
  const body = JSON.parse(text);
  if (body.error?.message) body.error.message = '<text>';
  assert.deepStrictEqual(body, golden);
  for (const [place, keys] of Object.entries(order)) {
    const at = place.split('.').filter(Boolean).reduce((node, key) => node[key], JSON.parse(text));
    assert.deepEqual(Object.keys(at).slice(0, keys.length), keys, `the keys at "${place}" of ${name}`);
  }
  // Parsing would hide a key that is written twice.
  const packed = (json) => json.replace(/\s/g, '');
  assert.equal(packed(JSON.stringify(JSON.parse(text))), packed(text), `${name} holds something that parsing loses`);
}

const get = async (target) => (await world.request('GET', target)).text;

test('the seeded calls answer word for word', options, async () => {
  const { json } = await world.request('POST', '/agent/webhook/write-poem', { body: { topic: 'love' } });
  const session = json.session_id;
  await get(`/agent/session/${session}?wait=10`);
  const listed = await get('/agent/questions?status=pending');
  const question = JSON.parse(listed).questions[0].id;
  names = [[session, '<session>'], [question, '<question>']];

  assertGolden('questions', listed, {
    '': ['questions'],
    'questions.0': ['id', 'session_id', 'agent_name', 'question', 'context'],
    'questions.0.context': ['original_topic', 'asked_at'],
  });

  const [callback] = await receiver.take('the callback', () => true);
  assert.equal(callback.method, 'POST');
  assert.equal(callback.headers['x-agent-session'], session);
  assert.equal(callback.headers['content-type'], 'application/json');
  assertGolden('callback', callback.raw, {
    '': ['event', 'session_id', 'agent_name', 'question', 'answer_url'],
    question: ['id', 'text', 'options', 'context'],
  });

  const answered = await world.request('POST', `/agent/answer/${session}`, { body: { question_id: question, answer: 'haiku' } });
  assert.equal(answered.status, 200);
  assertGolden('answer', answered.text, { '': ['ok', 'status', 'session_id'] });

  assertGolden('session', await get(`/agent/session/${session}?wait=10&until=finished`), {
    '': ['id', 'agent_name', 'status', 'result', 'questions_asked', 'created_at', 'completed_at'],
  });

  const conflict = await world.request('POST', `/agent/answer/${session}`, { body: { question_id: question, answer: 'sonnet' } });
  assert.equal(conflict.status, 409);
  assertGolden('answer_conflict', conflict.text);

  const unknown = await world.request('POST', '/agent/answer/019a8b3c-0000-7000-8000-000000000000', { body: { answer: 'haiku' } });
  assert.equal(unknown.status, 404);
  assertGolden('answer_unknown_session', unknown.text);
});
