// Whatever agents, people and other machines write is text on every page: none of it runs, loads or leads anywhere.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import net from 'node:net';
import { createInterface } from 'node:readline';
import { after, before, test } from 'node:test';
import { eventually } from '../clients/harness.mjs';
import { logIn, programmed, settled, startRefuser } from './scene.mjs';
import { foreignName, openTab, startBrowser, startServer } from './world.mjs';

const away = `//${foreignName}/stolen`;
const payloads = [
  '<script>xss(1)</script>',
  '"><img src=x onerror=xss(2)>',
  "'><svg onload=xss(3)>",
  'javascript:xss(4)',
  '</title></textarea></style></noscript></script><script>xss(5)</script>',
  '" autofocus onfocus=xss(6) tabindex=0 x="',
  "' onmouseover='xss(7)' style='position:fixed;inset:0",
  '{{title}}{{me}}${xss(8)}<%= xss(8) %>',
  '\u2028\u2029";xss(9);//',
  '\u202Etxt.exe\u202C <bdo dir=rtl>xss(10)</bdo>\u2066\u200F',
  '<iframe srcdoc="<script>parent.xss(11)</script>"></iframe>',
  '<a href="javascript:xss(12)">click</a>',
  '&lt;img src=x onerror=xss(13)&gt;&#60;script&#62;xss(13)&#60;/script&#62;',
  `<img src=${away}><link rel=stylesheet href=${away}><base href=${away}>`,
  `<meta http-equiv=refresh content="0;url=${away}"><form action=${away}><button>`,
  `[x](javascript:xss(16)) ![y](${away}) https:${away}`,
  '<template><script>xss(17)</script></template><!-- --!><script>xss(17)</script>',
  '__proto__',
  'constructor',
];
const all = payloads.join('\n');
// All of them, after the field's own name; a page shows at least how it begins.
const marked = (field) => `${field} ${all}`;
const begins = (...fields) => fields.map((field) => `${field} ${payloads[0]}`);
// A field's own, so that each has every one of them somewhere.
let turn = 0;
const one = () => payloads[(turn += 1) % payloads.length];
const short = ['<b>"\'&</b>', '"><svg/onx', '{{me}}\u202Ex', 'javascript:'];
const object = (field) => ({ [`${field}-key ${payloads[0]}`]: marked(field), ...Object.fromEntries(payloads.map((text) => [text, { [text]: [text, { deep: text }] }])) });

