// Questions by mail, from the ask to the closing mail, over a real SMTP server. HOLDPOINT_FUZZ_SEED makes other asks.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import fc from 'fast-check';
import { asks as generatedAsks, labelsOf } from './asks.mjs';
import { eventually, findBinary, gate, publicUrl, startWorld } from './harness.mjs';
import { startMailServer } from './mail_server.mjs';
import { form, hiddenFields } from './people.mjs';

const seed = Number(process.env.HOLDPOINT_FUZZ_SEED ?? 20261116);
const options = { timeout: 60_000 };
const ana = 'ana@example.org';
const ben = 'ben@example.org';
const asks = (ask, more = {}) => ({
  async_questions: true,
  turn: ({ reason, resume }) => (reason === 'start' ? { ask } : { result: resume ?? null }),
  ...more,
});
const styles = ['free verse', 'sonnet & co', 'haiku'];
const poem = { questions: [{ question: 'What style would you prefer?', header: 'Style', options: styles.map((label, i) => ({ label, recommended: i === 1, description: `the ${i + 1}. one` })) }], context: { topic: 'love', lines: 14 } };
const nasty = [
  'Line one\r\nBcc: eve@example.org\r\n\r\n<script>alert(1)</script>',
  '\n\n.\n..\n.hidden\nFrom me to you\n--=-boundary\nContent-Type: text/html\n\nhello',
  '=?utf-8?q?=0D=0ABcc:_eve=40example.org?= =?utf-8?b?PGI+?= encoded before it was encoded',
  `مرحبا ${'世界😀 '.repeat(60)}\u202eright to left`,
  `${'x'.repeat(3900)} <!channel> @everyone &amp; "quotes" 'and' $(more) %0a %s`,
];

const emailSettings = (mail, more = {}) => ({
  email: { smtp_url: mail.url, smtp_user: 'holdpoint', smtp_password: 'open sesame', from: 'Holdpoint <holdpoint@mail.example.org>', ca_file: mail.caFile, ...more },
  questions: { notify_email: true, email_to: [ana, ben] },
});

// Lives on a mail server and a Holdpoint that sends there.
async function start({ agents, settings = {}, limits, offersTls }) {
  const mail = await startMailServer({ offersTls });
  try {
    const world = await startWorld({ agents, limits, settings: emailSettings(mail, settings) });
    const trigger = async (agent) => {
      const { status, json, text } = await world.request('POST', `/agent/webhook/${agent}`, { body: {} });
      assert.equal(status, 202, text);
      return json.session_id;
    };
    const of = (session, to) => (m) => m.headers.get('x-holdpoint-session') === session && (!to || m.to === to);
    return {
      mail,
      world,
      trigger,
      of,
      session: async (id) => (await world.request('GET', `/agent/session/${id}`)).json,
      // Its deliveries, once each is as `wanted` says.
      deliveries: (session, what, wanted, n = 1) => eventually(what, async () => {
        const { json } = await world.request('GET', `/agent/deliveries?session=${session}`);
        const found = json.deliveries.filter(wanted);
        return found.length >= n && found;
      }, 20_000),
      async stop() {
        await world.stop();
        await mail.close();
      },
    };
  } catch (error) {
    await mail.close();
    throw error;
  }
}

// Where a mail's links lead, without our public name.
const linksOf = (text) => [...text.matchAll(/https:\/\/holdpoint\.example\.org(\/\S*)/g)].map(([, target]) => target);
const hrefsOf = (html) => [...html.matchAll(/href="([^"]*)"/g)].map(([, url]) => url.replaceAll('&amp;', '&'));
const answerLinks = (mail) => linksOf(mail.text).filter((target) => target.startsWith('/agent/answer/'));
const tokenOf = (mail) => new URL(answerLinks(mail)[0], publicUrl).searchParams.get('token');

