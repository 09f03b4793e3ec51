// Keys, users, answerers and the audit log, by those who may.
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { echo, listens } from './agents.mjs';
import { eventually } from './harness.mjs';
import { logIn } from './people.mjs';
import { Proof, nobody, options } from './proof.mjs';

const password = 'correct horse battery';
const slackSecret = '8f742231b10e8888abcd99yyyzzz85a5';

export const proveAccess = () => describe('access', () => {
  let proof;
  const get = (...call) => proof.get(...call);
  const post = (...call) => proof.post(...call);
  const refused = (...call) => proof.refused(...call);
  const bearer = (key) => ({ authorization: `Bearer ${key}` });
  // The headers of somebody new who is logged in, with the token that changes need.
  const arrive = async (name, role) => {
    await post(201, '/agent/users', { name, role, password });
    const cookie = await logIn(proof, name, password);
    return { ...cookie, 'x-csrf-token': (await get(200, '/agent/me', { as: cookie })).csrf };
  };

  before(async () => {
    proof = await Proof.start({
      closed: true,
      agents: { echo, listens, guarded: { ...listens, answerers: ['ana', 'key:speaker'] }, firm: { ...listens, answerers: ['ana'], allow_cancel: false }, slack: { ...echo, webhook_verify: 'slack', webhook_secret: slackSecret } },
    });
  }, options);
  after(() => proof?.stop(), options);

  test('a key is made, used and revoked', options, async () => {
    const { key, about } = await post(201, '/agent/keys', proof.contract.example('createKey', 'ci'));
    assert.ok(key.startsWith(`hp_${about.id}_`));
    assert.deepEqual([about.name, about.scopes, about.status, about.last_used_at], ['ci', ['questions:ask'], 'live', null]);
    assert.equal(Date.parse(about.expires_at) - Date.parse(about.created_at), 90 * 86_400_000);
    assert.deepEqual(await get(200, '/agent/me', { as: bearer(key) }), { kind: 'key', name: 'ci', scopes: ['questions:ask'], csrf: null });
    await post(202, '/agent/ask', proof.contract.example('ask', 'freeText'), { as: bearer(key) });

    const list = await proof.send(200, 'GET', '/agent/keys');
    assert.ok(!list.text.includes(key.slice(-43)), 'the list shows a secret');
    assert.deepEqual(list.json.keys.find(({ id }) => id === about.id).scopes, about.scopes);
    const used = await eventually('the first use of a key to be noted', async () => (await get(200, '/agent/keys')).keys.find(({ last_used_at: at }) => at));
    assert.equal(used.last_used_from, '127.0.0.1');

    for (const wrong of [`hp_${about.id}_${'x'.repeat(43)}`, `hp_${'0'.repeat(16)}_${key.slice(-43)}`, key.slice(0, -1), 'hp_']) {
      await refused(401, '/agent/me', undefined, { method: 'GET', as: bearer(wrong), code: 'unauthenticated' });
    }
    for (let again = 0; again < 2; again += 1) assert.deepEqual(await post(200, `/agent/keys/${about.id}/revoke`), { ok: true });
    await refused(401, '/agent/me', undefined, { method: 'GET', as: bearer(key), code: 'unauthenticated' });
    assert.equal((await get(200, '/agent/keys')).keys.find(({ id }) => id === about.id).status, 'revoked');
    await refused(404, `/agent/keys/${'0'.repeat(16)}/revoke`, {}, { code: 'unknown_key', field: 'id' });
  });

  test('a key that makes no sense is not made', options, async () => {
    const before = (await get(200, '/agent/keys')).keys.length;
    const good = { name: 'ci', scopes: ['questions:ask'] };
    for (const [change, field] of [
      [{ name: '' }, 'name'], [{ name: ' ' }, 'name'], [{ name: 'x'.repeat(65) }, 'name'], [{ name: 7 }, 'name'], [{ name: undefined }, 'name'],
      [{ scopes: [] }, 'scopes'], [{ scopes: undefined }, 'scopes'], [{ scopes: 'admin' }, 'scopes'], [{ scopes: [7] }, 'scopes'], [{ scopes: ['everything'] }, 'scopes'],
      [{ scopes: ['webhook:'] }, 'scopes'], [{ scopes: ['admin '] }, 'scopes'],
      [{ scopes: ['questions:ask', 'questions:answer'] }, 'scopes'], [{ scopes: ['admin', 'questions:ask'] }, 'scopes'],
      ...[0, -1, 3651, 1.5, '7', null, 2 ** 63].map((days) => [{ expires_in_days: days }, 'expires_in_days']),
    ]) await refused(422, '/agent/keys', { ...good, ...change }, { field });
    assert.equal((await get(200, '/agent/keys')).keys.length, before);
  });

  test('a user is added, changed and removed', options, async () => {
    assert.deepEqual(await post(201, '/agent/users', { name: 'Bob', role: 'viewer', password }), { ok: true });
    await post(201, '/agent/users', { name: 'proxied@example.org', role: 'answerer' });
    const find = async (name) => (await get(200, '/agent/users')).users.find((user) => user.name === name);
    assert.deepEqual([(await find('bob')).role, (await find('bob')).has_password, (await find('bob')).last_login_at], ['viewer', true, null]);
    assert.equal((await find('proxied@example.org')).has_password, false);
    for (const [change, field] of [
      [{ name: 'BOB' }, 'name'], [{ name: '' }, 'name'], [{ name: 'a b' }, 'name'], [{ name: 'x'.repeat(129) }, 'name'], [{ name: 'zoë' }, 'name'], [{ name: undefined }, 'name'],
      [{ role: 'root' }, 'role'], [{ role: 7 }, 'role'], [{ role: undefined }, 'role'], [{ password: '' }, 'password'], [{ password: 'too short' }, 'password'], [{ password: 'x'.repeat(1025) }, 'password'], [{ password: 7 }, 'password'],
    ]) await refused(422, '/agent/users', { name: 'eve', role: 'viewer', password, ...change }, { field });

    const as = await logIn(proof, 'bob', password);
    assert.deepEqual((await get(200, '/agent/me', { as })).scopes, ['questions:read', 'sessions:read']);
    assert.ok((await find('bob')).last_login_at);
    await get(200, '/agent/sessions', { as });
    await refused(403, '/agent/keys', undefined, { method: 'GET', as, code: 'forbidden' });
    await post(200, '/agent/users/bob/role', { role: 'admin' });
    await get(200, '/agent/keys', { as });
    await refused(422, '/agent/users/bob/role', { role: 'root' }, { field: 'role' });

    await refused(422, '/agent/users/bob/password', { password: 'too short' }, { field: 'password' });
    await get(200, '/agent/me', { as });
    await post(200, '/agent/users/bob/password', { password: `${password}!` });
    await refused(401, '/agent/me', undefined, { method: 'GET', as, code: 'unauthenticated' });
    const again = await logIn(proof, 'BOB', `${password}!`);
    await post(200, '/agent/users/bob/remove');
    await refused(401, '/agent/me', undefined, { method: 'GET', as: again, code: 'unauthenticated' });
    assert.equal(await find('bob'), undefined);
    for (const [what, body] of [['remove', {}], ['password', { password }], ['role', { role: 'viewer' }]]) {
      await refused(404, `/agent/users/bob/${what}`, body, { code: 'unknown_user', field: 'name' });
    }
  });

  test('who asks cannot answer, and who answers does so in their own name', options, async () => {
    const asker = await proof.world.key('questions:ask');
    const { session_id: id, questions: [question] } = await post(202, '/agent/ask', { questions: [{ question: 'Ship it?', options: ['yes', 'no'] }] }, { as: asker });
    await refused(403, `/agent/answer/${id}`, { answer: 'yes' }, { as: asker, code: 'forbidden' });
    const admin = await proof.world.key('admin');
    await refused(403, `/agent/answer/${id}`, { answer: 'yes' }, { as: admin, code: 'forbidden' });
    await refused(403, '/agent/ask', proof.contract.example('ask', 'freeText'), { as: admin, code: 'forbidden' });
    const cleo = await arrive('cleo', 'answerer');
    await refused(422, `/agent/answer/${id}`, { answer: 'yes', answered_by: 'ana' }, { as: cleo, field: 'answered_by' });
    await post(200, `/agent/answer/${id}`, { answer: 'yes' }, { as: cleo });
    assert.equal((await get(200, `/agent/questions/${question.id}`)).answered_by, 'cleo');
    const { session_id: other, questions: [second] } = await post(202, '/agent/ask', { questions: [{ question: 'Ship it?' }] }, { as: asker });
    await post(200, `/agent/answer/${other}`, { answer: 'yes', answered_by: 'dan@example.org' }, { as: await proof.world.key('questions:answer') });
    assert.equal((await get(200, `/agent/questions/${second.id}`)).answered_by, 'dan@example.org');
    const { session_id: third } = await post(202, '/agent/ask', { questions: [{ question: 'Ship it?' }] }, { as: asker });
    await post(200, `/agent/session/${third}/cancel`, {}, { as: asker });
  });

  test("an agent's answerers decide, and nobody else", options, async () => {
    const { id, questions: [question] } = await proof.parked('guarded');
    const { key } = await post(201, '/agent/keys', { name: 'speaker', scopes: ['questions:answer'] });
    const other = await proof.world.key('questions:answer');
    await refused(403, `/agent/answer/${id}`, { answer: 'yes' }, { as: other, code: 'not_an_answerer' });
    await refused(403, `/agent/answer/${id}`, { answer: 'yes', answered_by: 'ana' }, { as: other, code: 'not_an_answerer' });
    await refused(403, `/agent/session/${id}/cancel`, {}, { as: other, code: 'not_an_answerer' });
    for (const recipient of ['bob@example.org', 'key:speaker']) await refused(422, `/agent/questions/${question.id}/links`, { recipient }, { field: 'recipient' });
    assert.equal((await proof.settled(id)).status, 'pending_input');
    await post(200, `/agent/answer/${id}`, { answer: 'yes' }, { as: bearer(key) });

    const ana = await arrive('ana', 'answerer');
    const firm = await proof.parked('firm');
    await refused(403, `/agent/session/${firm.id}/cancel`, {}, { as: ana, code: 'not_an_answerer' });
    await post(200, `/agent/answer/${firm.id}`, { answer: 'no' }, { as: ana });
    const dropped = await proof.parked('guarded');
    await post(200, `/agent/session/${dropped.id}/cancel`, {}, { as: ana });
  });

  test('a link is made for a question that is open', options, async () => {
    const { id, questions: [question] } = await proof.parked('listens');
    const target = `/agent/questions/${question.id}/links`;
    const made = await post(201, target, proof.contract.example('makeLink', 'ana'));
    assert.deepEqual([made.question_id, made.expires_at], [question.id, question.expires_at]);
    assert.match(made.url, new RegExp(`/agent/answer/${id}\\?token=[\\w-]{43}$`));
    assert.notEqual((await post(201, target, { recipient: 'ana@example.org' })).url, made.url);
    for (const recipient of ['', ' ', 'x'.repeat(201), 7, undefined]) await refused(422, target, { recipient }, { field: 'recipient' });
    await refused(404, `/agent/questions/${nobody}/links`, { recipient: 'ana@example.org' }, { code: 'unknown_question' });
    await post(200, `/agent/answer/${id}`, { answer: 'yes' });
    await refused(422, target, { recipient: 'ana@example.org' }, { field: 'question' });
  });

  test('a key may start one agent and no other', options, async () => {
    const as = await proof.world.key('webhook:echo');
    const { session_id: id } = await post(202, '/agent/webhook/echo', {}, { as });
    assert.equal((await proof.finished(id)).status, 'completed');
    await refused(403, '/agent/webhook/listens', {}, { as, code: 'forbidden' });
    await refused(401, '/agent/webhook/echo', {}, { as: {}, code: 'unauthenticated' });
    await refused(401, '/agent/webhook/nobody', {}, { as: {}, code: 'unauthenticated' });
  });

  test("Slack's first question is answered, if Slack asks it", options, async () => {
    const body = JSON.stringify({ type: 'url_verification', challenge: 'my own word' });
    const at = String(Math.floor(Date.now() / 1000));
    const signature = `v0=${createHmac('sha256', slackSecret).update(`v0:${at}:${body}`).digest('hex')}`;
    const as = { 'x-slack-request-timestamp': at, 'x-slack-signature': signature };
    assert.deepEqual(await post(200, '/agent/webhook/slack', body, { as }), { challenge: 'my own word' });
    await refused(401, '/agent/webhook/slack', `${body} `, { as, code: 'bad_signature' });
    await refused(401, '/agent/webhook/slack', body, { as: {}, code: 'bad_signature' });
    assert.deepEqual((await get(200, '/agent/sessions?agent=slack')).sessions, []);
  });

  test('the audit log says who did what, and shows that it is whole', options, async () => {
    const { entries, next_cursor: end } = await get(200, '/agent/audit?limit=1000');
    assert.equal(end, null);
    assert.deepEqual(entries.map(({ seq }) => seq), entries.map((_, i) => i + 1));
    const did = new Set(entries.map(({ action, credential }) => `${credential.split(':')[0]} ${action}`));
    for (const known of [
      'open key_created', 'key key_created', 'key key_revoked', 'key user_added', 'user logged_in', 'key role_changed', 'key password_changed', 'key user_removed',
      'key session_started', 'key question_asked', 'key question_answered', 'user question_answered', 'key session_cancelled', 'key link_made',
    ]) assert.ok(did.has(known), `${known} is not among ${[...did].join(', ')}`);
    assert.ok(entries.every(({ address }) => address === '127.0.0.1'));
    const page = await get(200, '/agent/audit?limit=2&after=3');
    assert.deepEqual(page, { entries: entries.slice(3, 5), next_cursor: '5' });
    assert.deepEqual(await get(200, `/agent/audit?after=${entries.length}`), { entries: [], next_cursor: null });

    const head = entries.at(-1).hash;
    const whole = { ok: true, rows: entries.length, head, broken: null };
    assert.deepEqual(await get(200, '/agent/audit/verify'), whole);
    assert.deepEqual(await get(200, `/agent/audit/verify?expect=${entries[1].hash}`), whole);
    const { ok, broken } = await get(200, `/agent/audit/verify?expect=${'0'.repeat(64)}`);
    assert.deepEqual([ok, typeof broken], [false, 'string']);
    await refused(422, '/agent/audit/verify?expect=yes', undefined, { method: 'GET', field: 'expect' });
  });
});
