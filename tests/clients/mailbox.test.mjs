// Replies by mail: what people send back to a real IMAP server, and what a provider posts, become answers.
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { startDovecot } from './dovecot.mjs';
import { eventually, startWorld } from './harness.mjs';
import { startMailServer } from './mail_server.mjs';

const options = { timeout: 90_000 };
const ana = 'ana@example.org';
const ben = 'ben@example.org';
const secret = 'a secret of the provider';
const asks = (question) => ({
  async_questions: true,
  turn: ({ reason, resume }) => (reason === 'start' ? { ask: { questions: [question] } } : { result: resume ?? null }),
});
const agents = {
  poet: asks({ question: 'Deploy?', options: ['Yes', 'No'], allow_other: false }),
  open: asks({ question: 'What now?' }),
};

let dovecot;
let mail;
let world;

before(async () => {
  dovecot = await startDovecot();
  mail = await startMailServer();
  const trusted = path.join(path.dirname(mail.caFile), 'both.pem');
  writeFileSync(trusted, readFileSync(mail.caFile, 'utf8') + dovecot.certificate);
  world = await startWorld({
    agents,
    settings: {
      email: {
        smtp_url: mail.url, smtp_user: 'holdpoint', smtp_password: 'open sesame', from: 'Holdpoint <holdpoint@example.org>', reply_to: 'reply@example.org',
        imap_url: dovecot.url, imap_user: 'reply', imap_password: dovecot.password, ca_file: trusted, inbound_secret: [secret],
      },
      questions: { notify_email: true, email_to: [ana, ben] },
    },
  });
}, options);
after(async () => {
  const began = Date.now();
  await world?.stop();
  const took = Date.now() - began;
  await mail?.close();
  await dovecot?.close();
  // However long it would have waited for mail.
  assert.ok(took < 4_000, `it took ${took} ms to stop`);
}, options);

// Starts a session; gives its id and the mail that each recipient got.
async function ask(agent = 'poet') {
  const { status, json, text } = await world.request('POST', `/agent/webhook/${agent}`, { body: {} });
  assert.equal(status, 202, text);
  const id = json.session_id;
  const of = (to) => (m) => m.headers.get('x-holdpoint-session') === id && m.to === to;
  const [[toAna], [toBen]] = await Promise.all([ana, ben].map((to) => mail.take(`the mail to ${to}`, of(to))));
  return { id, toAna, toBen, of };
}

let mails = 0;
const newId = () => `<${++mails}.${Date.now()}@phone.example>`;
const replyTo = (m) => m.replyTo.value[0].address;
const quoted = (m) => `On Mon, Nov 16, 2026 at 1:00 PM Holdpoint <holdpoint@example.org>\nwrote:\n\n${m.text.split('\n').map((line) => `> ${line}`).join('\n')}\n`;
const replyMail = (m, text, { from = ana, id = newId(), headers = '' } = {}) =>
  `From: Somebody <${from}>\nTo: ${replyTo(m)}\nSubject: Re: ${m.subject}\nMessage-ID: ${id}\nIn-Reply-To: ${m.messageId}\nDate: Mon, 16 Nov 2026 13:00:00 +0000\n${headers}Content-Type: text/plain; charset=utf-8\n\n${text}\n\n${quoted(m)}`;
const deliver = (m, raw, from = ana) => dovecot.deliver(from, replyTo(m), raw);

const session = async (id) => (await world.request('GET', `/agent/session/${id}`)).json;
const completed = (id, ms) => eventually('the session to complete', async () => {
  const found = await session(id);
  return found.status === 'completed' && found;
}, ms);
const events = async (id) => (await world.request('GET', `/agent/session/${id}/events`)).json.events;
const event = (id, type, ms) => eventually(`${type} in the history`, async () => (await events(id)).find((e) => e.type === type), ms);
// As operations tell it of the mailbox.
const connection = async () => (await world.request('GET', '/agent/operations')).json.channels.find(({ name }) => name === 'email').connection;
const stillPending = async (id) => assert.equal((await session(id)).status, 'pending_input');
const answerOf = (found) => found.result.questions[0];