// What every server and reader between us and a person may rely on.
function assertSound(mail) {
  assert.ok(!/[^\t\r\n\x20-\x7e]/.test(mail.raw), 'a byte that is not printable ASCII');
  assert.ok(!/(^|[^\r])\n|\r(?!\n)/.test(mail.raw), 'a line that does not end in CRLF');
  assert.ok(mail.raw.split('\r\n').every((line) => line.length <= 998), 'a line of more than 998 bytes');
  const head = mail.raw.slice(0, mail.raw.indexOf('\r\n\r\n')).replace(/\r\n[ \t]/g, ' ').split('\r\n');
  const names = head.map((line) => line.slice(0, line.indexOf(':')).toLowerCase());
  assert.equal(new Set(names).size, names.length, `a header twice: ${names}`);
  for (const name of ['from', 'to', 'date', 'message-id', 'subject', 'mime-version', 'auto-submitted']) assert.ok(names.includes(name), `no ${name}`);
  assert.ok(!names.includes('bcc') && !names.includes('cc'));
  assert.deepEqual(mail.attachments, []);
  assert.ok(mail.text && mail.html);
  // Nothing that a mail program would fetch or run.
  assert.ok(!/<(img|script|link|iframe|form|object|video|svg)\b|url\(|@import|\son\w+=/i.test(mail.html.replace(/&[^;\s]+;/g, '')), mail.html);
}

describe('mail', () => {
  let post;
  before(async () => {
    post = await start({
      agents: {
        poet: asks(poem),
        solo: asks(poem, { channels: [`email:${ana}`] }),
        batch: asks({ questions: [{ question: 'First?', options: ['a', 'b'] }, { question: 'Second?' }] }, { channels: [`email:${ana}`] }),
        late: asks({ questions: [{ question: 'Anyone?', options: ['yes', 'no'] }], timeout: 2 }),
        ...Object.fromEntries(nasty.map((question, i) => [`nasty${i}`, asks({
          questions: [{ question, options: [{ label: '<b>bold</b> & "quoted"', description: question.slice(0, 200) }, { label: 'plain' }] }],
          context: { '<i>name</i>': question, deep: { list: [1, '<u>'] } },
        }, { channels: [`email:${ana}`] })])),
      },
    });
  }, options);
  after(() => post?.stop(), options);

  test('each recipient gets a sound mail with links of their own', options, async () => {
    const { mail, trigger, of, session } = post;
    const id = await trigger('poet');
    const found = await mail.take('two mails', of(id), 2);
    assert.deepEqual(found.map(({ to }) => to).sort(), [ana, ben]);
    for (const m of found) {
      assertSound(m);
      assert.equal(m.from, 'holdpoint@mail.example.org');
      assert.equal(m.user, 'holdpoint');
      assert.equal(m.secure, true);
      assert.equal(m.subject, '[poet] What style would you prefer?');
      assert.equal(m.headers.get('from').text, '"Holdpoint" <holdpoint@mail.example.org>');
      assert.equal(m.headers.get('to').text, m.to);
      assert.match(m.messageId, /^<[0-9a-f-]{36}@mail\.example\.org>$/);
      assert.equal(m.references, `<${id}@mail.example.org>`);
      assert.equal(m.inReplyTo, undefined);
      assert.ok(Math.abs(Date.now() - m.date) < 60_000, `${m.date}`);
      assert.equal(m.headers.get('auto-submitted'), 'auto-generated');
      assert.equal(m.headers.get('x-auto-response-suppress'), 'All');
      assert.match(m.raw, /\r\nList-Id: <poet\.holdpoint\.mail\.example\.org>\r\n/);
      for (const part of [m.text, m.html.replaceAll('&amp;', '&')]) {
        for (const words of ['What style would you prefer?', 'Style', 'love', '14', ...styles, 'recommended', 'the 3. one', 'Answer by', m.to]) assert.ok(part.includes(words), `${words} is not in ${part}`);
      }
      // Each option, then the empty form; the HTML has the same.
      const links = answerLinks(m);
      assert.equal(links.length, 4);
      assert.deepEqual(links.map((target) => new URL(target, publicUrl).searchParams.get('answer')), [...styles, null]);
      const hrefs = hrefsOf(m.html).filter((url) => url.includes('/agent/answer/'));
      assert.deepEqual(hrefs, links.map((target) => publicUrl + target));
      assert.ok(links.every((target) => target.startsWith(`/agent/answer/${id}?token=`)));
    }
    assert.notEqual(found[0].messageId, found[1].messageId);
    for (const [m, other] of [found, found.toReversed()]) {
      const all = m.raw + m.text + m.html;
      for (const secret of [other.to, other.messageId, tokenOf(other)]) assert.ok(!all.includes(secret), `the mail to ${m.to} tells of ${secret}`);
    }
    assert.equal((await session(id)).status, 'pending_input');
  });

  test('scanners that follow every link change nothing; the form answers, and the others are told in the same thread', options, async () => {
    const { mail, trigger, of, session, world } = post;
    const id = await trigger('poet');
    const found = await mail.take('two mails', of(id), 2);
    const mine = found.find(({ to }) => to === ana);
    const theirs = found.find(({ to }) => to === ben);
    const events = async () => (await world.request('GET', `/agent/session/${id}/events`)).json?.events?.length;
    await eventually('both mails to be noted', async () => {
      const { json } = await world.request('GET', `/agent/deliveries?session=${id}`);
      return json?.deliveries?.every(({ status }) => status === 'delivered');
    });
    const before = await events();
    assert.ok(before > 0);
    for (let i = 0; i < 10; i += 1) {
      for (const target of [...linksOf(mine.text), ...hrefsOf(theirs.html).map((url) => url.slice(publicUrl.length))]) {
        for (const method of ['GET', 'HEAD']) {
          const { status } = await world.request(method, target, { headers: { 'user-agent': 'LinkScanner/1.0' } });
          assert.ok(status < 500, `${method} ${target} -> ${status}`);
        }
      }
    }
    assert.equal(await events(), before);
    assert.equal((await session(id)).status, 'pending_input');

    const sonnet = answerLinks(mine)[1];
    const page = await world.request('GET', sonnet);
    assert.equal(page.status, 200);
    assert.match(page.text, /value="sonnet &amp; co" checked>/);
    assert.equal(page.text.match(/ checked>/g).length, 1);
    assert.ok(!page.text.includes('ben'), 'the page of one recipient tells of another');
    const { pathname } = new URL(sonnet, publicUrl);
    const thanks = await world.request('POST', pathname, form({ ...hiddenFields(page), choice: 'sonnet & co', do: 'answer' }));
    assert.equal(thanks.status, 200, thanks.text);

    const done = await eventually('the session to end', async () => {
      const now = await session(id);
      return now.status === 'completed' && now;
    });
    assert.equal(done.result.answers['What style would you prefer?'], 'sonnet & co');
    const [closing] = await mail.take('the closing mail', (m) => of(id, ben)(m) && m.messageId !== theirs.messageId);
    assertSound(closing);
    assert.equal(closing.subject, 'Re: [poet] What style would you prefer?');
    assert.equal(closing.inReplyTo, theirs.messageId);
    assert.deepEqual(closing.references, [`<${id}@mail.example.org>`, theirs.messageId]);
    for (const part of [closing.text, closing.html.replaceAll('&amp;', '&')]) assert.ok(part.includes('Answered by ana@example.org: sonnet & co'), part);
    assert.equal(answerLinks(closing).length, 0);
    // Who decided needs no mail about it, and all that is owed has been sent.
    await post.deliveries(id, 'all mails to be delivered', ({ status }) => status === 'delivered', 3);
    assert.equal(mail.mails.filter(of(id)).length, 3);
    // The other's link shows how it ended, and takes no more.
    const late = await world.request('GET', answerLinks(theirs)[0]);
    assert.equal(late.status, 200);
    assert.match(late.text, /ana@example\.org answered/);
    const tooLate = await world.request('POST', pathname, form({ token: tokenOf(theirs), choice: 'haiku', do: 'answer' }));
    assert.equal(tooLate.status, 409);
  });

  test('a server that is busy gets the same mail again, under the same Message-ID', options, async () => {
    const { mail, trigger, of, world } = post;
    mail.trouble[ana] = [451];
    const id = await trigger('solo');
    const [pending] = await post.deliveries(id, 'the first attempt to fail', ({ attempts, last_error: error }) => attempts === 1 && error);
    assert.equal(pending.status, 'pending');
    assert.equal(pending.last_status, 451);
    assert.match(pending.last_error, /451 4\.7\.1 Come back later/);
    const [taken] = await mail.take('the second attempt', of(id), 1, 20_000);
    const [first, second, ...more] = mail.seen.filter(of(id));
    assert.deepEqual(more, []);
    assert.equal(first.messageId, second.messageId);
    assert.equal(taken.messageId, `<${pending.id}@mail.example.org>`);
    // The first may have got through after all: its links work as well.
    for (const m of [first, second]) assert.equal((await world.request('GET', answerLinks(m)[0])).status, 200);
    const [delivered] = await post.deliveries(id, 'the delivery', ({ status }) => status === 'delivered');
    assert.equal(delivered.attempts, 2);
    assert.equal(delivered.last_status, 250);
  });

  test('a recipient that the server does not know is given up at once, with its reason', options, async () => {
    const { mail, trigger, of } = post;
    mail.strangers.add(ben);
    try {
      const id = await trigger('poet');
      const [dead] = await post.deliveries(id, 'a dead delivery', ({ status }) => status === 'dead');
      assert.equal(dead.destination, ben);
      assert.equal(dead.attempts, 1);
      assert.equal(dead.last_status, 550);
      assert.match(dead.last_error, /550 5\.1\.1 No such user here/);
      await mail.take('the mail to the other', of(id, ana));
    } finally {
      mail.strangers.clear();
    }
  });

  test('each question of a batch is a mail', options, async () => {
    const { mail, trigger, of } = post;
    const id = await trigger('batch');
    const found = await mail.take('two mails', of(id), 2);
    for (const words of ['First?', 'Second?']) {
      const m = found.find(({ subject }) => subject.endsWith(words));
      assert.ok(m, found.map(({ subject }) => subject).join());
      assertSound(m);
      assert.equal(m.references, `<${id}@mail.example.org>`);
    }
    assert.notEqual(tokenOf(found[0]), tokenOf(found[1]));
  });

  test('when nobody answers in time, everybody is told so', options, async () => {
    const { mail, trigger, of } = post;
    const id = await trigger('late');
    const closings = await mail.take('two closing mails', (m) => of(id)(m) && m.subject.startsWith('Re: '), 2, 20_000);
    for (const m of closings) assert.match(m.text, /^Expired: nobody answered in time/);
  });

  for (const [i, question] of nasty.entries()) {
    test(`a question that looks like something else stays text: ${JSON.stringify(question.slice(0, 30))}`, options, async () => {
      const { mail, trigger, of } = post;
      const id = await trigger(`nasty${i}`);
      const [m] = await mail.take('the mail', of(id));
      assertSound(m);
      assert.deepEqual([m.headers.get('to').text, m.headers.has('bcc')], [ana, false]);
      assert.ok(m.subject.startsWith(`[nasty${i}] `), m.subject);
      assert.ok([...m.subject].length < 150);
      const lines = (text) => text.replace(/\s+/g, ' ');
      assert.ok(lines(m.text).includes(lines(question).trim()), m.text);
      assert.ok(m.text.includes('<b>bold</b> & "quoted"'));
      assert.ok(!/<(b|i|u|script)>/.test(m.html.replace(/<i>$/, '')), m.html);
      assert.ok(answerLinks(m).some((target) => new URL(target, publicUrl).searchParams.get('answer') === '<b>bold</b> & "quoted"'));
    });
  }
});

// Lines and what nobody sees are the writer's; the words are what counts.
const seen = (text) => text.replace(/[\r\n\t]/g, ' ').replace(/[\u0000-\u001f\u007f\ufeff]/g, '').replace(/\s+/g, ' ').trim();
const unescaped = (html) => html.replace(/<[^>]*>/g, ' ').replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&quot;', '"').replaceAll('&#39;', "'").replaceAll('&amp;', '&');

test(`mails about asks that nobody would write are sound and say what was asked (seed ${seed})`, { timeout: 180_000 }, async () => {
  const cases = fc.sample(generatedAsks, { numRuns: 200, seed });
  const agents = Object.fromEntries(cases.map(({ agent }) => [agent, { runner: 'external', async_questions: true, channels: [`email:${ana}`] }]));
  const post = await start({ agents, limits: { max_options: 25 } });
  const { mail, world, of } = post;
  try {
    let checked = 0;
    for (const { ask, agent } of cases) {
      const { status, json, text } = await world.request('POST', '/agent/ask', { body: { agent, ...ask } });
      assert.equal(status, 202, text);
      const mails = await mail.take(`the mails of ${json.session_id}`, of(json.session_id), ask.questions.length);
      const { json: { deliveries } } = await world.request('GET', `/agent/deliveries?session=${json.session_id}`);
      for (const [i, asked] of ask.questions.entries()) {
        const { id } = deliveries.find(({ question_id: about }) => about === json.questions[i].id);
        const m = mails.find(({ messageId }) => messageId === `<${id}@mail.example.org>`);
        assert.ok(m, `none of the mails asks ${JSON.stringify(asked.question)}`);
        assertSound(m);
        assert.ok(m.subject.startsWith(`[${agent}] `) && [...m.subject].length < 150, m.subject);
        const labels = labelsOf(asked);
        for (const words of [asked.question, ...labels, asked.header ?? '']) {
          assert.ok(seen(m.text).includes(seen(words)), `${JSON.stringify(words)} is not in the text`);
          assert.ok(seen(unescaped(m.html)).includes(seen(words)), `${JSON.stringify(words)} is not in the HTML`);
        }
        const ours = (targets) => targets.filter((target) => target.includes(`/agent/answer/${json.session_id}?token=${tokenOf(m)}`)).map((target) => new URL(target, publicUrl).searchParams.get('answer'));
        for (const targets of [linksOf(m.text), hrefsOf(m.html)]) assert.deepEqual(ours(targets).filter((label) => label !== null), labels);
        checked += 1;
      }
      assert.equal((await world.request('POST', `/agent/session/${json.session_id}/cancel`)).status, 200);
      const closings = await mail.take('the closing mails', (m) => of(json.session_id)(m) && m.inReplyTo, ask.questions.length);
      closings.forEach(assertSound);
    }
    assert.ok(checked > 200, `${checked}`);
  } finally {
    await post.stop();
  }
});

// What an operator gets wrong. Each mail waits, nothing leaks, and the error says what to mend.
const mistakes = {
  'a wrong password': { settings: { smtp_password: 'open barley' }, error: /535 .*user or password is wrong: check \[email\] smtp_user and smtp_password/ },
  'a server without STARTTLS': { offersTls: false, error: /offers no STARTTLS, so nothing was sent; .*smtp_tls = false/ },
  'an authority that is not trusted': { settings: { ca_file: '' }, error: /certificate is not trusted .*ca_file/ },
  'TLS from the start where it is STARTTLS': { url: (url) => url.replace('smtp:', 'smtps:'), error: /port 465 takes smtps:\/\/, ports 587 and 25 take smtp:\/\// },
};
for (const [what, { settings, url, offersTls, error }] of Object.entries(mistakes)) {
  test(`${what}: nothing is sent, and the error names the setting`, options, async () => {
    const mail = await startMailServer({ offersTls });
    const world = await startWorld({ agents: { solo: asks(poem, { channels: [`email:${ana}`] }) }, settings: emailSettings(mail, { ...settings, ...(url ? { smtp_url: url(mail.url) } : {}) }) });
    try {
      const { json } = await world.request('POST', '/agent/webhook/solo', { body: {} });
      const failed = await eventually('the attempt to fail', async () => {
        const { json: { deliveries } } = await world.request('GET', `/agent/deliveries?session=${json.session_id}`);
        return deliveries.find(({ last_error: reason }) => reason);
      });
      assert.match(failed.last_error, error);
      assert.equal(failed.status, 'pending');
      assert.ok(!JSON.stringify(failed).includes('open '), 'the password is shown');
      assert.ok(!world.log.join('\n').includes('open '), 'the password is in the log');
      assert.deepEqual(mail.seen, []);
      assert.deepEqual(mail.logins.filter(({ secure }) => !secure), []);
    } finally {
      await world.stop();
      await mail.close();
    }
  });
}

test('who unsubscribes with one click gets no more mails; who only looks does', options, async () => {
  const post = await start({ agents: { poet: asks(poem) } });
  const { mail, world, trigger, of } = post;
  try {
    const first = await trigger('poet');
    const [m] = await mail.take('the first mail', of(first, ana));
    const [, url] = /\r\nList-Unsubscribe: <(\S+)>\r\n/.exec(m.raw);
    assert.match(m.raw, /\r\nList-Unsubscribe-Post: List-Unsubscribe=One-Click\r\n/);
    assert.ok(url.startsWith(`${publicUrl}/`) && m.text.includes(url) && hrefsOf(m.html).includes(url), url);
    const target = url.slice(publicUrl.length);
    const page = await world.request('GET', target);
    assert.equal(page.status, 200);
    assert.ok(page.text.includes(ana));
    const second = await trigger('poet');
    await mail.take('the second mail', of(second, ana));
    // As RFC 8058 has mail providers do it.
    assert.equal((await world.request('POST', target, form({ 'List-Unsubscribe': 'One-Click' }))).status, 200);
    const third = await trigger('poet');
    await mail.take('the mail to the other', of(third, ben));
    const [dead] = await post.deliveries(third, 'the mail that is not sent', ({ status }) => status === 'dead');
    assert.equal(dead.destination, ana);
    assert.equal(mail.mails.filter(of(third, ana)).length, 0);
  } finally {
    await post.stop();
  }
});

test('a crash before the server said yes repeats the mail under the same Message-ID', options, async () => {
  const post = await start({ agents: { solo: asks(poem, { channels: [`email:${ana}`] }) } });
  const { mail, world, of } = post;
  const yes = gate();
  try {
    mail.slow[ana] = yes.passed;
    const id = await post.trigger('solo');
    await mail.take('the mail that nobody confirms', of(id));
    await world.crash();
    yes.open();
    await world.restart();
    const found = await mail.take('the mail again', of(id), 2, 20_000);
    assert.equal(found[0].messageId, found[1].messageId);
    await post.deliveries(id, 'the delivery', ({ status }) => status === 'delivered');
    // Whichever of the two the person opens, it answers.
    for (const m of found) assert.equal((await world.request('GET', answerLinks(m)[0])).status, 200);
  } finally {
    await post.stop();
  }
});

test('where replies are read, each mail has an address of its own for them', options, async () => {
  const post = await start({ agents: { poet: asks(poem) }, settings: { reply_to: 'reply@mail.example.org', inbound_secret: ['a secret of sixteen characters'] } });
  try {
    const found = await post.mail.take('two mails', post.of(await post.trigger('poet')), 2);
    const addresses = found.map((m) => m.replyTo.value[0].address);
    for (const address of addresses) assert.match(address, /^reply\+[a-z0-9]+@mail\.example\.org$/);
    assert.notEqual(addresses[0], addresses[1]);
    for (const m of found) {
      assert.match(m.text, /Or reply to this mail with the number of your choice/);
      assert.match(m.text, /^2\. sonnet & co \(recommended\)$/m);
    }
  } finally {
    await post.stop();
  }
});

const tryChannel = (world) => new Promise((resolve) => {
  execFile(findBinary(), ['channels', 'test', 'email', '--settings', path.join(world.folder, 'settings.toml')], { cwd: world.folder, timeout: 30_000 }, (error, stdout, stderr) => resolve({ code: error?.code ?? 0, text: stdout + stderr }));
});
test('`holdpoint channels test email` sends a sample and closes it, or says what is wrong', options, async () => {
  const post = await start({ agents: {} });
  try {
    const good = await tryChannel(post.world);
    assert.equal(good.code, 0, good.text);
    assert.match(good.text, /ok .*sample to ana@example\.org/);
    const samples = post.mail.mails.filter(({ to }) => to === ben);
    assert.deepEqual(samples.map(({ subject }) => subject.startsWith('Re: ')), [false, true]);
    assert.equal(samples[1].inReplyTo, samples[0].messageId);
    samples.forEach(assertSound);
    post.mail.strangers.add(ben);
    const bad = await tryChannel(post.world);
    assert.equal(bad.code, 1);
    assert.match(bad.text, /FAIL .*ben@example\.org: .*550/);
  } finally {
    await post.stop();
  }
});

test('in the clear, if the settings say so', options, async () => {
  const post = await start({ agents: { solo: asks(poem, { channels: [`email:${ana}`] }) }, settings: { smtp_tls: false }, offersTls: false });
  try {
    const id = await post.trigger('solo');
    const [m] = await post.mail.take('the mail', post.of(id));
    assert.equal(m.secure, false);
  } finally {
    await post.stop();
  }
});