// Takes no mail, and says why.
async function startRudeMailServer() {
  const server = net.createServer((socket) => {
    socket.on('error', () => {});
    socket.write('220 rude ESMTP\r\n');
    createInterface({ input: socket, crlfDelay: Infinity }).on('line', (line) => socket.write(line.startsWith('RCPT') ? `550 refusal ${payloads[0]} ${payloads[1]}\r\n` : '250 fine\r\n'));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { url: `smtp://127.0.0.1:${server.address().port}`, stop: () => server.close() };
}

let browser;
let server;
let mail;
let refuser;
const there = {};
before(async () => {
  browser = await startBrowser();
  mail = await startRudeMailServer();
  refuser = await startRefuser();
  server = await startServer({
    agents: {
      hostile: programmed,
      listed: { text: marked('about'), answerers: [...payloads, ...begins('answerer')] },
      called: { question_callback: `${refuser.url}/${encodeURI(payloads[1])}?'><svg/onload=xss(20)>` },
      mailed: { channels: ['email:ana@example.org'] },
    },
    settings: `
[outgoing]
allow_private = ["127.0.0.0/8"]
[email]
smtp_url = "${mail.url}"
smtp_tls = false
from = "holdpoint@example.org"
`,
  });
  const options = () => Array.from({ length: 5 }, (_, i) => ({ label: one(), description: i === 0 ? marked('description').slice(0, 150) : one(), emoji: short[i % 4], recommended: i === 1 }))
    .filter(({ label }, i, found) => found.findIndex((other) => other.label === label) === i);
  const questions = () => short.map((header, i) => ({ question: `${i} ${all}`, header, options: options(), multi_select: i === 1 }));
  const ask = async (agent, list, context = object('context')) => server.call('POST', '/agent/ask', { agent, context, questions: list });
  const trigger = async (payload) => (await server.call('POST', '/agent/webhook/hostile', payload)).session_id;
  const look = (session) => server.call('GET', `/agent/session/${session}`);
  const until = (session, status) => eventually(`a session that is ${status}`, async () => (await look(session)).status === status);

  there.pending = await ask('caller', questions());
  there.listed = await ask('listed', [{ question: all }]);
  there.called = await ask('called', [{ question: all }]);
  there.mailed = await ask('mailed', [{ question: all, options: options() }]);
  // Answered with one's own words and by a name of one's choice; with options; by whoever has a link of such a name.
  there.answered = await ask('caller', questions());
  await server.call('POST', `/agent/answer/${there.answered.session_id}`, {
    answers: Object.fromEntries(there.answered.questions.map(({ id, choices }, i) => [id, i % 2 ? marked('own') : choices[0].label])), answered_by: begins('by')[0],
  });
  there.linked = await ask('caller', [{ question: all, options: options() }]);
  there.link = await server.link(there.linked.questions[0].id, begins('recipient')[0]);
  there.cancelled = await ask('caller', [{ question: all }]);
  await server.call('POST', `/agent/session/${there.cancelled.session_id}/cancel`, { reason: marked('reason').slice(0, 900) });
  // What a program says in a turn.
  there.failed = await trigger({ error: marked('error'), log: marked('log'), ...object('payload') });
  there.done = await trigger({ ask: { questions: [{ question: all }], context: object('context') }, state: object('state'), result: object('result'), log: marked('log') });
  await until(there.done, 'pending_input');
  await server.call('POST', `/agent/session/${there.done}/message`, { message: object('json-message') });
  await server.call('POST', `/agent/session/${there.done}/message`, { message: marked('message') });
  await server.call('POST', `/agent/answer/${there.done}`, { answer: marked('own'), answered_by: begins('by')[0] });
  await until(there.done, 'completed');
  await until(there.failed, 'failed');
  await eventually('dead deliveries', async () => (await server.call('GET', '/agent/deliveries?status=dead')).deliveries.length >= 2);
  // A key goes by its name; from here on the server is closed.
  there.keyed = await ask('caller', [{ question: all }]);
  server.key = (await server.call('POST', '/agent/keys', { name: begins('key')[0], scopes: ['admin', 'questions:answer'] })).key;
  await server.call('POST', `/agent/answer/${there.keyed.session_id}`, { answer: 'yes' });
  await server.addUser('root', 'admin');
}, { timeout: 60_000 });
after(async () => {
  await browser?.close();
  await server?.stop();
  mail?.stop();
  refuser?.stop();
});

// Runs before anything of the page: notes what ran, and what the policy had to forbid.
function watchPage() {
  window.ran = [];
  window.violations = [];
  window.xss = (what) => { window.ran.push(what); };
  for (const name of ['alert', 'confirm', 'prompt']) window[name] = () => window.ran.push(name);
  document.addEventListener('securitypolicyviolation', (event) => window.violations.push(`${event.effectiveDirective} ${event.blockedURI} ${event.sample}`));
}

// What the page has become, as the browser sees it.
const inspect = (page) => page.evaluate(() => {
  const nodes = [...document.querySelectorAll('*')];
  const isForeign = (url) => { try { return new URL(url, location.href).origin !== location.origin; } catch { return true; } };
  return {
    ran: window.ran,
    violations: window.violations,
    armed: nodes.flatMap((node) => [...node.attributes].filter(({ name, value }) => /^on|^style$|^srcdoc$/.test(name)
      || (['href', 'src', 'action', 'formaction', 'xlink:href', 'data'].includes(name) && isForeign(value))).map(({ name, value }) => `<${node.localName} ${name}=${value}>`)),
    // The address of each is one of this server's; there is none else.
    foreign: nodes.filter((node) => ['iframe', 'object', 'embed', 'base', 'bdo', 'template', 'style'].includes(node.localName) || (node.localName === 'script' && !node.src)
      || (node.localName === 'meta' && node.httpEquiv)).map((node) => node.outerHTML),
    scripts: document.scripts.length,
    polluted: Object.keys(Object.prototype).length,
    text: document.querySelector('main').textContent,
  };
});

// Opens a page with `open`, and has it be harmless; `shown` is what it must show.
async function harmless(tab, name, open, shown = []) {
  tab.asked.length = 0;
  await open(tab.page);
  const found = await inspect(tab.page);
  const { text, scripts, ...harm } = found;
  assert.deepEqual(harm, { ran: [], violations: [], armed: [], foreign: [], polluted: 0 }, name);
  assert.ok(scripts <= 1, `${name} has ${scripts} scripts`);
  for (const wanted of shown) assert.ok(text.includes(wanted), `${name} does not show ${JSON.stringify(wanted)}:\n${text}`);
  assert.deepEqual(tab.asked.filter((url) => new URL(url).origin !== server.url), [], `${name} asked elsewhere`);
}

const inTab = (name, act) => test(name, { timeout: 90_000 }, async () => {
  const tab = await openTab(browser);
  tab.asked = [];
  await tab.context.addInitScript(watchPage);
  tab.page.on('request', (request) => tab.asked.push(request.url()));
  tab.page.on('dialog', (dialog) => { tab.complaints.push(`dialog: ${dialog.message()}`); dialog.dismiss(); });
  try {
    await act(tab);
    assert.deepEqual(tab.complaints, [], 'what the browser complained about');
  } finally {
    await tab.close();
  }
});

// The page has what is written in `all` in one piece.
const whole = payloads.filter((text) => text.length > 12);

inTab('in the inbox, whichever request is open', async (tab) => {
  await logIn(tab.page, server, 'root');
  await settled(tab.page);
  await harmless(tab, 'the list', async () => {});
  for (const [name, { questions }] of Object.entries({ caller: there.pending, listed: there.listed, called: there.called, mailed: there.mailed, linked: there.linked })) {
    for (const [i, { id }] of questions.entries()) {
      await harmless(tab, `the card of ${name} ${i}`, async (page) => {
        // By another address, so that the browser loads it anew.
        await page.goto(`${server.url}/?of=${id}#${id}`);
        await settled(page);
        await page.locator('#ask-title').waitFor();
        for (let step = 0; step < i; step += 1) await page.getByRole('button', { name: 'Next', exact: true }).click();
        if (i > 0) await page.getByText(`${i + 1}/${questions.length}`).waitFor();
        for (const details of await page.locator('main details:not([open]) summary').all()) await details.click();
      }, [...whole, ...begins('context', 'context-key'), ...(['caller', 'mailed'].includes(name) ? begins('description') : []), ...(name === 'caller' ? [short[i]] : [])]);
    }
  }
});

inTab('on pages of sessions, with all that unfolds', async (tab) => {
  await logIn(tab.page, server, 'root', '/sessions');
  await settled(tab.page);
  await harmless(tab, 'the sessions', async () => {});
  const sessions = {
    pending: [there.pending.session_id, [payloads[0]]],
    called: [there.called.session_id, []],
    mailed: [there.mailed.session_id, begins('refusal')],
    answered: [there.answered.session_id, begins('own', 'by')],
    cancelled: [there.cancelled.session_id, begins('reason')],
    keyed: [there.keyed.session_id, begins('key')],
    failed: [there.failed, begins('error', 'log', 'payload', 'payload-key')],
    done: [there.done, begins('state', 'state-key', 'result', 'own', 'by', 'log', 'message', 'json-message')],
  };
  for (const [name, [session, shown]] of Object.entries(sessions)) {
    await harmless(tab, `the session ${name}`, async (page) => {
      await page.goto(`${server.url}/session/${session}`);
      await settled(page);
      await page.evaluate(() => document.querySelectorAll('main details').forEach((details) => { details.open = true; }));
    }, shown);
  }
});

inTab('on the pages of agents and operations', async (tab) => {
  await logIn(tab.page, server, 'root', '/agents');
  for (const [path, shown] of [['/agents', begins('answerer', 'about')], ['/operations', begins('refusal')]]) {
    await harmless(tab, path, async (page) => {
      await page.goto(server.url + path);
      await settled(page);
    }, shown);
  }
});

inTab('on pages without script', async (tab) => {
  await logIn(tab.page, server, 'root', '/questions');
  const go = (path) => (page) => page.goto(server.url + path);
  await harmless(tab, 'the plain list', go('/questions'), [payloads[0]]);
  for (const name of ['pending', 'called', 'mailed', 'answered', 'cancelled', 'listed']) {
    for (const { id } of there[name].questions) await harmless(tab, `the question ${name}`, go(`/question/${id}`), whole);
  }
  await harmless(tab, 'the link', go(`${there.link}&answer=${encodeURIComponent(all)}`), whole);
  await harmless(tab, 'a refused form', async (page) => {
    await page.getByRole('radio').first().check();
    await page.getByLabel('Or in your own words').fill(all);
    await page.getByRole('button', { name: 'Answer' }).click();
    await page.getByRole('alert').waitFor();
  }, whole);
  await harmless(tab, 'asking to cancel', async (page) => {
    await page.getByRole('button', { name: 'Cancel this request' }).click();
    await page.getByRole('button', { name: 'Keep it' }).waitFor();
  }, whole);
  tab.complaints.length = 0;  // That a form was refused.
  await harmless(tab, 'the thanks', async (page) => {
    await page.goto(server.url + there.link);
    await page.getByLabel('Or in your own words').fill(all);
    await page.getByRole('button', { name: 'Answer' }).click();
    await page.getByText('Your answer is kept').waitFor();
  }, whole);
  await harmless(tab, 'the settled page of a link', go(there.link), begins('recipient'));
  await harmless(tab, 'the login', async (page) => {
    await tab.context.clearCookies();
    await page.goto(`${server.url}/login?next=${encodeURIComponent(`/${payloads[0]}`)}`);
    await page.getByLabel('Name').fill(payloads[1]);
    await page.getByLabel('Password').fill(payloads[1]);
    await page.getByRole('button', { name: 'Log in' }).click();
    await page.getByRole('alert').waitFor();
    assert.equal(await page.getByLabel('Name').inputValue(), payloads[1]);
  });
  tab.complaints.length = 0;  // That the password was wrong.
});

inTab('this test notices what runs, loads, or is forbidden by the policy', async (tab) => {
  await tab.page.goto(`${server.url}/login`);
  await tab.page.evaluate(() => {
    window.xss(0);
    document.body.insertAdjacentHTML('beforeend', '<img src="https://evil.test/x" onerror="xss(1)"><a href="javascript:xss(2)">x</a>');
  });
  await eventually('a violation', () => tab.page.evaluate(() => window.violations.length > 0));
  const found = await inspect(tab.page);
  assert.deepEqual(found.ran, [0]);
  assert.equal(found.armed.length, 3);
  tab.complaints.length = 0;
});
