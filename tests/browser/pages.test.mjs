// What people do with our pages, by clicking.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { openTab, password, startBrowser, startServer } from './world.mjs';

const options = [{ label: 'yes', description: 'at once', recommended: true }, { label: 'no' }];
let browser;
before(async () => { browser = await startBrowser(); });
after(() => browser?.close());

// Runs `act` in a tab in front of a fresh server; the browser must have had nothing to complain about, but that a form was
// refused where `refused` names the status, and that some headers count for less without TLS. Whether there is an icon has a
// case of its own.
const inTab = (name, act, refused) => test(name, { timeout: 60_000 }, async () => {
  const server = await startServer({ agents: { firm: { allow_cancel: false } } });
  const tab = await openTab(browser);
  try {
    await act({ server, ...tab });
    const known = (text) => text.endsWith('/favicon.ico') || (refused && text.includes(`status of ${refused} `))
      || (text.includes('Cross-Origin-Opener-Policy header has been ignored') && text.includes(`${server.named}/`));
    assert.deepEqual(tab.complaints.filter((text) => !known(text)), [], 'what the browser complained about');
  } finally {
    await tab.close();
    await server.stop();
  }
});

// What a press leads to may take its time: until then the page before it is there.
const says = (page, words) => page.locator('main').filter({ hasText: words }).waitFor();
const headed = (page, title) => page.getByRole('heading', { name: title, exact: true }).waitFor();

const logIn = async (page, name) => {
  await page.getByLabel('Name').fill(name);
  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: 'Log in' }).click();
};

inTab('in open mode the plain list leads to a question, and a click answers it', async ({ server, page }) => {
  const { id } = await server.ask({ question: 'Ship it?', options }, { version: '1.2.3' });
  await server.ask({ question: 'Another one?' });
  await page.goto(`${server.url}/questions`);
  assert.equal(await page.getByRole('listitem').count(), 2);
  await page.getByRole('link', { name: 'Ship it?' }).click();
  await headed(page, 'Ship it?');
  assert.match(await page.locator('dl').textContent(), /version\s*1\.2\.3/);
  await page.getByLabel('yes').check();
  await page.getByRole('button', { name: 'Answer' }).click();
  await says(page, /Your answer is kept/);
  const { status, answer, answered_via } = await server.question(id);
  assert.deepEqual([status, answer, answered_via], ['answered', 'yes', 'web']);
  await page.goto(`${server.url}/questions`);
  assert.equal(await page.getByRole('listitem').count(), 1);
});

inTab('an answer link: the form is taken, thanks can be reloaded, and going back shows who decided', async ({ server, page }) => {
  const { id } = await server.ask({ question: 'Ship it?', options });
  const link = await server.link(id, 'ana@example.org');
  const origins = [];
  page.on('request', (request) => { if (request.method() === 'POST') origins.push(request.headers().origin); });
  await page.goto(server.url + link);
  await page.getByLabel('no', { exact: true }).check();
  await page.getByRole('button', { name: 'Answer' }).click();
  await says(page, /Your answer is kept[^]*no/);
  // As no page of ours sends a Referer, the browser names no origin either.
  assert.deepEqual(origins, ['null']);
  assert.ok(!page.url().includes('token'), `the token is still in ${page.url()}`);
  const { answer, answered_by, answered_via } = await server.question(id);
  assert.deepEqual([answer, answered_by, answered_via], ['no', 'ana@example.org', 'link']);
  await page.reload();
  await says(page, /Your answer is kept[^]*no/);
  await page.goBack();
  await says(page, /ana@example\.org answered on \d{4}-\d\d-\d\d \d\d:\d\d UTC[^]*no/);
  assert.equal(await page.locator('form').count(), 0);
  assert.equal((await server.audit()).filter((row) => row.action === 'question_answered').length, 1);
});

inTab('a mail button fills the form in, a wrong form is shown again as it was, and own words are kept', async ({ server, page }) => {
  const { id } = await server.ask({ question: 'Ship it?', options });
  const link = await server.link(id, 'ana');
  await page.goto(`${server.url}${link}&answer=yes`);
  assert.ok(await page.getByLabel('yes').isChecked());
  const own = page.getByLabel('Or in your own words');
  await own.fill('\nFirst <b>line</b>\nsecond & "last"');
  const answered = page.waitForResponse((response) => response.request().method() === 'POST');
  await page.getByRole('button', { name: 'Answer' }).click();
  assert.equal((await answered).status(), 422);
  assert.match(await page.getByRole('alert').textContent(), /one option or/);
  assert.ok(await page.getByLabel('yes').isChecked());
  assert.equal((await own.inputValue()).trim(), 'First <b>line</b>\nsecond & "last"');
  assert.equal((await server.question(id)).status, 'pending');
}, 422);

inTab('a request is called off by link after one more press, unless the agent forbids it', async ({ server, page }) => {
  const { id } = await server.ask({ question: 'Ship it?', options });
  await page.goto(server.url + await server.link(id, 'ana'));
  await page.getByLabel('yes').check();
  await page.getByRole('button', { name: 'Cancel this request' }).click();
  await headed(page, 'Cancel this request?');
  assert.equal((await server.question(id)).status, 'pending');
  await page.getByRole('button', { name: 'Keep it' }).click();
  await headed(page, 'Ship it?');
  assert.ok(await page.getByLabel('yes').isChecked());
  await page.getByRole('button', { name: 'Cancel this request' }).click();
  await page.getByRole('button', { name: 'Yes, cancel it' }).click();
  await says(page, /You cancelled this request/);
  assert.equal((await server.question(id)).status, 'cancelled');
  const firm = await server.ask({ question: 'Firm?' }, {}, 'firm');
  await page.goto(server.url + await server.link(firm.id, 'ana'));
  assert.equal(await page.getByRole('button').count(), 1);
});

