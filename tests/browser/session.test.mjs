// The session page and the list of sessions, as people see and use them.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import http from 'node:http';
import { after, before, test } from 'node:test';
import { eventually, gate } from '../clients/harness.mjs';
import { openTab, password, startBrowser, startServer } from './world.mjs';

const kBig = 1_000_000;
const kNone = '00000000-0000-7000-8000-000000000000';
const gates = new Map();  // By session.
let mended = false;

const asks = { ask: { questions: [{ header: 'Style', question: 'What style would you prefer?', options: ['haiku', 'sonnet'] }], context: {} } };
const bigState = () => ({ rows: Array.from({ length: 20_000 }, (_, i) => ({ i, name: `row ${i}` })), text: 'x'.repeat(kBig - 700_000), tweet: '@@' });
const agents = {
  poet: (turn) => (turn.reason === 'start' ? { ...asks, state: { topic: turn.payload.topic } } : { result: { style: turn.resume.answers['What style would you prefer?'] } }),
  big: () => ({ ...asks, state: bigState() }),
  broken: () => (mended ? { result: 'mended' } : { error: 'no such table: <b>orders</b>', retry: false }),
  patient: async (turn) => {
    if (turn.reason === 'start') await gates.get(turn.session_id).passed;
    return { result: { heard: turn.messages } };
  },
};

let browser;
let server;
let agentServer;
before(async () => {
  agentServer = http.createServer(async (request, response) => {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    const turn = JSON.parse(Buffer.concat(chunks));
    if (!gates.has(turn.session_id)) gates.set(turn.session_id, gate());
    const reply = JSON.stringify(await agents[request.url.slice(1)](turn)).replace('"@@"', '12345678901234567890');
    response.writeHead(200, { 'content-type': 'application/json' }).end(reply);
  });
  agentServer.listen(0, '127.0.0.1');
  await once(agentServer, 'listening');
  const url = (name) => `http://127.0.0.1:${agentServer.address().port}/${name}`;
  browser = await startBrowser();
  server = await startServer({
    agents: Object.fromEntries(Object.keys(agents).map((name) => [name, { runner: 'http', url: url(name) }])),
    settings: '[outgoing]\nallow_private = ["127.0.0.0/8"]\n',
  });
  await server.closeUp();
  await server.addUser('ana', 'admin');
  await server.addUser('vera', 'viewer');
});
after(async () => {
  await browser?.close();
  for (const { open } of gates.values()) open();
  await server?.stop();
  agentServer?.closeAllConnections();
  agentServer?.close();
});

const start = async (agent, payload = {}) => (await server.call('POST', `/agent/webhook/${agent}`, payload)).session_id;
const settled = (id) => server.call('GET', `/agent/session/${id}?wait=20`);
const finished = (id) => server.call('GET', `/agent/session/${id}?wait=20&until=finished`);
const statusOf = async (id) => (await server.call('GET', `/agent/session/${id}`)).status;

const logIn = async (name, options) => {
  const tab = await openTab(browser, options);
  await tab.page.goto(`${server.url}/login`);
  await tab.page.getByLabel('Name').fill(name);
  await tab.page.getByLabel('Password').fill(password);
  await tab.page.getByRole('button', { name: 'Log in' }).click();
  await tab.page.locator('.bar').waitFor();
  tab.see = async (target) => {
    await tab.page.goto(server.url + target);
    await tab.page.locator('.lamp.live').waitFor();
  };
  return tab;
};
// One tab for each, kept: logging in takes its time.
const tabs = {};
const as = async (name) => tabs[name] ??= await logIn(name);
const inTab = (name, who, act) => test(name, { timeout: 60_000 }, async () => {
  const tab = await as(who);
  tab.complaints.length = 0;
  await act(tab);
  assert.deepEqual(tab.complaints.filter((text) => !/status of (404|409)/.test(text)), [], 'what the browser complained about');
});
const rows = (page) => page.locator('.story > .row .text').allTextContents();

