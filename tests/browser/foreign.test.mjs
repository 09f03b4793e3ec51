// What a page of another site can make our visitors' browsers do: nothing.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { eventually } from '../clients/harness.mjs';
import { openTab, password, startBrowser, startForeignSite, startServer } from './world.mjs';

let browser;
let site;
before(async () => {
  browser = await startBrowser();
  site = await startForeignSite();
});
after(async () => {
  await browser?.close();
  await site?.stop();
});

const escape = (text) => String(text).replace(/&/g, '&amp;').replace(/"/g, '&quot;');
const noReferrer = '<meta name="referrer" content="no-referrer">';
const html = (body, head = '') => `<!doctype html><html><head><meta charset="utf-8">${head}<title>foreign</title></head><body>${body}</body></html>`;
const form = (action, fields, { type = 'application/x-www-form-urlencoded', target = '_self' } = {}) =>
  `<form method="post" action="${action}" enctype="${type}" target="${target}">${Object.entries(fields).map(([name, value]) =>
    `<input type="hidden" name="${escape(name)}" value="${escape(value)}">`).join('')}</form><script>document.forms[0].submit()</script>`;

// Pages that navigate by themselves, each to an address of ours.
function submissions(server, question, nonce) {
  const answer = { choice: 'yes', do: 'answer', nonce, token: 'A'.repeat(43) };
  const toQuestion = `/question/${question.id}`;
  const toAnswer = `/agent/answer/${question.session}`;
  const json = { [`{"answer":"yes","x":"`]: '"}' };
  return {
    'a form to the question': form(server + toQuestion, answer),
    'a form to the question, to be called off': form(server + toQuestion, { ...answer, do: 'cancel' }),
    'a form of several parts': form(server + toQuestion, answer, { type: 'multipart/form-data' }),
    'a form to the answer link': form(server + toAnswer, answer),
    'a form that looks like JSON': form(server + toAnswer, json, { type: 'text/plain' }),
    'a form that cancels the session': form(`${server}/agent/session/${question.session}/cancel`, {}),
    'a form that starts an agent': form(`${server}/agent/webhook/worker`, {}),
    'a form that asks': form(`${server}/agent/ask`, json, { type: 'text/plain' }),
    'a form that logs out': form(`${server}/logout`, { nonce }),
    'a form that makes a user': form(`${server}/agent/users`, { '{"name":"eve","role":"admin","x":"': '"}' }, { type: 'text/plain' }),
  };
}

// A page whose script tries everything that needs no navigation, and says in its title when it is done.
const scripted = (server, question) => html(`<script>
  const answer = ${JSON.stringify(`${server}/agent/answer/${question.session}`)};
  const page = ${JSON.stringify(`${server}/question/${question.id}`)};
  const json = JSON.stringify({ answer: 'yes' });
  const fields = new URLSearchParams({ choice: 'yes', do: 'answer' });
  const read = [];
  const attempt = async (url, options) => {
    try {
      const response = await fetch(url, { credentials: 'include', ...options });
      const text = await response.text();
      if (text) read.push(url + ' ' + text.slice(0, 80));
    } catch {}
  };
  const json_type = { 'content-type': 'application/json' };
  (async () => {
    for (const mode of ['no-cors', 'cors']) {
      await attempt(answer, { method: 'POST', mode, headers: { 'content-type': 'text/plain' }, body: json });
      await attempt(answer, { method: 'POST', mode, body: new Blob([json]) });
      await attempt(answer, { method: 'POST', mode, body: fields });
      await attempt(page, { method: 'POST', mode, body: fields, referrerPolicy: 'no-referrer' });
      await attempt(page, { mode });
      await attempt(${JSON.stringify(`${server}/agent/questions`)}, { mode });
      await attempt(${JSON.stringify(`${server}/agent/me`)}, { mode });
    }
    await attempt(answer, { method: 'POST', mode: 'cors', headers: json_type, body: json });
    await attempt(answer, { method: 'POST', mode: 'cors', headers: { ...json_type, 'x-csrf-token': 'x' }, body: json });
    await attempt(${JSON.stringify(`${server}/agent/webhook/worker`)}, { method: 'POST', mode: 'no-cors' });
    await attempt(${JSON.stringify(`${server}/agent/session/${question.session}/cancel`)}, { method: 'POST', mode: 'no-cors' });
    await attempt(${JSON.stringify(`${server}/logout`)}, { method: 'POST', mode: 'no-cors' });
    for (const path of ['/agent/webhook/worker', '/logout', ${JSON.stringify(`/agent/session/${question.session}/cancel`)}]) {
      await attempt(${JSON.stringify(server)} + path, { method: 'POST', mode: 'no-cors', referrerPolicy: 'no-referrer' });
    }
    navigator.sendBeacon(answer, json);
    navigator.sendBeacon(answer, new Blob([json], { type: 'text/plain' }));
    navigator.sendBeacon(page, fields);
    const load = (tag, name, url) => new Promise((done) => {
      const element = Object.assign(document.createElement(tag), { onload: done, onerror: done, rel: 'stylesheet', [name]: url });
      document.head.append(element);
    });
    await load('img', 'src', page + '?choice=yes&do=answer');
    await load('script', 'src', ${JSON.stringify(`${server}/agent/questions`)});
    await load('link', 'href', page);
    window.read = read;
    document.title = 'done';
  })();
</script>`);

async function signIn({ page }, ours) {
  await page.goto(`${ours}/login`);
  await page.getByLabel('Name').fill('ana');
  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: 'Log in' }).click();
  await page.getByRole('button', { name: 'Log out' }).waitFor();
}