describe('replies by mail', () => {
  test('a reply answers its question within seconds', options, async () => {
    const { id, toAna } = await ask();
    assert.match(replyTo(toAna), /^reply\+[a-z2-7]{42}@example\.org$/);
    const began = Date.now();
    await deliver(toAna, replyMail(toAna, 'yes'));
    const found = await completed(id);
    assert.ok(Date.now() - began < 8_000, `it took ${Date.now() - began} ms`);
    assert.equal(answerOf(found).answered_by, ana);
    assert.equal(answerOf(found).answered_via, 'email');
    assert.deepEqual(answerOf(found).selected, ['Yes']);
    await eventually('the reply to be marked as seen', () => dovecot.unseen('reply') === 0);
  });

  test('an own answer comes without what it quotes, in any charset', options, async () => {
    const { id, toBen } = await ask('open');
    const raw = replyMail(toBen, 'Caf=E9, dann weiter', { from: ben }).replace('charset=utf-8', 'charset=iso-8859-1\nContent-Transfer-Encoding: quoted-printable');
    await deliver(toBen, raw, ben);
    assert.equal(answerOf(await completed(id)).text, 'Café, dann weiter');
  });

  test('an out-of-office notice is ignored, and the history says so', options, async () => {
    const { id, toAna } = await ask();
    await deliver(toAna, replyMail(toAna, 'Yes', { headers: 'Auto-Submitted: auto-replied\n' }));
    assert.match(JSON.stringify(await event(id, 'reply_ignored')), /Auto-Submitted: auto-replied/);
    await stillPending(id);
  });

  test('a bounce is told in the history', options, async () => {
    const { id, toAna } = await ask();
    const bounce = `From: MAILER-DAEMON@mx.example\nTo: holdpoint@example.org\nMessage-ID: ${newId()}\nContent-Type: multipart/report; report-type=delivery-status; boundary=b\n\n`
      + `--b\nContent-Type: text/plain\n\nNo such user.\n--b\nContent-Type: message/delivery-status\n\nAction: failed\n--b\nContent-Type: text/rfc822-headers\n\nReply-To: ${replyTo(toAna)}\nSubject: x\n--b--\n`;
    await dovecot.deliver('', 'reply@example.org', bounce);
    await event(id, 'mail_bounced');
    await stillPending(id);
  });

  test('a reply of somebody else is refused, whoever was asked besides', options, async () => {
    const { id, toAna } = await ask();
    await deliver(toAna, replyMail(toAna, 'Yes', { from: 'eve@example.com' }), 'eve@example.com');
    await deliver(toAna, replyMail(toAna, 'Yes', { from: ben }), ben);
    await eventually('two refusals', async () => (await events(id)).filter(({ type }) => type === 'reply_refused').length === 2);
    await stillPending(id);
    assert.deepEqual(mail.seen.filter(({ to }) => to === 'eve@example.com'), []);
  });

  test('an ambiguous reply gets one polite mail back, and a clear one then answers', options, async () => {
    const { id, toAna, of } = await ask();
    const raw = replyMail(toAna, 'No problem, go ahead');
    await deliver(toAna, raw);
    await deliver(toAna, raw);
    const [, back] = await mail.take('the mail back', of(ana), 2);
    assert.match(back.text, /"No problem, go ahead" begins like the option "No", but goes on/);
    assert.match(back.text, /1\. Yes/);
    assert.equal(back.inReplyTo, toAna.messageId);
    await eventually('both copies to be seen', () => dovecot.unseen('reply') === 0);
    await stillPending(id);
    assert.equal(mail.mails.filter(of(ana)).length, 2);
    assert.equal((await events(id)).filter(({ type }) => type === 'reply_unclear').length, 1);
    await deliver(back, replyMail(back, '1'));
    assert.deepEqual(answerOf(await completed(id)).selected, ['Yes']);
  });

  test('a reply that comes too late is told who decided', options, async () => {
    const { id, toAna, toBen, of } = await ask();
    await deliver(toAna, replyMail(toAna, 'Yes'));
    await completed(id);
    const [, closing] = await mail.take('the closing mail', of(ben), 2);
    assert.match(closing.text, /Answered by ana@example\.org: Yes/);
    await deliver(toBen, replyMail(toBen, 'No', { from: ben }), ben);
    const [, , back] = await mail.take('the mail back', of(ben), 3);
    assert.match(back.text, /Answered by ana@example\.org: Yes/);
    assert.deepEqual(answerOf(await session(id)).selected, ['Yes']);
  });

  test('a reply that comes while the server is dead answers after its start', options, async () => {
    const { id, toAna } = await ask();
    await world.crash();
    await deliver(toAna, replyMail(toAna, '2.'));
    await world.restart();
    assert.deepEqual(answerOf(await completed(id)).selected, ['No']);
  });

  test('a mailbox that goes away and comes back is read again', options, async () => {
    const { id, toAna } = await ask();
    await eventually('the mailbox to be open', async () => await connection() === 'connected');
    await dovecot.stop();
    await eventually('the loss in the log', () => world.log.some((line) => line.includes('mailbox_lost')), 20_000);
    assert.equal(await connection(), 'connecting');
    await stillPending(id);
    await dovecot.start();
    await deliver(toAna, replyMail(toAna, 'Yes'));
    await completed(id, 40_000);
    assert.equal(await connection(), 'connected');
  });

  test('mail that is nothing of ours is marked as seen, and gets no answer', options, async () => {
    await dovecot.deliver('spam@example.com', 'reply@example.org', `From: spam@example.com\nTo: reply@example.org\nMessage-ID: ${newId()}\n\nBuy!\n`);
    await dovecot.deliver('spam@example.com', `reply+${'a'.repeat(42)}@example.org`, `From: spam@example.com\nTo: x@example.org\nMessage-ID: ${newId()}\n\nBuy!\n`);
    await eventually('both to be seen', () => dovecot.unseen('reply') === 0);
    assert.deepEqual(mail.seen.filter(({ to }) => to !== ana && to !== ben), []);
  });
});

