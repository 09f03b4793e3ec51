// The inbox while other people answer, questions come in, and the server comes and goes.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { eventually, gate } from '../clients/harness.mjs';
import { openTab, readyForRoutes, startBrowser, startServer } from './world.mjs';

let browser;
let server;
before(async () => {
  browser = await startBrowser();
  server = await startServer({ demo: true });
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

const options = ['Yes', 'No'];
const ask = (question, more = {}) => server.ask({ question, options, ...more });
const answer = (asked, value, by) => server.call('POST', `/agent/answer/${asked.session}`, { answer: value, answered_by: by });
const row = (page, text) => page.locator('.row', { hasText: text });
const title = (page) => page.locator('#ask-title');
const choose = (page, name) => page.locator('.card').getByRole('radio', { name, exact: true }).check();
const submit = (page) => page.getByRole('button', { name: 'Answer', exact: true }).click();
const lamp = (page, word) => page.locator(`#lamp[aria-label="${word}"]`).waitFor();
const answersTo = async (id) =>
  (await server.audit()).filter(({ action, subject }) => action === 'question_answered' && subject === `question:${id}`).length;

// Runs `act` with `tabs` tabs; what the browser may complain about is named.
const inTabs = (name, tabs, act, { known = [], word = 'Live', prepare = () => {} } = {}) => test(name, { timeout: 60_000 }, async () => {
  const all = await Promise.all(Array.from({ length: tabs }, () => openTab(browser, { viewport: { width: 1280, height: 800 } })));
  try {
    for (const tab of all) {
      await readyForRoutes(tab.page);
      await prepare(tab);
      await tab.page.goto(server.url);
      await lamp(tab.page, word);
    }
    await act(...all);
    const complaints = all.flatMap((tab) => tab.complaints);
    assert.deepEqual(complaints.filter((text) => !known.some((part) => text.includes(part))), [], 'what the browser complained about');
  } finally {
    await Promise.all(all.map((tab) => tab.close()));
  }
});

inTabs('two people answer one question at once: one wins, the other sees who did and what', 2, async (ana, ben) => {
  const asked = await ask('Who is first?');
  for (const { page } of [ana, ben]) await row(page, 'Who is first?').click();
  const turn = gate();
  await ben.page.route('**/agent/answer/*', async (route) => {
    await turn.passed;
    await route.continue();
  });
  await choose(ben.page, 'No');
  await submit(ben.page);
  // Gone from the list at once, but not called answered.
  await row(ben.page, 'Who is first?').waitFor({ state: 'detached' });
  await choose(ana.page, 'Yes');
  await submit(ana.page);
  await ana.page.locator('.toast', { hasText: 'Answered: Yes' }).waitFor();
  turn.open();
  await row(ben.page, 'yours did not count').waitFor();
  assert.equal(await title(ben.page).textContent(), 'Who is first?');
  assert.match(await ben.page.locator('.settled').textContent(), /^Somebody answered here, just now:Yes.*came too late:No/);
  assert.equal(await ben.page.locator('.toast', { hasText: 'Answered' }).count(), 0);
  assert.equal((await server.question(asked.id)).answer, 'Yes');
  await ben.page.getByRole('button', { name: 'Done' }).click();
  await row(ben.page, 'Who is first?').waitFor({ state: 'detached' });
}, { known: ['status of 409'] });

inTabs('whoever loses a part of a batch keeps the rest, and sends it again', 1, async ({ page }) => {
  const batch = await server.call('POST', '/agent/ask', { agent: 'caller', questions: [{ question: 'Part one?', options }, { question: 'Part two?', options }] });
  const [one, two] = batch.questions;
  await row(page, 'Part one?').click();
  const turn = gate();
  await page.route('**/agent/answer/*', async (route) => {
    await turn.passed;
    await route.continue();
  });
  await page.keyboard.press('1');
  await page.keyboard.press('Enter');
  await page.keyboard.press('1');
  await page.keyboard.press('Enter');
  await row(page, 'Part one?').waitFor({ state: 'detached' });
  await server.call('POST', `/agent/answer/${batch.session_id}`, { question_id: one.id, answer: 'No', answered_by: 'ben' });
  // The card that is back looks itself up once more, while somebody presses its button.
  const pressed = gate();
  let looks = 0;
  await page.route('**/agent/questions?session=*', async (route) => {
    looks += 1;
    if (looks === 2) await pressed.passed;
    await route.continue();
  });
  const again = page.waitForResponse((response) => looks === 2 && response.url().includes('/agent/questions?session='));
  turn.open();
  await page.getByRole('alert').filter({ hasText: 'ben answered by the API, just now: No. Your answers were not sent' }).waitFor();
  assert.equal((await server.question(two.id)).status, 'pending', 'all of them count, or none');
  await page.getByRole('button', { name: 'Submit the answer' }).hover();
  await page.mouse.down();
  pressed.open();
  await (await again).finished();
  await page.evaluate(() => new Promise((resolve) => { requestAnimationFrame(() => setTimeout(resolve)); }));
  await page.mouse.up();
  await page.locator('.toast', { hasText: 'Answered: Yes' }).waitFor();
  assert.deepEqual([(await server.question(one.id)).answer, (await server.question(two.id)).answer], ['No', 'Yes']);
}, { known: ['status of 409'] });

inTabs('an answer from elsewhere shows on the open card, and the draft stays to be copied', 1, async ({ page }) => {
  const asked = await ask('Typed for nothing?');
  await row(page, 'Typed for nothing?').click();
  await page.getByText('Other').click();
  await page.keyboard.type('a long thought');
  await answer(asked, 'No', 'ben');
  const settled = page.locator('.settled');
  await settled.waitFor();
  assert.match(await settled.textContent(), /^ben answered by the API, just now:No.*a long thought/);
  assert.equal(await page.getByRole('button', { name: 'Answer', exact: true }).count(), 0);
  await page.locator('#live', { hasText: 'ben answered by the API, just now: No' }).waitFor({ state: 'attached' });
  await row(page, 'Typed for nothing?').waitFor({ state: 'detached' });
  await settled.getByRole('button', { name: 'Copy' }).waitFor();
});

inTabs('an answer that comes while a request is looked up is read out, though its event says nothing new', 1, async ({ page }) => {
  const [looked, answered, shown] = [gate(), gate(), gate()];
  let looks = 0;
  // The first look is that of the card; the event leads to the second.
  await page.route('**/agent/questions?session=*', async (route) => {
    looks += 1;
    looked.open();
    await (looks === 1 ? answered : shown).passed;
    await route.continue();
  });
  const asked = await ask('Read out all the same?');
  await row(page, 'Read out all the same?').click();
  await looked.passed;
  await answer(asked, 'No', 'ben');
  answered.open();
  await page.locator('.settled', { hasText: 'ben answered by the API' }).waitFor();
  await page.locator('#live', { hasText: 'ben answered by the API' }).waitFor({ state: 'attached' });
  shown.open();
});

inTabs('a row that is taken away hands its focus on', 1, async ({ page }) => {
  const asked = [await ask('Stays?'), await ask('Goes?')];
  for (const text of ['Stays?', 'Goes?']) await row(page, text).waitFor();
  await page.keyboard.press('j');
  await page.keyboard.press('k');
  const focused = (text) => page.waitForFunction((words) => document.activeElement.matches('.row') && document.activeElement.textContent.includes(words), text);
  await focused('Goes?');
  await answer(asked[1], 'No', 'ben');
  await focused('Stays?');
  assert.equal(await title(page).textContent(), 'Goes?', 'the card stays, to tell what happened');
  await page.keyboard.press('Enter');
  await title(page).filter({ hasText: 'Stays?' }).waitFor();
  await answer(asked[0], 'No', 'ben');
});

const recordNotifications = ({ context, page }) => Promise.all([
  context.grantPermissions(['notifications']),
  page.addInitScript(() => {
    window.notified = [];
    window.Notification = class {
      static permission = 'granted';
      static requestPermission = async () => 'granted';
      constructor(text, { body }) { window.notified.push({ title: text, body, notification: this }); }
      close() {}
    };
    window.hide = (hidden) => {
      Object.defineProperty(document, 'hidden', { configurable: true, value: hidden });
      document.dispatchEvent(new Event('visibilitychange'));
    };
  }),
]);
inTabs('new questions are counted, read out and, in the background, notified of', 1, async ({ page }) => {
  await page.getByText('Nothing waits for you').waitFor();
  const first = await ask('Read me out?');
  await page.locator('#live', { hasText: 'New question from caller: Read me out?' }).waitFor({ state: 'attached' });
  assert.equal(await page.title(), '(1) Inbox · Holdpoint');
  assert.deepEqual(await page.evaluate(() => window.notified), [], 'nobody has asked for notifications');
  await page.getByRole('button', { name: 'Notify me' }).click();
  await page.evaluate(() => window.hide(true));
  const second = await ask('Notify me?');
  await page.waitForFunction(() => window.notified.length === 1);
  assert.deepEqual(await page.evaluate(() => [notified[0].title, notified[0].body]), ['caller asks', 'Notify me?']);
  assert.equal(await page.title(), '(2) Inbox · Holdpoint');
  await page.evaluate(() => { window.hide(false); notified[0].notification.onclick(); });
  assert.equal(await title(page).textContent(), 'Notify me?');
  const more = await Promise.all(Array.from({ length: 4 }, (_, i) => ask(`Number ${i}?`)));
  await page.waitForFunction(() => document.title.startsWith('(6)'));
  assert.match(await page.locator('#live').textContent(), /new question/i);
  assert.equal(await page.evaluate(() => window.notified.length), 1, 'who looks at the page needs no notification');
  await Promise.all([first, second, ...more].map((asked) => answer(asked, 'Yes', 'eve')));
  await page.waitForFunction(() => document.title === 'Inbox · Holdpoint');
}, { prepare: recordNotifications });

const down = ['ERR_CONNECTION', 'ERR_INCOMPLETE_CHUNKED', 'ERR_EMPTY', 'Failed to fetch'];
inTabs('the server is killed and comes back: the page recovers by itself, and an answer of meanwhile arrives once', 1, async ({ page }) => {
  const kept = await ask('Answered while it is away?');
  await choose(page, 'Yes');
  await server.crash();
  await page.getByRole('alert').filter({ hasText: 'The server cannot be reached' }).waitFor();
  await submit(page);
  const bar = page.locator('.unsent');
  await bar.filter({ hasText: 'Not sent yet: Answered while it is away? → Yes' }).waitFor();
  assert.equal(await page.locator('.toast', { hasText: 'Answered' }).count(), 0, 'nothing is done before the server says so');
  assert.ok(await page.evaluate(() => !dispatchEvent(new Event('beforeunload', { cancelable: true }))), 'leaving now would lose it');
  await server.restart();
  await page.locator('.toast', { hasText: 'Answered: Yes' }).waitFor();
  await bar.waitFor({ state: 'hidden' });
  await lamp(page, 'Live');
  assert.ok(await page.evaluate(() => dispatchEvent(new Event('beforeunload', { cancelable: true }))));
  assert.equal((await server.question(kept.id)).answer, 'Yes');
  assert.equal(await answersTo(kept.id), 1);
  const next = await ask('Asked after it is back?');
  await row(page, 'Asked after it is back?').click();
  await choose(page, 'No');
  await submit(page);
  await eventually('the answer to arrive', async () => (await server.question(next.id)).answer === 'No');
}, { known: down });

inTabs('an answer whose confirmation is lost is sent again, and counts once', 1, async ({ page }) => {
  const asked = await ask('Heard?');
  let attempts = 0;
  await page.route('**/agent/answer/*', async (route) => {
    attempts += 1;
    const response = await route.fetch();
    if (attempts === 1) await route.abort('connectionreset');
    else await route.fulfill({ response });
  });
  await choose(page, 'Yes');
  await submit(page);
  await page.locator('.toast', { hasText: 'Answered: Yes' }).waitFor();
  assert.equal(attempts, 2);
  assert.equal(await answersTo(asked.id), 1);
}, { known: down });

inTabs('where no stream gets through, a look every few seconds does', 1, async ({ page }) => {
  const asked = await ask('Without a stream?');
  const other = await ask('Looked at by nobody?');
  await row(page, 'Without a stream?').click();
  await answer(asked, 'Yes', 'ben');
  await answer(other, 'Yes', 'ben');
  await page.locator('.settled', { hasText: 'ben answered' }).waitFor();
  await row(page, 'Looked at by nobody?').waitFor({ state: 'detached' });
}, { known: ['ERR_FAILED'], word: 'Slow', prepare: ({ page }) => page.route('**/agent/events*', (route) => route.abort()) });
