// The session page and the list of sessions, as people see and use them.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { AxeBuilder } from '@axe-core/playwright';
import { eventually, gate } from '../clients/harness.mjs';
import { openTab, password, screenshots, startBrowser, startServer } from './world.mjs';

const kBig = 1_000_000;
const kNone = '00000000-0000-7000-8000-000000000000';
const gates = new Map();  // By session.
let mended = false;

const kStyle = 'What style would you prefer?';
const asks = { ask: { questions: [{ header: 'Style', question: kStyle, options: ['haiku', 'sonnet'] }] } };
const bigState = () => ({
  rows: Array.from({ length: 20_000 }, (_, i) => ({ i, name: `row ${i}` })), text: 'x'.repeat(kBig - 700_000), tweet: '@@',
});
const agents = {
  poet: (turn) => (turn.reason === 'start' ? { ...asks, state: { topic: turn.payload.topic } } : { result: { style: turn.resume.answers[kStyle] } }),
  big: () => ({ ...asks, state: bigState() }),
  broken: () => (mended ? { result: 'mended' } : { error: 'no such table: <b>orders</b>', retry: false }),
  patient: async (turn) => {
    if (turn.reason === 'start') await gates.get(turn.session_id).passed;
    return { result: { heard: turn.messages } };
  },
};

// A longer story, for the pictures.
const tried = new Set();
agents['release-train'] = (turn) => {
  if (turn.reason === 'answer') return { result: { released: '4.2.0', to: turn.resume.answers['Roll version 4.2.0 out to whom?'], machines: 1024 } };
  if (!tried.has(turn.session_id)) {
    tried.add(turn.session_id);
    return { error: 'the build server answered 503 Service Unavailable', retry: true };
  }
  return {
    ask: { questions: [
      { header: 'Release', question: 'Roll version 4.2.0 out to whom?', options: ['All customers', 'One in ten'] },
      { header: 'Checks', question: 'Which checks shall run first?', options: ['unit tests', 'smoke tests', 'load test'], multi_select: true },
    ] },
    state: { version: '4.2.0', canary: { hours: 2, errors: 0, regions: ['eu-west', 'us-east'] } },
  };
};

