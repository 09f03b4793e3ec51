// Writes stories.json: what the server told about a few real sessions, for story.test.mjs. Run it by hand when events change:
//   node capture_stories.mjs
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { eventually, gate, startReceiver, startWorld } from '../clients/harness.mjs';

const here = path.dirname(fileURLToPath(import.meta.url));
const demo = (script) => ({ runner: 'command', command: ['python3', path.join(here, '../../tools/demo/agents', script)], async_questions: true });
const asksOnce = (more = {}) => (turn) => (turn.reason === 'start'
  ? { ask: { questions: [{ question: 'Go on?', options: ['Yes', 'No'], ...more }] } }
  : { result: { outcome: turn.resume?.outcome ?? null } });

const slow = gate();
let mended = false;
const tried = new Map();
const attempt = (turn) => {
  tried.set(turn.session_id, (tried.get(turn.session_id) ?? 0) + 1);
  return tried.get(turn.session_id);
};
let refusals = 1;
const receiver = await startReceiver(({ path: target }) => {
  if (target === '/gone') return { status: 410 };
  return target === '/flaky' && refusals-- > 0 ? { status: 500, body: 'not now' } : {};
});
const events = ['question_pending', 'question_settled', 'session_completed'];
const world = await startWorld({
  agents: {
    'write-poem': demo('write_poem.py'),
    'deploy-approval': { ...demo('deploy_approval.py'), question_timeout: 1800, on_timeout: 'continue' },
    flaky: { turn: (turn) => (attempt(turn) < 3 ? { error: 'the index is locked', retry: true } : { result: 'ok' }) },
    broken: { turn: () => (mended ? { result: 'mended' } : { error: 'no such table', retry: false }) },
    called: { turn: asksOnce(), async_questions: true, question_callback: `${receiver.url}/flaky`, callback_events: events },
    unwanted: { turn: asksOnce(), async_questions: true, question_callback: `${receiver.url}/gone` },
    hasty: { turn: asksOnce(), async_questions: true, question_timeout: 1 },
    defaulting: { turn: asksOnce({ default: 'No' }), async_questions: true, question_timeout: 1, on_timeout: 'default' },
    listening: {
      turn: async (turn) => {
        if (turn.reason === 'start') await slow.passed;
        return turn.turn < 3 && turn.reason === 'message' ? { continue: true } : { result: { heard: turn.messages.length } };
      },
    },
    caller: { runner: 'external', async_questions: true },
    asking: { turn: (turn) => (attempt(turn) === 1 ? { ask: { questions: [{ question: 'May I?' }] } } : { result: 'alone' }), async_questions: true },
  },
});

const call = async (method, target, body) => {
  const { status, text, json } = await world.request(method, target, { body });
  if (status >= 300) throw new Error(`${method} ${target}: ${status} ${text}`);
  return json;
};
const start = async (agent, payload = {}, query = '') => (await call('POST', `/agent/webhook/${agent}${query}`, payload)).session_id;
const settled = (id) => call('GET', `/agent/session/${id}?wait=20`);
const finished = (id) => call('GET', `/agent/session/${id}?wait=20&until=finished`);
const answer = (id, body) => call('POST', `/agent/answer/${id}`, { answered_by: 'ana', ...body });
const eventsOf = async (id) => (await call('GET', `/agent/session/${id}/events?limit=500`)).events;
const told = (id, type, count = 1) => eventually(`${count} × ${type}`, async () => (await eventsOf(id)).filter((e) => e.type === type).length >= count, 30_000);
const stories = {};
const keep = async (name, id) => {
  stories[name] = {
    session: await call('GET', `/agent/session/${id}`),
    events: await eventsOf(id),
    questions: (await call('GET', `/agent/questions?session=${id}`)).questions,
  };
};

try {
  const called = await start('called');
  await told(called, 'delivery_failed');

  const poem = await start('write-poem', { topic: 'love' });
  await settled(poem);
  await keep('waiting', poem);
  await answer(poem, { answer: 'haiku' });
  await finished(poem);
  await keep('poem', poem);

  const batch = await start('deploy-approval', { service: 'shop', version: '4.2.0' });
  const { questions } = await settled(batch);
  await answer(batch, { question_id: questions[0].id, answer: 'staging' });
  await answer(batch, { question_id: questions[1].id, answer: ['unit tests', 'load test'], answered_by: 'ben' });
  await answer(batch, { question_id: questions[2].id, answer: 'after lunch' });
  await finished(batch);
  await keep('batch', batch);

  const flaky = await start('flaky');
  await finished(flaky);
  await keep('flaky', flaky);

  const broken = await start('broken');
  await finished(broken);
  await keep('failed', broken);
  mended = true;
  await call('POST', `/agent/session/${broken}/retry`);
  await finished(broken);
  await keep('retried', broken);

  const cancelled = (await call('POST', '/agent/ask', { agent: 'caller', questions: [{ question: 'Restart the importer?', options: ['Yes', 'No'] }] })).session_id;
  await call('POST', `/agent/session/${cancelled}/cancel`, { reason: 'not needed any more' });
  await keep('cancelled', cancelled);

  const hasty = await start('hasty');
  const defaulting = await start('defaulting');
  await finished(hasty);
  await keep('timed_out', hasty);
  await finished(defaulting);
  await keep('defaulted', defaulting);

  const listening = await start('listening');
  await told(listening, 'turn_started');
  await call('POST', `/agent/session/${listening}/message`, { message: 'hurry up' });
  slow.open();
  await finished(listening);
  await keep('message', listening);

  const child = await start('asking', {}, `?parent=${called}`);
  await finished(child);
  await keep('sub_session', child);

  const unwanted = await start('unwanted');
  await told(unwanted, 'delivery_dead');
  await keep('gone', unwanted);

  await told(called, 'delivery_sent');
  await answer(called, { answer: 'Yes' });
  await finished(called);
  await told(called, 'delivery_sent', 3);
  await keep('called', called);
} finally {
  await world.stop();
  await receiver.close();
}
writeFileSync(path.join(here, 'stories.json'), `${JSON.stringify(stories, null, 1)}\n`);