inTab('a batch is answered page by page, and the agent is said to go on after the last', async ({ server, page }) => {
  const asked = await server.call('POST', '/agent/ask', { agent: 'caller', questions: ['First?', 'Second?', 'Third?'].map((question) => ({ question })) });
  await page.goto(`${server.url}/question/${asked.questions[1].id}`);
  for (const [heading, place, then] of [['Second?', 2, /2 more questions/], ['Third?', 3, /one more question/], ['First?', 1, /the agent goes on with it/]]) {
    await headed(page, heading);
    await page.getByText(`question ${place} of 3`).waitFor();
    await page.getByLabel('Your answer').fill(heading);
    await page.getByRole('button', { name: 'Answer' }).click();
    await says(page, then);
    if (place !== 1) await page.getByRole('link', { name: 'Go on to the next question' }).click();
  }
  assert.equal((await server.call('GET', `/agent/session/${asked.session_id}`)).status, 'completed');
});

inTab('a viewer sees all of a question and nothing to press', async ({ server, page }) => {
  await server.closeUp();
  await server.addUser('vera', 'viewer');
  const { id } = await server.ask({ question: 'Ship it?', options }, { version: '1.2.3' });
  await page.goto(`${server.url}/question/${id}`);
  await logIn(page, 'vera');
  await says(page, /Ship it\?[^]*1\.2\.3[^]*yes[^]*at once[^]*no[^]*You may see this question, not answer it/);
  assert.equal(await page.locator('input, button, textarea, form').count(), 0);
});

for (const [what, base] of [['by the address of this machine', 'url'], ['by a name, without TLS', 'named']]) {
  inTab(`somebody logs in ${what}, answers and logs out`, async ({ server, context, page }) => {
    await server.closeUp();
    await server.addUser('ana', 'answerer');
    const { id } = await server.ask({ question: 'Ship it?', options });
    await page.goto(`${server[base]}/question/${id}`);
    assert.match(page.url(), /\/login\?next=/);
    await logIn(page, 'ana');
    await headed(page, 'Ship it?');
    const login = async () => (await context.cookies()).find(({ name }) => name === 'holdpoint');
    const cookie = await login();
    assert.deepEqual([cookie.name, cookie.httpOnly, cookie.sameSite, cookie.secure], ['holdpoint', true, 'Lax', false]);
    await page.getByLabel('yes').check();
    await page.getByRole('button', { name: 'Answer' }).click();
    await says(page, /Your answer is kept/);
    assert.deepEqual(await server.question(id).then((q) => [q.answer, q.answered_by]), ['yes', 'ana']);
    await page.goto(`${server[base]}/questions`);
    await says(page, /You are ana/);
    await page.getByRole('button', { name: 'Log out' }).click();
    await page.waitForURL(/\/login$/);
    assert.equal(await login(), undefined);
    await page.goBack();
    assert.match(page.url(), /\/login/);
  });

  inTab(`an answer link works ${what}`, async ({ server, page }) => {
    const { id } = await server.ask({ question: 'Ship it?', options });
    await page.goto(server[base] + await server.link(id, 'ana'));
    await page.getByLabel('yes').check();
    await page.getByRole('button', { name: 'Answer' }).click();
    await says(page, /Your answer is kept/);
    assert.equal((await server.question(id)).answered_by, 'ana');
  });
}

inTab('a wrong password keeps the name, and says so', async ({ server, page }) => {
  await server.closeUp();
  await server.addUser('ana', 'viewer');
  await page.goto(`${server.url}/`);
  await page.getByLabel('Name').fill('ana');
  await page.getByLabel('Password').fill('not it at all');
  await page.getByRole('button', { name: 'Log in' }).click();
  assert.match(await page.getByRole('alert').textContent(), /do not go together/);
  assert.equal(await page.getByLabel('Name').inputValue(), 'ana');
  assert.equal(await page.getByLabel('Password').inputValue(), '');
}, 401);

inTab('nothing that a page makes the browser ask for is missing', async ({ server, page }) => {
  const types = { icon: /^image\//, stylesheet: /^text\/css/, modulepreload: /^text\/javascript/, module: /^text\/javascript/ };
  for (const path of ['/', '/questions']) {
    await page.goto(server.url + path);
    const named = await page.locator('link, script').evaluateAll((nodes) => nodes.map((node) => [node.rel ?? node.type, node.href ?? node.src]));
    // Where no icon is named, browsers ask for this one.
    if (!named.some(([rel]) => rel === 'icon')) named.push(['icon', `${server.url}/favicon.ico`]);
    for (const [rel, href] of named) {
      const response = await fetch(href);
      assert.ok(response.ok, `${rel} ${href} -> ${response.status}`);
      assert.match(response.headers.get('content-type'), types[rel], href);
    }
  }
});

inTab('a question can be answered by keyboard alone', async ({ server, page }) => {
  const { id } = await server.ask({ question: 'Ship it?', options });
  await page.goto(server.url + await server.link(id, 'ana'));
  await page.keyboard.press('Tab');
  await page.keyboard.press('ArrowDown');
  assert.ok(await page.getByLabel('no', { exact: true }).isChecked());
  await page.keyboard.press('Enter');
  await page.getByText('Your answer is kept').waitFor();
  assert.equal((await server.question(id)).answer, 'no');
});