describe('mails that a provider posts', () => {
  const post = async (body, headers = {}) => {
    const { status, json } = await world.request('POST', '/email/inbound', { headers: { authorization: `Bearer ${secret}`, ...headers }, ...body });
    return `${status} ${json.outcome ?? json.error.field ?? json.error.code}`;
  };

  test("Mailgun's form with a file is taken by its own signature", options, async () => {
    const { id, toAna } = await ask();
    const form = new FormData();
    const timestamp = `${Math.floor(Date.now() / 1000)}`;
    const token = 'c'.repeat(50);
    const fields = {
      recipient: replyTo(toAna), sender: ana, from: `Ana <${ana}>`, subject: 'Re: Grüße', 'body-plain': `Yes\r\n\r\n${quoted(toAna)}`, 'stripped-text': 'Yes',
      'message-headers': JSON.stringify([['Message-Id', newId()], ['From', `Ana <${ana}>`]]), timestamp, token,
      signature: createHmac('sha256', secret).update(timestamp + token).digest('hex'),
    };
    for (const [name, value] of Object.entries(fields)) form.append(name, value);
    form.append('attachment-1', new Blob([new Uint8Array([0, 255, 13, 10, 45, 45])], { type: 'image/png' }), 'cat.png');
    const request = new Request('http://localhost/', { method: 'POST', body: form });
    const body = Buffer.from(await request.arrayBuffer());
    assert.equal(await post({ body, type: request.headers.get('content-type') }, { authorization: '' }), '200 answered');
    assert.deepEqual(answerOf(await completed(id)).selected, ['Yes']);
    assert.equal(await post({ body, type: request.headers.get('content-type') }, { authorization: '' }), '200 already_answered');
  });

  test("Postmark's JSON, a form and a mail as it is are taken with the secret alone", options, async () => {
    const [first, second, third] = [await ask(), await ask(), await ask()];
    const json = { FromFull: { Email: ana }, From: ana, ToFull: [{ Email: replyTo(first.toAna) }], To: replyTo(first.toAna), Subject: 'Re: x', TextBody: '1', Headers: [{ Name: 'Message-ID', Value: newId() }] };
    assert.equal(await post({ body: json }, { authorization: 'Bearer wrong' }), '401 unauthenticated');
    await stillPending(first.id);
    assert.equal(await post({ body: json }, { authorization: `Basic ${Buffer.from(`postmark:${secret}`).toString('base64')}` }), '200 answered');
    const form = new URLSearchParams({ from: ana, to: replyTo(second.toAna), text: 'No' }).toString();
    assert.equal(await post({ body: form, type: 'application/x-www-form-urlencoded' }), '200 answered');
    assert.equal(await post({ body: replyMail(third.toAna, '2'), type: 'message/rfc822' }), '200 answered');
    assert.equal(await post({ body: { raw: replyMail(third.toAna, 'Yes') } }), '200 late');
    assert.equal(await post({ body: { from: ana, text: 'Yes' } }), '422 to');
    for (const { id } of [first, second, third]) await completed(id);
  });
});

test('who unsubscribes by the mail gets no more of them', options, async () => {
  const { toBen } = await ask();
  const list = toBen.headers.get('list').unsubscribe.url;
  const target = list.slice('https://holdpoint.example.org'.length);
  assert.match(target, /^\/email\/unsubscribe\?token=[a-z2-7]{42}$/);
  const page = await world.request('GET', target);
  assert.equal(page.status, 200);
  assert.match(page.text, /ben@example\.org/);
  const done = await world.request('POST', target, { body: 'List-Unsubscribe=One-Click', type: 'application/x-www-form-urlencoded' });
  assert.equal(done.status, 200, done.text);
  const { json } = await world.request('POST', '/agent/webhook/poet', { body: {} });
  const mine = (m) => m.headers.get('x-holdpoint-session') === json.session_id;
  await mail.take("Ana's mail", mine);
  const { deliveries } = (await world.request('GET', `/agent/deliveries?session=${json.session_id}`)).json;
  assert.equal(deliveries.find(({ destination }) => destination === ben).status, 'dead');
  assert.deepEqual(mail.mails.filter(mine).map(({ to }) => to), [ana]);
});