inTab('a completed session shows who answered what and where, its strip, and what went in and came out', 'vera', async ({ page, see }) => {
  const id = await start('poet', { topic: 'love' });
  await settled(id);
  await server.call('POST', `/agent/answer/${id}`, { answer: 'haiku', answered_by: 'ben@example.org' });
  await finished(id);
  await see(`/session/${id}`);
  await page.getByText('Completed', { exact: true }).waitFor();
  const told = await rows(page);
  assert.equal(told.length, 6, told.join('\n'));
  assert.match(told[3], /^ben@example\.org answered through the API after /);
  assert.equal(await page.locator('.row.answer blockquote').textContent(), '“haiku”');
  assert.match(await page.getByRole('img', { name: 'The story in a strip' }).getAttribute('aria-label'), /the agent worked 2 times/);
  assert.match(await page.getByRole('region', { name: 'Payload' }).textContent(), /topic: "love"/);
  assert.match(await page.getByRole('region', { name: 'Result' }).textContent(), /style: "haiku"/);
  assert.match(await page.title(), /^poet · completed/);
});

inTab('a session grows while it is watched, and what is open stays open', 'vera', async ({ page, see }) => {
  const id = await start('poet', { topic: 'time' });
  await settled(id);
  await see(`/session/${id}`);
  await page.getByRole('heading', { name: 'It waits for an answer' }).waitFor();
  const payload = page.getByRole('region', { name: 'Payload' }).locator('details').first();
  await payload.locator('summary').first().click();
  assert.equal(await payload.evaluate((view) => view.open), false);
  const first = await page.locator('.row.start').elementHandle();
  await server.call('POST', `/agent/answer/${id}`, { answer: 'sonnet', answered_by: 'ben' });
  await page.getByText('Completed', { exact: true }).waitFor();
  await page.locator('#live', { hasText: 'The session is completed' }).waitFor({ state: 'attached' });
  assert.ok(await first.evaluate((row) => row.isConnected), 'the rows that were there were drawn anew');
  assert.equal(await payload.evaluate((view) => view.open), false, 'what was closed has opened');
  assert.equal(await page.getByRole('heading', { name: 'It waits for an answer' }).count(), 0);
});

inTab('a viewer has nothing to do to a session', 'vera', async ({ page, see }) => {
  const id = await start('poet');
  await settled(id);
  await see(`/session/${id}`);
  await page.getByRole('heading', { name: 'It waits for an answer' }).waitFor();
  await page.getByRole('region', { name: 'Payload' }).waitFor();
  assert.equal(await page.locator('.actions button').count(), 0);
  await page.keyboard.press('c');
  assert.equal(await page.locator('dialog').count(), 0);
});

inTab('cancel asks first, takes a reason, and works by mouse', 'ana', async ({ page, see }) => {
  const id = await start('poet');
  await settled(id);
  await see(`/session/${id}`);
  await page.getByRole('button', { name: 'Cancel', exact: true }).click();
  await page.getByRole('button', { name: 'Keep it' }).click();
  assert.equal(await statusOf(id), 'pending_input');
  await page.getByRole('button', { name: 'Cancel', exact: true }).click();
  await page.getByLabel('Reason').fill('not needed any more');
  await page.getByRole('button', { name: 'Cancel the session' }).click();
  await page.getByText('The session is cancelled').first().waitFor();
  await page.locator('.row.end', { hasText: 'not needed any more' }).waitFor();
  assert.equal(await page.locator('.actions button').count(), 0);
  assert.equal(await statusOf(id), 'cancelled');
});

inTab('a failed session shows its error as text, and is tried again by keyboard', 'ana', async ({ page, see }) => {
  const id = await start('broken');
  await finished(id);
  await see(`/session/${id}`);
  assert.equal(await page.locator('.error-text').textContent(), 'no such table: <b>orders</b>');
  mended = true;
  await page.keyboard.press('r');
  await page.getByText('Completed', { exact: true }).waitFor();
  assert.equal(await statusOf(id), 'completed');
  assert.ok((await rows(page)).includes('Somebody had turn 1 tried again'));
  assert.equal(await page.locator('.error-text').count(), 0);
});

