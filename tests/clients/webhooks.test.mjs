// Callbacks as a receiver sees them, verified with the library of the Standard Webhooks project.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, test } from 'node:test';
import { Webhook, WebhookVerificationError } from 'standardwebhooks';
import { failsOnce, listens, writePoem } from './agents.mjs';
import { Contract } from './contract.mjs';
import { eventually, publicUrl, startReceiver, startWorld } from './harness.mjs';
import { form, hiddenFields } from './people.mjs';

const options = { timeout: 60_000 };
const makeSecret = () => `whsec_${randomBytes(24).toString('base64')}`;
const secret = makeSecret();
const [oldSecret, newSecret] = [makeSecret(), makeSecret()];

let receiver;
let world;
let contract;
const refusals = { '/flaky': 1 };  // how often a path still answers 500

before(async () => {
  receiver = await startReceiver(({ path }) => {
    if (refusals[path] > 0) {
      refusals[path] -= 1;
      return { status: 500, headers: { 'retry-after': '1' }, body: 'not now' };
    }
    if (path === '/moved') return { status: 302, headers: { location: `${receiver.url}/landed` } };
    if (path === '/gone') return { status: 410 };
    return {};
  });
  const to = (path, more = {}) => ({ question_callback: `${receiver.url}${path}`, callback_secret: secret, ...more });
  world = await startWorld({
    agents: {
      signed: { ...writePoem, ...to('/hook') },
      rotated: { ...writePoem, ...to('/rotated', { callback_secret: [newSecret, oldSecret] }) },
      linked: { ...writePoem, ...to('/linked', { callback_link: true }) },
      unsigned: { ...writePoem, question_callback: `${receiver.url}/unsigned` },
      flaky: { ...writePoem, ...to('/flaky') },
      moved: { ...writePoem, ...to('/moved') },
      gone: { ...writePoem, ...to('/gone') },
      chatty: { ...writePoem, ...to('/chatty', { callback_events: ['question_settled', 'session_completed'] }) },
      doomed: { ...failsOnce(), ...to('/doomed', { callback_events: ['session_failed'] }) },
      dropped: { ...listens, ...to('/dropped', { callback_events: ['session_cancelled'] }) },
    },
  });
  contract = new Contract((await world.request('GET', '/openapi.json')).json);
}, options);
after(async () => {
  await world?.stop();
  await receiver?.close();
}, options);

async function trigger(agent) {
  const { status, json, text } = await world.request('POST', `/agent/webhook/${agent}`, { body: { topic: 'love' } });
  assert.equal(status, 202, text);
  return json.session_id;
}
const of = (session, event) => ({ headers, raw }) => headers['x-agent-session'] === session && (!event || JSON.parse(raw).event === event);
async function callback(session, event = 'question_pending') {
  const [found] = await receiver.take(`${event} of ${session}`, of(session, event));
  contract.assertNotice(event, found);
  return found;
}
async function answer(session, text = 'haiku') {
  const response = await world.request('POST', `/agent/answer/${session}`, { body: { answer: text, answered_by: 'ana@example.org' } });
  assert.equal(response.status, 200, response.text);
}
const deliveries = async (session) => contract.check(await world.request('GET', `/agent/deliveries?session=${session}`)).json.deliveries;
const verify = (key, { raw, headers }) => new Webhook(key).verify(raw, headers);
const refuse = (key, altered) => assert.throws(() => verify(key, altered), WebhookVerificationError);

test('a callback carries the question and verifies', options, async () => {
  const session = await trigger('signed');
  const got = await callback(session);
  const body = verify(secret, got);
  assert.equal(got.method, 'POST');
  assert.match(got.headers['content-type'], /^application\/json\b/);
  assert.equal(got.headers['x-agent-session'], session);
  assert.deepEqual(Object.keys(body), ['event', 'session_id', 'agent_name', 'question', 'answer_url']);
  assert.deepEqual(Object.keys(body.question).slice(0, 4), ['id', 'text', 'options', 'context']);
  assert.deepEqual(body.question.options, ['free verse', 'rhyming', 'sonnet', 'haiku']);
  assert.equal(body.answer_url, `${publicUrl}/agent/answer/${session}`);
  assert.ok(Math.abs(Number(got.headers['webhook-timestamp']) - Date.now() / 1000) < 60);
  const [delivery] = await deliveries(session);
  assert.equal(got.headers['webhook-id'], delivery.id);
});

test('a callback carries a link to answer with, if the agent says so', options, async () => {
  const session = await trigger('linked');
  const got = await callback(session);
  const body = verify(secret, got);
  assert.deepEqual(Object.keys(body), ['event', 'session_id', 'agent_name', 'question', 'answer_url', 'answer_page']);
  assert.match(body.answer_page.slice(body.answer_url.length), /^\?token=[\w-]{43}$/);
  assert.ok(body.answer_page.startsWith(body.answer_url));
  const page = contract.check(await world.request('GET', body.answer_page.slice(publicUrl.length)));
  assert.equal(page.status, 200);
  const done = contract.check(await world.request('POST', `/agent/answer/${session}`, form({ ...hiddenFields(page), choice: 'haiku' })));
  assert.equal(done.status, 200, done.text);
  const { answer: text, answered_via: via, answered_by: by } = (await world.request('GET', `/agent/questions/${body.question.id}`)).json;
  assert.deepEqual([text, via, by], ['haiku', 'url', new URL(receiver.url).host]);
});