let browser;
let server;
let agentServer;
before(async () => {
  agentServer = http.createServer(async (request, response) => {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    if (request.url === '/callback') return void response.writeHead(204).end();
    const turn = JSON.parse(Buffer.concat(chunks));
    if (!gates.has(turn.session_id)) gates.set(turn.session_id, gate());
    const reply = JSON.stringify(await agents[request.url.slice(1)](turn)).replace('"@@"', '12345678901234567890');
    response.writeHead(200, { 'content-type': 'application/json' }).end(reply);
  });
  agentServer.listen(0, '127.0.0.1');
  await once(agentServer, 'listening');
  const url = (name) => `http://127.0.0.1:${agentServer.address().port}/${name}`;
  const told = { question_callback: url('callback'), callback_events: ['question_pending', 'session_completed'] };
  browser = await startBrowser();
  server = await startServer({
    agents: Object.fromEntries(Object.keys(agents).map((name) => [name, { runner: 'http', url: url(name), ...(name === 'release-train' ? told : {}) }])),
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

inTab('a session and those that it started lead to each other', 'vera', async ({ page, see }) => {
  const parent = await start('poet');
  const child = (await server.call('POST', `/agent/webhook/patient?parent=${parent}`, {})).session_id;
  await settled(parent);
  await see(`/session/${parent}`);
  await page.locator('.children a').click();
  await page.waitForURL(`**/session/${child}`);
  await page.getByRole('link', { name: 'The session that started it' }).click();
  await page.waitForURL(`**/session/${parent}`);
});

inTab('a session whose story is gone still shows what it was', 'vera', async ({ page }) => {
  const id = await start('poet', { topic: 'loss' });
  await settled(id);
  const history = `${server.url}/agent/session/${id}/events?*`;
  await page.route(history, (route) => (route.request().headers().accept.includes('event-stream')
    ? route.fulfill({ contentType: 'text/event-stream', body: ': following\n\n' }) : route.fulfill({ json: { events: [], next_cursor: null } })));
  await page.goto(`${server.url}/session/${id}`);
  await page.getByText('Nothing of its story is kept any more.').waitFor();
  assert.match(await page.getByRole('region', { name: 'Payload' }).textContent(), /loss/);
  assert.equal(await page.locator('.strip').isVisible(), false);
  await page.unroute(history);
  await page.goto('about:blank');
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
  assert.ok((await rows(page)).includes('Turn 1 was tried again by hand'));
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
  assert.deepEqual(result.heard, ['hurry up', { by: 'noon' }]);
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

inTab('a story of thousands of steps folds its middle, and gives it out in pieces', 'vera', async ({ page, see }) => {
  const id = await start('poet');
  const { created_at: begin } = await settled(id);
  const at = (i) => new Date(Date.parse(begin) + i * 10).toISOString();
  const events = Array.from({ length: 6000 }, (_, i) => ({
    seq: i + 1, session_id: id, type: i % 2 ? 'turn_continued' : 'turn_started', at: at(i), data: { turn: (i >> 1) + 1, attempt: 1, reason: 'continue' },
  }));
  const history = `${server.url}/agent/session/${id}/events?*`;
  await page.route(history, (route) => (route.request().headers().accept.includes('event-stream') ? route.continue()
    : route.fulfill({ json: { events: new URL(route.request().url()).searchParams.get('after') === '0' ? events : [], next_cursor: null } })));
  await see(`/session/${id}`);
  const more = page.getByRole('button', { name: 'Show 200 of 2940 steps between' });
  await more.waitFor();
  assert.equal(await page.locator('.story > .row').count(), 60);
  assert.ok(await page.locator('.strip .stretch').count() <= 24);
  await more.press('Enter');
  await page.getByRole('button', { name: 'Show 200 of 2740 steps between' }).waitFor();
  assert.equal(await page.locator('.story > .row').count(), 260);
  await page.unroute(history);
});

inTab('a session that cannot be loaded says so, and comes as soon as it can be', 'vera', async ({ page, complaints }) => {
  const id = await start('poet');
  await settled(id);
  const target = `${server.url}/agent/session/${id}`;
  const error = { code: 'unavailable', message: 'the database is not there' };
  await page.route(target, (route) => route.fulfill({ status: 503, json: { ok: false, error } }));
  await page.goto(`${server.url}/session/${id}`);
  await page.getByRole('alert').filter({ hasText: 'the database is not there' }).waitFor();
  await page.getByRole('button', { name: 'Try again' }).click();
  await page.getByRole('alert').filter({ hasText: 'the database is not there' }).waitFor();
  await page.unroute(target);
  await page.getByRole('heading', { name: 'It waits for an answer' }).waitFor();
  complaints.length = 0;
});

inTab('an unknown session is told as such', 'vera', async ({ page }) => {
  await page.goto(`${server.url}/session/${kNone}`);
  await page.getByRole('heading', { name: 'There is no such session' }).waitFor();
  await page.getByRole('link', { name: 'All sessions' }).click();
  await page.getByRole('table').waitFor();
});

inTab('the list shows sessions as they come, filters by address, and opens one by keyboard', 'vera', async ({ page, see }) => {
  const waiting = await server.ask({ question: 'Go?' });
  await see('/sessions?status=pending_input&agent=caller');
  await page.locator('tbody tr').first().waitFor();
  assert.deepEqual(await page.locator('tbody tr').evaluateAll((all) => all.map((row) => row.dataset.id)), [waiting.session]);
  await server.call('POST', `/agent/session/${waiting.session}/cancel`, undefined, { authorization: `Bearer ${server.askKey}` });
  await page.getByRole('heading', { name: 'None like that' }).waitFor();
  await page.getByRole('button', { name: 'Show all' }).first().click();
  await page.locator(`tr[data-id="${waiting.session}"] .tag.cancelled`).waitFor();
  assert.equal(new URL(page.url()).search, '');
  const id = await start('poet');
  await page.locator(`tr[data-id="${id}"] .tag.pending_input`).waitFor();
  await page.keyboard.press('j');
  await page.keyboard.press('j');
  await page.keyboard.press('k');
  await page.keyboard.press('Enter');
  await page.waitForURL(`**/session/${id}`);
});

const kXss = '"><img src=x onerror="window.hit=1"><script>window.hit=1</script>';

inTab('what agents and people wrote is text on these pages, wherever it stands', 'vera', async ({ page, see }) => {
  const question = { header: '<b>x</b>', question: `Go? ${kXss}`, options: [kXss, 'No'] };
  const asker = { authorization: `Bearer ${server.askKey}` };
  const batch = { agent: 'caller', context: { [kXss]: kXss }, questions: [question, { question: `And? ${kXss}` }] };
  const { session_id: id, questions } = await server.call('POST', '/agent/ask', batch, asker);
  await server.call('POST', `/agent/answer/${id}`, { question_id: questions[0].id, answer: kXss, answered_by: kXss });
  await see(`/session/${id}`);
  await page.locator('.row.answer').waitFor();
  assert.equal(await page.locator('.row.answer blockquote').textContent(), `“${kXss}”`);
  await server.call('POST', `/agent/session/${id}/cancel`, { reason: kXss }, asker);
  await page.locator('.error-text', { hasText: 'onerror' }).waitFor();
  await page.goto(`${server.url}/sessions?agent=${encodeURIComponent(kXss)}`);
  await page.getByRole('heading', { name: 'None like that' }).waitFor();
  await see('/sessions');
  await page.locator('.error', { hasText: 'onerror' }).first().waitFor();
  assert.equal(await page.evaluate(() => window.hit), undefined);
  assert.equal(await page.locator('#content img, #content script').count(), 0);
});

const looks = {
  light: { colorScheme: 'light', viewport: { width: 1280, height: 900 } },
  dark: { colorScheme: 'dark', viewport: { width: 1024, height: 900 } },
  phone: { colorScheme: 'light', viewport: { width: 390, height: 800 }, deviceScaleFactor: 2, isMobile: true, hasTouch: true },
  narrow: { colorScheme: 'dark', viewport: { width: 320, height: 640 }, isMobile: true, hasTouch: true },
};

test('the session pages fit every screen, and axe finds nothing', { timeout: 120_000 }, async () => {
  mkdirSync(screenshots, { recursive: true });
  const waiting = await start('poet', { topic: 'love', lines: [3, 5, 3], by: { name: 'ana', years: 41 } });
  const done = await start('release-train', { version: '4.2.0', commit: '9f8e7d6c', changes: ['checkout', 'search'] });
  const { questions: [whom, checks] } = await settled(done);
  await server.call('POST', `/agent/answer/${done}`, { question_id: whom.id, answer: 'One in ten', answered_by: 'ana@example.org' });
  await server.call('POST', `/agent/answer/${done}`, { question_id: checks.id, answer: ['smoke tests', 'load test'], answered_by: 'ben@example.org' });
  await finished(done);
  await settled(waiting);
  mended = false;
  const failed = await start('broken');
  await finished(failed);
  const { context } = await as('ana');
  const storageState = await context.storageState();
  const faults = [];
  for (const [look, options] of Object.entries(looks)) {
    const tab = await openTab(browser, { ...options, storageState });
    try {
      for (const [name, target, ready] of [['session', `/session/${done}`, '.row.end'], ['session-waiting', `/session/${waiting}`, '.waiting'],
        ['session-failed', `/session/${failed}`, '.trouble'], ['sessions', '/sessions', 'tbody tr'], ['session-unknown', `/session/${kNone}`, '.state']]) {
        await tab.page.goto(server.url + target);
        await tab.page.locator(ready).first().waitFor();
        const wide = await tab.page.evaluate(() => document.documentElement.scrollWidth);
        if (wide > options.viewport.width) faults.push(`${name} is ${wide} px wide on a screen of ${options.viewport.width}`);
        if (look === 'narrow') continue;
        await tab.page.screenshot({ path: path.join(screenshots, `${name}-${look}.png`), fullPage: name !== 'sessions' });
        // A narrow screen changes no colour and no name, a dark one no name.
        if (options.isMobile || name === 'session-unknown') continue;
        const axe = new AxeBuilder({ page: tab.page }).setLegacyMode();
        const { violations, passes } = await (look === 'dark' ? axe.withRules(['color-contrast']) : axe).analyze();
        assert.ok(passes.length > (look === 'dark' ? 0 : 10), `axe has looked at next to nothing of ${name}`);
        faults.push(...violations.map(({ id, help, nodes }) => `${name} ${look}: ${id}: ${help}: ${nodes.map((node) => node.html).join(' | ')}`));
      }
    } finally {
      await tab.close();
    }
  }
  assert.deepEqual(faults, []);
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