inTab('a message is sent by keyboard, as JSON where it is some', 'ana', async ({ page, see }) => {
  const id = await start('patient');
  await eventually('the first turn', () => gates.has(id));
  await see(`/session/${id}`);
  await page.locator('.row.turn').waitFor();
  for (const text of ['hurry up', '{"by": "noon"}']) {
    await page.keyboard.press('m');
    await page.getByRole('textbox', { name: 'Message' }).fill(text);
    await page.keyboard.press('Control+Enter');
    await page.locator('.row.message', { hasText: text.replaceAll(/[{}"]/g, '').split(':')[0] }).waitFor();
  }
  gates.get(id).open();
  const { result } = await finished(id);
  assert.deepEqual(result.heard.map(({ body, message }) => body ?? message), ['hurry up', { by: 'noon' }]);
  await page.getByText('Completed', { exact: true }).waitFor();
});

inTab('what came too late is said, and the page then shows how things are', 'ana', async ({ page, see }) => {
  const id = await start('poet');
  await settled(id);
  await see(`/session/${id}`);
  await page.getByRole('button', { name: 'Send a message' }).click();
  await page.getByRole('textbox', { name: 'Message' }).fill('hello');
  await server.call('POST', `/agent/answer/${id}`, { answer: 'haiku' });
  await finished(id);
  await page.getByRole('button', { name: 'Send', exact: true }).click();
  await page.getByRole('alert').filter({ hasText: 'the session is completed and reads no more messages' }).waitFor();
  await page.locator('.head .tag.completed').waitFor();
});

inTab('a state of a megabyte opens at once and in pieces, and long digits are shown as they were written', 'vera', async ({ page, see }) => {
  const id = await start('big');
  await settled(id);
  await see(`/session/${id}`);
  const state = page.getByRole('region', { name: 'State' });
  await state.getByText('20,000 items').waitFor();
  assert.match(await state.textContent(), /tweet: 12345678901234567890/);
  assert.ok((await state.textContent()).length < 2000, 'more was drawn than can be seen');
  const blocked = await state.getByText('20,000 items').evaluate((summary) => {
    const begin = performance.now();
    summary.click();
    summary.closest('details').getBoundingClientRect();
    return performance.now() - begin;
  });
  assert.ok(blocked < 500, `the page stood still for ${blocked} ms`);
  await state.getByText('Show 100 more of 19,900').waitFor();
  const members = state.locator('details details .json-members > details');
  assert.equal(await members.count(), 100);
  await state.getByText('Show 100 more of 19,900').press('Enter');
  assert.equal(await members.count(), 200);
  await state.getByText('characters left').click();
  await state.getByText(/279,700 characters left/).waitFor();
});

inTab('an unknown session is told as such', 'vera', async ({ page }) => {
  await page.goto(`${server.url}/session/${kNone}`);
  await page.getByRole('heading', { name: 'There is no such session' }).waitFor();
  await page.getByRole('link', { name: 'All sessions' }).click();
  await page.getByRole('table').waitFor();
});

inTab('the list shows sessions as they come, filters by address, and opens one by keyboard', 'vera', async ({ page, see }) => {
  const failing = await server.call('POST', '/agent/ask', { agent: 'caller', questions: [{ question: 'Go?' }] }, { authorization: `Bearer ${server.askKey}` });
  await see('/sessions?status=pending_input&agent=caller');
  await page.locator('tbody tr').first().waitFor();
  assert.deepEqual(await page.locator('tbody tr').evaluateAll((all) => all.map((row) => row.dataset.id)), [failing.session_id]);
  await server.call('POST', `/agent/session/${failing.session_id}/cancel`, undefined, { authorization: `Bearer ${server.askKey}` });
  await page.getByRole('heading', { name: 'None like that' }).waitFor();
  await page.getByRole('button', { name: 'Show all' }).first().click();
  await page.locator(`tr[data-id="${failing.session_id}"] .tag.cancelled`).waitFor();
  assert.equal(new URL(page.url()).search, '');
  const id = await start('poet');
  await page.locator(`tr[data-id="${id}"] .tag.pending_input`).waitFor();
  await page.keyboard.press('j');
  await page.keyboard.press('j');
  await page.keyboard.press('k');
  await page.keyboard.press('Enter');
  await page.waitForURL(`**/session/${id}`);
});

inTab('the list goes on where it ends', 'vera', async ({ page, see }) => {
  await Promise.all(Array.from({ length: 60 }, (_, i) => server.ask({ question: `Question ${i}?` })));
  await see('/sessions?agent=caller');
  await page.locator('tbody tr').nth(49).waitFor();
  assert.equal(await page.locator('tbody tr').count(), 50);
  await page.getByRole('button', { name: 'Load more' }).click();
  await page.locator('tbody tr').nth(59).waitFor();
  await page.getByRole('button', { name: 'Load more' }).waitFor({ state: 'hidden' });
});