test('while a secret rotates, the old and the new verifier both accept', options, async () => {
  const got = await callback(await trigger('rotated'));
  assert.deepEqual(verify(oldSecret, got), verify(newSecret, got));
  const signatures = got.headers['webhook-signature'].split(' ');
  assert.equal(signatures.length, 2);
  const alone = (signature) => ({ ...got, headers: { ...got.headers, 'webhook-signature': signature } });
  assert.deepEqual([newSecret, oldSecret].map((key) => signatures.filter((signature) => {
    try {
      return verify(key, alone(signature));
    } catch {
      return false;
    }
  }).length), [1, 1], 'each secret has a signature of its own');
  refuse(secret, got);
});

test('a callback that was altered on its way is refused', options, async () => {
  const got = await callback(await trigger('signed'));
  verify(secret, got);
  refuse(secret, { ...got, raw: got.raw.replace('haiku', 'Haiku') });
  refuse(secret, { ...got, raw: `${got.raw} ` });
  for (const [header, value] of [
    ['webhook-id', '019a8b3c-0000-7000-8000-000000000000'],
    ['webhook-timestamp', String(Number(got.headers['webhook-timestamp']) + 1)],
    ['webhook-timestamp', String(Number(got.headers['webhook-timestamp']) - 3600)],
    ['webhook-signature', `v1,${Buffer.alloc(32).toString('base64')}`],
  ]) refuse(secret, { ...got, headers: { ...got.headers, [header]: value } });
  refuse(makeSecret(), got);
});

test('without a secret there is no signature', options, async () => {
  const got = await callback(await trigger('unsigned'));
  assert.equal(got.headers['webhook-signature'], undefined);
});

test('a retry repeats the id and the body, and verifies', options, async () => {
  const session = await trigger('flaky');
  const [first, second] = await receiver.take('the retry after a 500', of(session), 2, 40_000);
  assert.equal(second.headers['webhook-id'], first.headers['webhook-id']);
  assert.equal(second.raw, first.raw);
  for (const attempt of [first, second]) verify(secret, attempt);
  const delivery = await eventually('the delivery to be noted', async () => (await deliveries(session)).find(({ status }) => status === 'delivered'));
  assert.deepEqual([delivery.attempts, delivery.last_status], [2, 204]);
});

test('a redirect is a failure and is not followed', options, async () => {
  const session = await trigger('moved');
  const delivery = await eventually('the attempt to be noted', async () => (await deliveries(session)).find(({ last_status: status }) => status !== null));
  assert.deepEqual([delivery.status, delivery.last_status], ['pending', 302]);
  assert.deepEqual(receiver.callbacks.filter(({ path }) => path === '/landed'), []);
});

test('a receiver that is gone is not tried again', options, async () => {
  const session = await trigger('gone');
  const delivery = await eventually('the delivery to be given up', async () => (await deliveries(session)).find(({ status }) => status === 'dead'));
  assert.deepEqual([delivery.attempts, delivery.last_status, delivery.next_attempt_at], [1, 410, null]);
});

test('those who ask for more events get them, and the others do not', options, async () => {
  const quiet = await trigger('signed');
  const chatty = await trigger('chatty');
  for (const session of [quiet, chatty]) {
    await callback(session);
    await answer(session);
  }
  const settled = verify(secret, await callback(chatty, 'question_settled'));
  assert.deepEqual([settled.question.outcome, settled.question.answer, settled.question.answered_by], ['answered', 'haiku', 'ana@example.org']);
  const completed = verify(secret, await callback(chatty, 'session_completed'));
  assert.deepEqual([completed.status, completed.result, completed.error], ['completed', { poem_path: 'poem/love-haiku.md' }, null]);
  const finished = contract.check(await world.request('GET', `/agent/session/${quiet}?wait=10&until=finished`)).json;
  assert.equal(finished.status, 'completed');
  assert.deepEqual((await deliveries(quiet)).map(({ event }) => event), ['question_pending']);
  assert.deepEqual((await deliveries(chatty)).map(({ event }) => event).sort(), ['question_pending', 'question_settled', 'session_completed']);
  const ids = receiver.callbacks.filter(of(chatty)).map(({ headers }) => headers['webhook-id']);
  assert.equal(new Set(ids).size, 3);
});

test('failures and cancels are told to those who ask', options, async () => {
  const doomed = verify(secret, await callback(await trigger('doomed'), 'session_failed'));
  assert.equal(doomed.status, 'failed');
  assert.match(doomed.error, /the first try always fails/);

  const dropped = await trigger('dropped');
  await callback(dropped);
  assert.equal((await world.request('POST', `/agent/session/${dropped}/cancel`)).status, 200);
  assert.equal(verify(secret, await callback(dropped, 'session_cancelled')).status, 'cancelled');
});

test('a delivery sent again keeps its id', options, async () => {
  const session = await trigger('signed');
  const first = await callback(session);
  const id = first.headers['webhook-id'];
  await eventually('the delivery to be noted', async () => (await deliveries(session))[0].status === 'delivered');
  assert.equal((await world.request('POST', `/agent/deliveries/${id}/redeliver`)).status, 202);
  const [, second] = await receiver.take('the repeat', ({ headers }) => headers['webhook-id'] === id, 2);
  assert.equal(second.raw, first.raw);
  verify(secret, second);
});