// In open mode everybody on this machine may answer; closed, the browser is logged in as somebody who may. By a name that is not
// this machine's, browsers say less about where a request comes from.
const seats = ['open', 'closed'].flatMap((mode) => ['url', 'named'].flatMap((base) => ['sameSite', 'crossSite'].map((from) => ({ mode, base, from }))));
for (const { mode, base, from } of seats) {
  const who = from === 'sameSite' ? 'a page of another port' : 'a page of another site';
  const where = base === 'url' ? "by this machine's address" : 'by a name';
  test(`${who} changes and reads nothing; ${mode} mode, ${where}`, { timeout: 60_000 }, async () => {
    const server = await startServer({ agents: { worker: { runner: 'command', command: ['true'], async_questions: false } } });
    const ours = server[base];
    const theirs = from === 'sameSite' ? site.sameSite[base] : site.crossSite;
    const tab = await openTab(browser);
    try {
      const question = await server.ask({ question: 'Ship it?', options: ['yes', 'no'] });
      if (mode === 'closed') {
        await server.closeUp();
        await server.addUser('ana', 'admin');
        await signIn(tab, ours);
      }
      const logins = async () => (await tab.context.cookies()).filter(({ name }) => name === 'holdpoint');
      const login = await logins();
      assert.equal(login.length, mode === 'closed' ? 1 : 0);
      const entries = await server.audit();
      const unchanged = async (what) => {
        assert.equal((await server.question(question.id)).status, 'pending', what);
        assert.deepEqual(await server.audit(), entries, what);
        assert.deepEqual(await logins(), login, what);
      };
      const isPost = (response) => response.request().method() === 'POST' && response.url().startsWith(ours);
      // Sends the browser to a page that sends a form to us by itself; the status that we answered.
      const attack = async (body, head) => {
        site.pages['/attack'] = html(body, head);
        const answered = tab.page.waitForResponse(isPost);
        // Broken off by the form's own navigation.
        await tab.page.goto(`${theirs}/attack`).catch(() => {});
        return (await answered).status();
      };

      // The attacker has looked at our pages himself: but his nonce is nobody else's.
      const nonce = (await (await fetch(`${server.url}/login`)).text()).match(/name="nonce" value="([^"]*)"/)[1];
      // Without a Referer the browser says "null" for an origin, as it does for our own forms.
      const heads = base === 'url' && from === 'sameSite' ? ['', noReferrer] : [noReferrer];
      for (const [what, body] of Object.entries(submissions(ours, question, nonce))) {
        for (const head of heads) {
          const status = await attack(body, head);
          assert.ok(status >= 400 && status < 500, `${what} ${head}: ${status}`);
        }
        await unchanged(what);
      }
      // So it does for a frame in a sandbox.
      site.pages['/frame'] = html(form(`${ours}/question/${question.id}`, { choice: 'yes', do: 'answer', nonce }));
      const status = await attack('<iframe sandbox="allow-scripts allow-forms" src="/frame"></iframe>');
      assert.ok([401, 403].includes(status), `a form in a sandbox: ${status}`);

      const before = await server.refusals();
      site.pages['/attack'] = scripted(ours, question);
      await tab.page.goto(`${theirs}/attack`);
      await tab.page.waitForFunction(() => document.title === 'done');
      assert.deepEqual(await tab.page.evaluate(() => window.read), [], 'what the foreign page could read');
      // Beacons may arrive after the page is done.
      await eventually('20 requests of the foreign page to be refused', async () => await server.refusals() - before >= 20);
      await unchanged('scripts');
    } finally {
      await tab.close();
      await server.stop();
    }
  });
}

