// The pages: login, the list of questions, a question's form, and what an answer link opens.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { deployApproval, echo, listens, writePoem } from './agents.mjs';
import { maxBodyBytes, publicUrl } from './harness.mjs';
import { assetsOf, form, hiddenFields, logIn, openLogin } from './people.mjs';
import { Proof, nobody, options } from './proof.mjs';

const password = 'correct horse battery';

export const provePages = () => describe('pages', () => {
  let proof;
  let ana;
  let vera;
  const show = (status, target, as, more) => proof.send(status, 'GET', target, { as, ...more });
  const submit = (status, target, as, fields, headers) => proof.send(status, 'POST', target, { as, headers, ...form(fields) });
  const settled = async (question) => (await proof.get(200, `/agent/questions/${question}`));

  before(async () => {
    proof = await Proof.start({ closed: true, agents: { echo, listens, 'write-poem': writePoem, 'deploy-approval': deployApproval, guarded: { ...listens, answerers: ['bob'] } } });
    for (const [name, role] of [['ana', 'answerer'], ['vera', 'viewer']]) await proof.post(201, '/agent/users', { name, role, password });
    ana = await logIn(proof, 'ana', password);
    vera = await logIn(proof, 'vera', password);
  }, options);
  after(() => proof?.stop(), options);

  // What every form refuses, whatever it is for.
  async function refuseForm(target, as) {
    await proof.refused(413, target, `own=${'x'.repeat(maxBodyBytes)}`, { as, type: 'application/x-www-form-urlencoded' });
    await proof.refused(415, target, 'own=yes', { as, type: 'text/plain' });
    for (const body of ['own=%zz', 'own=%ff', 'own=%00', 'a=1&'.repeat(101)]) {
      await proof.send(400, 'POST', target, { as, body, type: 'application/x-www-form-urlencoded' });
    }
  }

  test('who is not logged in is led to the login and back', options, async () => {
    const { headers } = await show(303, '/question/abc', {});
    assert.equal(headers.location, '/login?next=%2Fquestion%2Fabc');
    const { fields, as } = await openLogin(proof, headers.location);
    assert.equal(fields.next, '/question/abc');
    const { headers: { location } } = await submit(303, '/login', as, { ...fields, name: 'ana', password });
    assert.equal(location, '/question/abc');
    for (const next of ['https://evil.example/', '//evil.example', '/\\evil.example', 'javascript:alert(1)', '/a\tb', '/\u0001', '/\u007f', '/ü', '/a b']) {
      assert.equal((await show(303, `/login?next=${encodeURIComponent(next)}`, ana)).headers.location, '/', next);
    }
    await show(422, '/login?surprise=1', {});
  });

  test('a login needs the right password and a form of ours', options, async () => {
    const { fields: hidden, as } = await openLogin(proof);
    const fields = { ...hidden, name: 'ana' };
    const { headers } = await submit(401, '/login', as, { ...fields, password: 'wrong horse battery' });
    assert.equal(headers['set-cookie'], undefined);
    await submit(403, '/login', as, { ...fields, nonce: 'forged', password });
    await submit(403, '/login', as, { ...fields, password }, { origin: 'https://evil.example' });
    await submit(403, '/login', {}, { ...fields, password });
    await submit(403, '/login', (await openLogin(proof)).as, { ...fields, password });  // Another browser's form.
    await submit(422, '/login?surprise=1', as, { ...fields, password });
    await refuseForm('/login', as);
  });

  test('pages with script name all they are made of, and hold nobody else\'s data', options, async () => {
    const { id, questions: [question] } = await proof.parked('write-poem', { topic: 'love' });
    const made = new Set();
    for (const target of ['/', '/sessions', `/session/${id}`, '/session/nonsense', '/agents', '/operations', '/?of=its-own']) {
      const page = await show(200, target, vera);
      assert.ok(page.text.includes('&quot;name&quot;:&quot;vera&quot;'), target);
      assert.ok(!page.text.includes(question.text) && !page.text.includes(question.id), target);
      for (const asset of assetsOf(page)) made.add(asset);
    }
    const types = new Map();
    for (const target of made) types.set(target.split('/').at(-1), (await show(200, target, {})).headers['content-type']);
    assert.deepEqual([types.get('page.css'), types.get('inbox.js'), types.get('icon.svg')], ['text/css; charset=utf-8', 'text/javascript; charset=utf-8', 'image/svg+xml']);
    const [version] = [...made].map((target) => target.split('/')[2]);
    for (const target of ['/assets/0/page.css', `/assets/${version}/shell.html`, `/assets/${version}/nothing.js`, `/assets/${version}/..%2fpage.css`]) {
      assert.equal((await show(404, target, {})).json.error.code, 'unknown_path', target);
    }
  });

  test('the list shows what waits, and a logout ends the login', options, async () => {
    const { questions: [question] } = await proof.parked('write-poem', { topic: 'love' });
    const page = await show(200, '/questions', vera);
    assert.ok(page.text.includes(`href="/question/${question.id}"`));
    await show(422, '/questions?surprise=1', vera);
    await show(403, '/questions', await proof.world.key('questions:ask'));

    const leaving = await logIn(proof, 'ana', password);
    await submit(403, '/logout', leaving, { nonce: hiddenFields(page).nonce });  // Another's form.
    await refuseForm('/logout', leaving);
    const { nonce } = hiddenFields(await show(200, '/', leaving));
    await submit(422, '/logout?surprise=1', leaving, { nonce });
    const { headers } = await submit(303, '/logout', leaving, { nonce });
    assert.match(headers['set-cookie'][0], /^holdpoint=; .*Max-Age=0$/);
    await show(303, '/', leaving);
    await submit(401, '/logout', leaving, { nonce });
    await show(200, '/', ana);
  });

  test('a question is answered by its page', options, async () => {
    const { id, questions: [question] } = await proof.parked('write-poem', { topic: 'love' });
    const target = `/question/${question.id}`;
    const page = await show(200, target, ana);
    for (const option of question.options) assert.ok(page.text.includes(`value="${option}"`));
    assert.doesNotMatch((await show(200, target, vera)).text, /<form method="post" action="\/question/);
    await show(422, `${target}?surprise=1`, ana);
    await show(404, `/question/${nobody}`, ana);

    const fields = hiddenFields(page);
    await refuseForm(target, ana);
    await submit(401, target, {}, { ...fields, choice: 'haiku' });
    await submit(403, target, ana, { choice: 'haiku' });
    await submit(403, target, ana, { ...fields, choice: 'haiku' }, { origin: 'https://evil.example' });
    await submit(403, target, vera, { ...hiddenFields(await show(200, '/', vera)), choice: 'haiku' });
    await submit(404, `/question/${nobody}`, ana, { ...fields, choice: 'haiku' });
    for (const wrong of [{}, { own: ' \r\n' }, { choice: 'haiku', own: 'and more' }, { own: 'x'.repeat(10_001) }]) {
      assert.match((await submit(422, target, ana, { ...fields, ...wrong })).text, /role="alert"/);
    }
    assert.equal((await settled(question.id)).status, 'pending');

    await submit(200, target, ana, { ...fields, choice: 'haiku' });
    const { answer, answered_by: by, answered_via: via } = await settled(question.id);
    assert.deepEqual({ answer, by, via }, { answer: 'haiku', by: 'ana', via: 'web' });
    assert.deepEqual((await proof.finished(id)).result, { poem_path: 'poem/love-haiku.md' });
    await submit(200, target, ana, { ...fields, choice: 'haiku' });
    assert.match((await submit(409, target, ana, { ...fields, choice: 'sonnet' })).text, /<blockquote>haiku<\/blockquote>/);
    assert.match((await show(200, target, vera)).text, /ana answered on /);
  });

  test('a page takes several choices, own words, and a cancel', options, async () => {
    const { questions } = await proof.parked('deploy-approval');
    const checks = questions.find(({ multi_select: several }) => several);
    const remarks = questions.find(({ options: labels }) => labels.length === 0);
    const at = async (id) => hiddenFields(await show(200, `/question/${id}`, ana));
    const fields = [...Object.entries(await at(checks.id)), ['choice', 'unit'], ['choice', 'load']];
    assert.match((await submit(200, `/question/${checks.id}`, ana, fields)).text, /2 more questions are answered/);
    assert.deepEqual((await settled(checks.id)).answer, ['unit', 'load']);
    await submit(200, `/question/${remarks.id}`, ana, { ...(await at(remarks.id)), own: 'take <care>\r\n& more\r\n' });
    assert.equal((await settled(remarks.id)).text, 'take <care>\n& more');

    const dropped = await proof.parked('listens');
    const asked = await submit(200, `/question/${dropped.questions[0].id}`, ana, { ...(await at(dropped.questions[0].id)), do: 'confirm_cancel' });
    assert.match(asked.text, /Cancel this request\?/);
    assert.equal((await settled(dropped.questions[0].id)).status, 'pending');
    await submit(200, `/question/${dropped.questions[0].id}`, ana, { ...(await at(dropped.questions[0].id)), do: 'cancel' });
    assert.equal((await proof.finished(dropped.id)).status, 'cancelled');
    assert.equal((await settled(dropped.questions[0].id)).answered_by, 'ana');
    const guarded = await proof.parked('guarded');
    const { text } = await show(200, `/question/${guarded.questions[0].id}`, ana);
    assert.match(text, /for others to answer/);
    assert.doesNotMatch(text, /<form/);
    const { nonce } = hiddenFields(await show(200, '/questions', ana));
    for (const fields of [{ choice: 'yes' }, { do: 'cancel' }]) {
      await submit(403, `/question/${guarded.questions[0].id}`, ana, { nonce, ...fields });
    }
    assert.equal((await proof.settled(guarded.id)).status, 'pending_input');
  });

  async function linkTo(agent, payload) {
    const { id, questions: [question] } = await proof.parked(agent, payload);
    const { url } = await proof.post(201, `/agent/questions/${question.id}/links`, { recipient: 'eve@example.org' });
    assert.ok(url.startsWith(publicUrl));
    return { id, question, target: url.slice(publicUrl.length), form: `/agent/answer/${id}` };
  }

  test('a link answers its question, and nothing else does', options, async () => {
    const link = await linkTo('write-poem', { topic: 'rain' });
    const page = await show(200, link.target, {});
    assert.match((await show(200, `${link.target}&answer=haiku`, {})).text, /value="haiku" checked/);
    assert.match((await show(200, `${link.target}&answer=%3Cb%3E`, {})).text, /&lt;b&gt;<\/textarea>/);
    await show(200, `${link.target}&utm_source=mail`, {});
    assert.equal((await settled(link.question.id)).status, 'pending');

    const fields = hiddenFields(page);
    await submit(404, link.form, {}, { ...fields, token: 'x'.repeat(43), choice: 'haiku' });
    await submit(404, `/agent/answer/${nobody}`, {}, { ...fields, choice: 'haiku' });
    await submit(403, link.form, {}, { ...fields, choice: 'haiku' }, { origin: 'https://evil.example' });
    for (const wrong of [{ nonce: 'forged', choice: 'haiku' }, {}, { choice: 'haiku', own: 'and more' }]) await submit(422, link.form, {}, { ...fields, ...wrong });
    assert.equal((await settled(link.question.id)).status, 'pending');

    await submit(200, link.form, {}, { ...fields, choice: 'haiku' });
    const { answer, answered_by: by, answered_via: via } = await settled(link.question.id);
    assert.deepEqual({ answer, by, via }, { answer: 'haiku', by: 'eve@example.org', via: 'link' });
    await submit(200, link.form, {}, { ...fields, choice: 'haiku' });
    await submit(409, link.form, {}, { ...fields, choice: 'sonnet' });
    assert.match((await show(200, link.target, {})).text, /eve@example\.org answered on /);
  });

  test('a link may call its question off', options, async () => {
    const link = await linkTo('listens');
    await submit(200, link.form, {}, { ...hiddenFields(await show(200, link.target, {})), do: 'cancel' });
    assert.equal((await proof.finished(link.id)).status, 'cancelled');
    assert.match((await show(200, link.target, {})).text, /cancelled by eve@example\.org on /);
  });

  test('without a token the way leads to the page of who is logged in', options, async () => {
    const { id, questions: [question] } = await proof.parked('listens');
    const target = `/agent/answer/${id}`;
    assert.equal((await show(303, target, ana)).headers.location, `/question/${question.id}`);
    assert.equal((await show(303, target, {})).headers.location, `/login?next=${encodeURIComponent(target)}`);
    await show(403, target, await proof.world.key('questions:ask'));
    const done = await proof.trigger('echo');
    await proof.finished(done);
    await show(404, `/agent/answer/${done}`, ana);
    await show(404, `/agent/answer/${nobody}`, ana);
  });

  // Last: from here on this address has to wait.
  test('too many wrong links and passwords get 429, and a right link still counts', options, async () => {
    const link = await linkTo('listens');
    const fields = hiddenFields(await show(200, link.target, {}));
    const login = await openLogin(proof);
    const dead = `${link.form}?token=${'x'.repeat(43)}`;
    let wrong = 0;
    while ((await proof.world.request('GET', dead)).status === 404) assert.ok((wrong += 1) <= 20, 'wrong links are not counted');
    await show(429, dead, {});
    await submit(429, link.form, {}, { ...fields, token: 'x'.repeat(43) });
    await submit(429, '/login', login.as, { ...login.fields, name: 'ana', password });
    await proof.refused(429, '/agent/me', undefined, { method: 'GET', as: { authorization: `Bearer hp_${'0'.repeat(16)}_${'x'.repeat(43)}` }, code: 'too_many_requests' });
    await submit(200, link.form, {}, { ...fields, choice: 'yes' });
    await proof.get(200, '/agent/questions');
  });
});
