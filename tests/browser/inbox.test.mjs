// People answer in the inbox: by mouse, by keyboard, by touch.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { eventually, gate } from '../clients/harness.mjs';
import { casesInTabs, openTab, password, startBrowser, startServer } from './world.mjs';

let browser;
let server;
before(async () => {
  browser = await startBrowser();
  server = await startServer({ demo: true, settings: '[outgoing]\nallow_private = ["127.0.0.0/8"]\n',
    agents: { helpdesk: { answerers: ['ana'] }, called: { question_callback: 'http://127.0.0.1:9/nobody-is-there' } } });
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

const yesNo = [{ label: 'Yes', description: 'at once', recommended: true }, { label: 'No' }];
const askBatch = (questions, more = {}) => server.call('POST', '/agent/ask', { agent: 'caller', questions, ...more },
  server.askKey ? { authorization: `Bearer ${server.askKey}` } : {});
// Starts the agent; gives its session once it has asked.
const trigger = async (agent, payload) => {
  const { session_id: session } = await server.call('POST', `/agent/webhook/${agent}`, payload);
  await eventually(`${agent} to ask`, async () => (await server.call('GET', `/agent/questions?session=${session}`)).questions.length > 0);
  return session;
};
const result = async (session) => (await eventually(`session ${session} to end`, async () => {
  const found = await server.call('GET', `/agent/session/${session}`);
  return found.status === 'completed' && found;
})).result;
const row = (page, text) => page.locator('.row', { hasText: text });
const title = (page) => page.locator('#ask-title');
// Radio or checkbox, by the start of its name.
const option = (page, name) => page.locator('.card label', { hasText: new RegExp(`^${name}\\b`) }).locator('input');
const toast = (page, text) => page.locator('.toast', { hasText: text });

const inTab = casesInTabs(() => browser, { viewport: { width: 1280, height: 800 } });

inTab('before anything is asked the inbox says so; the demo agents are answered by mouse, and go on with it', async ({ page }) => {
  await page.goto(server.url);
  await page.getByText('Nothing waits for you').waitFor();
  assert.equal(await page.title(), 'Inbox · Holdpoint');
  const session = await trigger('write-poem', { topic: 'rain' });
  await row(page, 'What style would you prefer?').click();
  assert.equal(await page.title(), '(1) Inbox · Holdpoint');
  assert.match(await page.locator('.card dl').textContent(), /topic\s*rain/);
  assert.equal(await page.locator('.card :checked').count(), 0, 'nothing is chosen for anybody');
  assert.match(await page.locator('.option', { hasText: 'haiku' }).textContent(), /recommended/);
  await page.getByLabel('haiku').check();
  await page.getByRole('button', { name: 'Answer' }).click();
  await toast(page, 'Answered: haiku').waitFor();
  await page.getByText('Nothing waits for you').waitFor();
  assert.equal((await result(session)).style, 'haiku');
  const { questions: [{ answered_via: via }] } = await server.call('GET', `/agent/questions?session=${session}`);
  assert.equal(via, 'web');
});

inTab('by keyboard alone, from the first look to the answer of a batch', async ({ page }) => {
  const session = await trigger('deploy-approval', { service: 'billing' });
  await askBatch([{ question: 'Newer?', options: yesNo }]);
  const press = async (...keys) => { for (const key of keys) await page.keyboard.press(key); };
  await page.goto(server.url);
  await row(page, 'Newer?').waitFor();
  await row(page, 'Deploy to which').waitFor();
  await press('?');
  assert.match(await page.getByRole('dialog').textContent(), /Choose an option[^]*Ctrl\+Enter/);
  await press('Escape', 'j');
  await page.locator('.row[aria-current]', { hasText: 'Deploy to which' }).waitFor();
  await press('k', 'ArrowDown');
  assert.equal(await title(page).textContent(), 'Deploy to which environment?');
  assert.ok(await row(page, 'Deploy to which').evaluate((link) => link === document.activeElement), 'the row has the focus');
  // 0 is for own words, which this one does not take.
  await press('0', 'Enter');
  assert.ok(await page.getByLabel('staging').evaluate((input) => input === document.activeElement), 'Enter on the row leads to the form');
  await press('Enter');
  await page.getByRole('alert').filter({ hasText: 'Choose an answer first' }).waitFor();
  await press('2', 'Enter');
  assert.equal(await title(page).textContent(), 'Which checks shall run first?');
  await press('1', '2', '3', '2');
  await press('p', 'n', 'Enter');
  assert.equal(await title(page).textContent(), 'A note for the deployment log?');
  // There is only text to give: Enter has led into it.
  await page.keyboard.type('first line');
  await press('Enter');
  await page.keyboard.type('second, with j and 1');
  await press('Control+Enter');
  await toast(page, 'Answered: 3 answers').waitFor();
  const { environment, checks, note } = await result(session);
  assert.deepEqual([environment, checks, note], ['production', ['unit tests', 'load test'], 'first line\nsecond, with j and 1']);
  // The next one is there, and the focus with it.
  assert.equal(await title(page).textContent(), 'Newer?');
  assert.ok(await row(page, 'Newer?').evaluate((link) => link === document.activeElement), 'the focus is on the next row');
  // Everything by Tab too: from the row past the session to the options, on to the button.
  await press('Tab', 'Tab', 'Space', 'Tab', 'Enter');
  await page.getByText('Nothing waits for you').waitFor();
});

const phone = { viewport: { width: 390, height: 844 }, deviceScaleFactor: 2, isMobile: true, hasTouch: true };
inTab('on a phone a tap opens a request, Back leads to the list, and a tap answers', async ({ page }) => {
  const session = await trigger('deploy-approval', { service: 'shop' });
  const { questions: [{ id }] } = await askBatch([{ question: 'On the way?', options: yesNo }]);
  await page.goto(server.url);
  await row(page, 'On the way?').tap();
  await option(page, 'No').tap();
  assert.ok(await row(page, 'Deploy to which').isHidden());
  await page.goBack();
  await row(page, 'Deploy to which').tap();
  await page.getByRole('button', { name: 'All questions' }).tap();
  await page.locator('.card').waitFor({ state: 'hidden' });
  await row(page, 'On the way?').tap();
  assert.ok(await option(page, 'No').isChecked(), 'what was chosen is still chosen');
  await page.getByRole('button', { name: 'Answer' }).tap();
  await toast(page, 'Answered: No').waitFor();
  assert.equal((await server.question(id)).answer, 'No');
  await page.locator('.card').waitFor({ state: 'hidden' });
  await row(page, 'Deploy to which').tap();
  await page.getByLabel('staging').tap();
  const next = page.getByRole('button', { name: 'Next', exact: true });
  await next.tap();
  await page.getByLabel('smoke tests').tap();
  await next.tap();
  await page.getByLabel('Your answer').fill('from the train');
  const pressed = page.locator('.card button:visible, .card .option:visible');
  const heights = await pressed.evaluateAll((all) => all.map((one) => one.getBoundingClientRect().height));
  assert.ok(Math.min(...heights) >= 40, `a finger needs 40 px, and there are ${heights}`);
  assert.ok(await page.evaluate(() => document.documentElement.scrollWidth) <= 390);
  await page.getByRole('button', { name: 'Submit 3 answers' }).tap();
  assert.equal((await result(session)).note, 'from the train');
}, phone);

inTab('several options and own words are one answer; own words alone are another', async ({ page }) => {
  const several = await askBatch([{ question: 'Which ones?', multi_select: true, options: ['a', 'b', 'c'] }]);
  await page.goto(server.url);
  await option(page, 'c').check();
  await option(page, 'a').check();
  await page.getByText('Other').click();
  await page.keyboard.type('and d');
  await page.getByRole('button', { name: 'Answer' }).click();
  await toast(page, 'Answered: c, a, and d').waitFor();
  assert.deepEqual((await server.question(several.questions[0].id)).answer, ['a', 'c', 'and d']);
  const own = await askBatch([{ question: 'Which one?', options: ['a', 'b'] }]);
  await option(page, 'a').check();
  await page.getByText('Other').click();
  await page.getByRole('button', { name: 'Answer' }).click();
  await page.getByRole('alert').filter({ hasText: 'Write an answer first' }).waitFor();
  await page.getByLabel('Your own answer').fill('<b>neither</b>');
  await page.getByRole('button', { name: 'Answer' }).click();
  await toast(page, 'Answered: <b>neither</b>').waitFor();
  assert.equal((await server.question(own.questions[0].id)).answer, '<b>neither</b>');
});

inTab('a batch needs all its answers; drafts stay while others are looked at, and what others settled is shown as settled', async ({ page }) => {
  const batch = await askBatch([{ question: 'First?', options: yesNo }, { question: 'Second?' }, { question: 'Third?', options: yesNo }]);
  const other = await askBatch([{ question: 'Another?', options: yesNo }]);
  await page.goto(server.url);
  await row(page, 'First?').click();
  await row(page, 'First?').getByText('3 questions').waitFor();
  const submit = page.getByRole('button', { name: 'Submit 3 answers' });
  assert.equal(await submit.getAttribute('aria-disabled'), 'true');
  await page.getByLabel('Yes').check();
  // Where one is missing it leads there.
  await submit.click({ force: true });
  await page.getByRole('alert').filter({ hasText: 'Write an answer first' }).waitFor();
  assert.equal(await title(page).textContent(), 'Second?');
  await page.getByLabel('Your answer').fill('draft');
  await row(page, 'Another?').click();
  await row(page, 'First?').click();
  assert.equal(await page.getByLabel('Your answer').inputValue(), 'draft');
  await page.getByRole('button', { name: 'Question 1 of 3, filled in' }).click();
  assert.ok(await page.getByLabel('Yes').isChecked());
  await server.call('POST', `/agent/answer/${batch.session_id}`, { question_id: batch.questions[0].id, answer: 'No', answered_by: 'ben' });
  await page.locator('.settled', { hasText: /^ben answered by the API, just now:No/ }).waitFor();
  await page.getByRole('button', { name: 'Question 3 of 3, open' }).click();
  await option(page, 'No').check();
  await page.getByRole('button', { name: 'Submit 2 answers' }).click();
  await toast(page, 'Answered: 2 answers').waitFor();
  const answers = await Promise.all(batch.questions.map(({ id }) => server.question(id)));
  assert.deepEqual(answers.map(({ answer }) => answer), ['No', 'draft', 'No']);
  await server.call('POST', `/agent/session/${other.session_id}/cancel`);
  // Nobody had it in their hands, but it was on the card.
  await page.locator('.settled', { hasText: 'cancelled this request' }).waitFor();
});

inTab('a batch that was answered in part before shows who answered what', async ({ page }) => {
  const batch = await askBatch([{ question: 'Still open?', options: yesNo }, { question: 'Answered long ago?', options: yesNo }]);
  await server.call('POST', `/agent/answer/${batch.session_id}`, { question_id: batch.questions[1].id, answer: 'No', answered_by: 'ben' });
  await page.goto(server.url);
  await page.getByRole('button', { name: 'Question 2 of 2, settled' }).click();
  // That was before the page was opened, which may take its time.
  await page.locator('.settled', { hasText: /^ben answered by the API, (just now|\d+ s ago):No/ }).waitFor();
  await page.keyboard.press('p');
  await page.keyboard.press('1');
  await page.keyboard.press('Enter');
  await toast(page, 'Answered: Yes').waitFor();
  assert.equal((await server.question(batch.questions[0].id)).answer, 'Yes');
});

inTab('a request is cancelled only after a second thought', async ({ page }) => {
  const { questions: [{ id }] } = await askBatch([{ question: 'Needed?', options: yesNo }]);
  await page.goto(server.url);
  await title(page).filter({ hasText: 'Needed?' }).waitFor();
  await page.keyboard.press('c');
  await page.getByRole('button', { name: 'Keep it' }).click();
  await page.getByRole('button', { name: 'Cancel this request' }).click();
  assert.equal((await server.question(id)).status, 'pending');
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel the request' }).click();
  await toast(page, 'Cancelled').waitFor();
  assert.equal((await server.question(id)).status, 'cancelled');
  await page.getByText('Nothing waits for you').waitFor();
});

inTab('what is pressed while the page still learns about its agents is pressed', async ({ page }) => {
  const { questions: [{ id }] } = await askBatch([{ question: 'Already?', options: yesNo }]);
  const { passed, open } = gate();
  await page.route('**/agent/agents', async (route) => {
    await passed;
    await route.continue();
  });
  await page.goto(server.url);
  const learned = page.waitForResponse('**/agent/agents');
  await option(page, 'No').hover();
  await page.mouse.down();
  open();
  await (await learned).finished();
  // By then it was drawn.
  await page.evaluate(() => new Promise((resolve) => { requestAnimationFrame(() => setTimeout(resolve)); }));
  await page.mouse.up();
  assert.ok(await option(page, 'No').isChecked());
  await page.getByRole('button', { name: 'Answer' }).click();
  await toast(page, 'Answered: No').waitFor();
  assert.equal((await server.question(id)).answer, 'No');
});

inTab('an answer that breaks a rule comes back with the reason and the words', async ({ page }) => {
  const long = 'x'.repeat(10_001);
  const { questions } = await askBatch([{ question: 'Short?', options: yesNo }, { question: 'Long?' }]);
  await page.goto(server.url);
  await page.getByLabel('Yes').check();
  await page.getByRole('button', { name: 'Next', exact: true }).click();
  await page.getByLabel('Your answer').fill(long);
  await page.getByRole('button', { name: 'Submit 2 answers' }).click();
  await page.getByRole('alert').filter({ hasText: 'at most 10000 characters' }).waitFor();
  assert.equal(await title(page).textContent(), 'Long?');
  assert.equal(await page.getByLabel('Your answer').inputValue(), long);
  assert.equal(await toast(page, 'Answered').count(), 0);
  await page.getByLabel('Your answer').fill('short');
  await page.getByRole('button', { name: 'Submit 2 answers' }).click();
  await toast(page, 'Answered').waitFor();
  assert.equal((await server.question(questions[1].id)).answer, 'short');
}, { known: ['status of 422'] });

inTab('the address leads to a request, be it waiting or settled', async ({ page }) => {
  const waiting = await askBatch([{ question: 'By address?', options: yesNo }]);
  const answered = await askBatch([{ question: 'Done before?', options: yesNo }]);
  await askBatch([{ question: 'Newest?', options: yesNo }]);
  await server.call('POST', `/agent/answer/${answered.session_id}`, { answer: 'Yes', answered_by: 'eve' });
  await page.goto(`${server.url}/#${waiting.questions[0].id}`);
  await title(page).filter({ hasText: 'By address?' }).waitFor();
  await page.goto(`${server.url}/?q=${answered.questions[0].id}`);
  await page.getByText('eve answered by the API').waitFor();
  assert.equal(await page.getByRole('button', { name: 'Answer' }).count(), 0);
  await page.getByRole('button', { name: 'Done' }).click();
  assert.notEqual(await title(page).textContent(), 'Done before?');
});

inTab('search, filters and order narrow the list down, and the order is remembered', async ({ page }) => {
  const fence = await askBatch([{ question: 'Paint the fence?', options: yesNo }], { timeout: 60, agent: 'helpdesk' });
  await askBatch([{ question: 'Paint the gate?', options: yesNo }], { timeout: 7200 });
  await page.goto(server.url);
  await row(page, 'Paint the gate?').waitFor();
  const all = await page.locator('.row').count();
  await page.keyboard.press('/');
  await page.keyboard.type('paint fence');
  assert.deepEqual(await page.locator('.row .text').allTextContents(), ['Paint the fence?']);
  assert.equal(await title(page).textContent(), 'Paint the fence?');
  assert.match(await page.locator('.count').textContent(), new RegExp(`^1 of ${all} waiting`));
  assert.match(await row(page, 'fence').locator('.left').textContent(), /^only \d+ s left$/);
  await page.keyboard.press('Escape');
  assert.equal(await page.locator('.row').count(), all);
  await page.keyboard.press('/');
  await page.keyboard.type('zebra');
  await page.getByRole('button', { name: 'Clear filters' }).click();
  assert.equal(await page.locator('.row').count(), all);
  await page.getByLabel('Agent', { exact: true }).selectOption('helpdesk');
  assert.deepEqual(await page.locator('.row .text').allTextContents(), ['Paint the fence?']);
  await page.getByLabel('Agent', { exact: true }).selectOption('');
  await askBatch([{ question: 'Paint the wall?', options: yesNo }], { timeout: 9000, agent: 'called' });
  await row(page, 'Paint the wall?').waitFor();
  await page.getByLabel('Channel').selectOption({ label: 'A callback' });
  assert.deepEqual(await page.locator('.row .text').allTextContents(), ['Paint the wall?']);
  await page.getByLabel('Channel').selectOption({ label: 'All channels' });
  await page.getByLabel('Order').selectOption('urgent');
  assert.match(await page.locator('.row .text').first().textContent(), /fence/);
  await page.reload();
  await row(page, 'Paint the gate?').waitFor();
  assert.match(await page.locator('.row .text').first().textContent(), /fence/);
  assert.equal(await page.getByLabel('Order').inputValue(), 'urgent');
  await page.goto(`${server.url}/?agent=helpdesk`);
  await row(page, 'Paint the fence?').waitFor();
  assert.equal(await page.locator('.row').count(), 1, 'an address can name an agent');
  await page.getByLabel('Agent', { exact: true }).selectOption('');
  await page.waitForURL((url) => !url.search.includes('helpdesk'));
  assert.ok(await page.getByRole('button', { name: 'For me' }).isHidden(), 'in open mode nobody is somebody');
  // Else it would depend on the clock whether the next case finds it waiting.
  await server.call('POST', `/agent/session/${fence.session_id}/cancel`);
});

test('people with roles: a viewer only looks, and who is not named is told who is', { timeout: 60_000 }, async () => {
  await server.closeUp();
  await server.addUser('ana', 'answerer');
  await server.addUser('ben', 'answerer');
  await server.addUser('vera', 'viewer');
  await askBatch([{ question: 'Lock it?', options: yesNo }], { agent: 'helpdesk' });
  await askBatch([{ question: 'Reset it?', options: yesNo }], { agent: 'helpdesk' });
  const open = async (name) => {
    const tab = await openTab(browser, { viewport: { width: 1280, height: 800 } });
    await tab.page.goto(`${server.url}/login`);
    await tab.page.getByLabel('Name').fill(name);
    await tab.page.getByLabel('Password').fill(password);
    await tab.page.getByRole('button', { name: 'Log in' }).click();
    await row(tab.page, 'Reset it?').click();
    return tab;
  };
  const tabs = await Promise.all(['vera', 'ben', 'ana'].map(open));
  const [vera, ben, ana] = tabs.map(({ page }) => page);
  try {
    for (const [page, why] of [[vera, /may look, but not answer/], [ben, /Only ana may answer this/]]) {
      await page.locator('.why').filter({ hasText: why }).waitFor();
      await page.keyboard.press('1');
      await page.keyboard.press('Enter');
      assert.equal(await page.locator('.card').getByRole('button').count(), 0);
      assert.equal(await page.locator('.card input, .card textarea').count(), 0);
    }
    await ana.getByRole('button', { name: 'For me' }).click();
    assert.deepEqual(await ana.locator('.row .text').allTextContents(), ['Reset it?', 'Lock it?']);
    await ana.keyboard.press('1');
    await ana.keyboard.press('Enter');
    await toast(ana, 'Answered: Yes').waitFor();
    await vera.locator('.settled', { hasText: 'ana answered here, just now' }).waitFor();
  } finally {
    await Promise.all(tabs.map((tab) => tab.close()));
  }
});