test('a foreign page cannot log somebody in as somebody else', { timeout: 60_000 }, async () => {
  const server = await startServer();
  const tab = await openTab(browser);
  try {
    await server.closeUp();
    await server.addUser('eve', 'answerer');
    const nonce = (await (await fetch(`${server.url}/login`)).text()).match(/name="nonce" value="([^"]*)"/)[1];
    for (const base of ['url', 'named']) {
      for (const from of ['sameSite', 'crossSite']) {
        for (const head of ['', noReferrer]) {
          site.pages['/attack'] = html(form(`${server[base]}/login`, { name: 'eve', password, nonce, next: '/' }), head);
          const sent = tab.page.waitForResponse((response) => response.request().method() === 'POST');
          await tab.page.goto(`${from === 'sameSite' ? site.sameSite[base] : site.crossSite}/attack`).catch(() => {});
          const status = (await sent).status();
          assert.ok(status >= 400 && status < 500, `${base} ${from} ${head}: ${status}`);
          assert.deepEqual((await server.audit()).filter((row) => row.action === 'logged_in'), []);
        }
      }
    }
  } finally {
    await tab.close();
    await server.stop();
  }
});

test('our pages show up in no frame of another site, and its window has no hold on ours', { timeout: 60_000 }, async () => {
  const server = await startServer();
  const tab = await openTab(browser);
  try {
    const question = await server.ask({ question: 'Ship it?', options: ['yes', 'no'] });
    const link = await server.link(question.id, 'ana');
    const paths = ['/', '/sessions', '/questions', '/login', `/question/${question.id}`, link];
    for (const path of paths) {
      for (const theirs of [site.sameSite.url, site.crossSite]) {
        site.pages['/attack'] = html(`<iframe src="${escape(server.url + path)}"></iframe><object data="${escape(server.url + path)}"></object>`);
        await tab.page.goto(`${theirs}/attack`);
        const texts = await Promise.all(tab.page.frames().slice(1).map((frame) => frame.textContent('body', { timeout: 2000 }).catch(() => '')));
        assert.ok(tab.page.frames().length > 1, 'there is no frame to look into');
        assert.ok(!texts.some((text) => /Ship it|Log in|Waiting|Sessions/.test(text)), `${path} is framed: ${texts}`);
      }
    }
    site.pages['/attack'] = html(`<button onclick="window.ours = window.open('${server.url}/questions')">open</button>`);
    await tab.page.goto(`${site.crossSite}/attack`);
    const [popup] = await Promise.all([tab.context.waitForEvent('page'), tab.page.getByRole('button').click()]);
    await popup.getByText('Ship it?').waitFor();
    assert.equal(await popup.evaluate(() => window.opener), null);
    // The foreign page, in a process of its own, hears of it a little later.
    await eventually('the foreign page to lose hold of our window', () => tab.page.evaluate(() => window.ours.closed));
  } finally {
    await tab.close();
    await server.stop();
  }
});

test('the token of a link goes to no other site', { timeout: 60_000 }, async () => {
  const server = await startServer();
  const tab = await openTab(browser);
  try {
    const question = await server.ask({ question: `See ${site.crossSite}/away`, options: ['yes', 'no'] });
    const link = await server.link(question.id, 'ana');
    const headers = [];
    tab.page.on('request', (request) => headers.push(request.allHeaders().then((all) => ({ url: request.url(), ...all }))));
    site.pages['/away'] = html('away');
    await tab.page.goto(server.url + link);
    await tab.page.evaluate((url) => { location.href = url; }, `${site.crossSite}/away`);
    await tab.page.getByText('away', { exact: true }).waitFor();
    assert.equal(await tab.page.evaluate(() => document.referrer), '');
    const token = new URLSearchParams(link.split('?')[1]).get('token');
    const carried = (await Promise.all(headers)).filter(({ referer }) => referer?.includes(token));
    assert.deepEqual(carried, []);
  } finally {
    await tab.close();
    await server.stop();
  }
});
