// The operations page in front of the real server, and a receiver of callbacks that can be told to refuse. One server for all cases, in order.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import http from 'node:http';
import path from 'node:path';
import { after, before } from 'node:test';
import { AxeBuilder } from '@axe-core/playwright';
import { casesInTabs, password, readyForRoutes, screenshots, startBrowser, startServer } from './world.mjs';

let browser;
let server;
let receiver;

async function startReceiver() {
  const received = [];
  const box = { received, status: 200 };
  const listener = http.createServer((request, response) => {
    received.push(request.headers['webhook-id']);
    request.resume();
    response.writeHead(box.status).end();
  });
  listener.listen(0, '127.0.0.1');
  await once(listener, 'listening');
  box.url = `http://127.0.0.1:${listener.address().port}/hook`;
  box.stop = () => { listener.closeAllConnections(); listener.close(); };
  return box;
}

before(async () => {
  browser = await startBrowser();
  receiver = await startReceiver();
  server = await startServer({
    agents: { hooked: { question_callback: receiver.url }, lost: { question_callback: 'http://127.0.0.1:1/hook' }, quiet: {} },
    settings: '[outgoing]\nallow_private = ["127.0.0.0/8"]\n',
  });
});
after(async () => {
  await browser?.close();
  receiver?.stop();
  await server?.stop();
});

const inTab = casesInTabs(() => browser);

const open = async (page) => {
  await page.goto(`${server.url}/operations`);
  await page.getByRole('heading', { name: 'Sessions by state' }).waitFor();
};
const state = (page, name) => page.locator('.legend').getByRole('link', { name, exact: true });
const deliveries = (page) => page.locator('#deliveries');
const faults = async (page) => {
  const { violations, passes } = await new AxeBuilder({ page }).setLegacyMode().analyze();
  assert.ok(passes.length > 10, 'axe has looked at next to nothing');
  return violations.map(({ id, help, nodes }) => `${id} ${help}: ${nodes.map((node) => node.html).join(' | ')}`);
};
const question = { question: 'Ship it?', options: ['yes', 'no'] };

inTab('sessions are counted by state, each count leads to them, and it follows what happens', async ({ page }) => {
  const asked = [await server.ask(question), await server.ask(question), await server.ask(question), await server.ask(question, {}, 'quiet')];
  await server.call('POST', `/agent/answer/${asked[0].session}`, { answer: 'yes', answered_by: 'ana' });
  await server.call('POST', `/agent/session/${asked[1].session}/cancel`);
  await open(page);
  await state(page, '2 waiting for a person').waitFor();
  await state(page, '1 completed').waitFor();
  await state(page, '1 cancelled').waitFor();
  await state(page, '0 running').waitFor();
  assert.equal(await state(page, '2 waiting for a person').getAttribute('href'), '/sessions?status=pending_input');
  assert.match(await page.locator('.stacked').getAttribute('aria-label'), /2 waiting for a person, 1 completed, 0 failed, 1 cancelled/);
  const waiting = page.getByRole('link', { name: '2 questions wait' });
  assert.equal(await waiting.getAttribute('href'), '/');
  await server.ask(question);
  await state(page, '3 waiting for a person').waitFor();
  await page.getByRole('link', { name: '3 questions wait' }).waitFor();
});

inTab('answer times show by agent, as a picture with words and as numbers; agents without answers are named', async ({ page }) => {
  await open(page);
  const row = page.getByRole('row').filter({ has: page.getByRole('rowheader', { name: 'caller' }) });
  assert.match(await row.getByRole('img').getAttribute('aria-label'), /^caller: median .+, 95 % within .+; 1 answer took less than 10 s$/);
  assert.deepEqual((await row.getByRole('cell').allTextContents()).at(-1), '1');
  assert.match(await page.locator('#times').textContent(), /Of the newest 10,000 answers[^]*No answers yet: .*quiet/);
});

inTab('version, database and the node that answers are there', async ({ page }) => {
  await open(page);
  const { version } = await server.call('GET', '/agent/operations');
  assert.match(await page.locator('#about').textContent(), new RegExp(`Holdpoint ${version.replaceAll('.', '\\.')} on SQLite`));
  const node = page.locator('#nodes').getByRole('row').nth(1);
  assert.match(await node.textContent(), new RegExp(`this one\\s*Live.*127\\.0\\.0\\.1:${server.port}.*${version.replaceAll('.', '\\.')}`));
});

inTab('a message that was refused for good is shown dead, and Redeliver really sends it again', async ({ page }) => {
  receiver.status = 410;
  const asked = [await server.ask(question, {}, 'hooked'), await server.ask(question, {}, 'hooked'), await server.ask(question, {}, 'hooked')];
  await open(page);
  const rows = deliveries(page).getByRole('listitem');
  const redeliver = deliveries(page).getByRole('button', { name: 'Redeliver to http' });
  await redeliver.nth(2).waitFor();
  const texts = await rows.allTextContents();
  for (const text of texts) assert.match(text, /^Dead\s*Callbacks\s*Question pending.*127\.0\.0\.1/);
  assert.ok(texts.some((text) => /HTTP 410.*1 attempt/.test(text)), texts.join('\n'));
  for (const { session } of asked) assert.equal(await deliveries(page).locator(`a[href="/session/${session}"]`).count(), 1);
  assert.match(await page.locator('[data-channel=url]').textContent(), /Failing/);
  await page.getByRole('link', { name: '3 messages are dead' }).waitFor();

  receiver.status = 200;
  receiver.received.length = 0;
  const first = await rows.first().getAttribute('data-delivery');
  await redeliver.first().focus();
  await page.keyboard.press('Enter');
  await rows.filter({ hasText: 'Delivered' }).waitFor();
  assert.deepEqual(receiver.received, [first]);
  await page.getByRole('link', { name: '2 messages are dead' }).waitFor();
  await page.locator('[data-channel=url]').getByText('Working').waitFor();
});

inTab('redelivering all asks first, stops at an error and says how far it got, and then sends the rest', async ({ page }) => {
  receiver.received.length = 0;
  await readyForRoutes(page);
  await open(page);
  const all = (count) => deliveries(page).getByRole('button', { name: `Redeliver all ${count}` });
  await all(2).click();
  await page.getByRole('button', { name: 'Not now' }).click();
  assert.deepEqual(receiver.received, []);

  let calls = 0;
  await page.route('**/redeliver', (route) => {
    calls += 1;
    return route.fulfill({ status: 503, json: { error: { code: 'unavailable', message: 'the store cannot commit now' } } });
  });
  await all(2).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Redeliver all' }).click();
  await page.getByText('Stopped after 0 of 2: the store cannot commit now. The other 2 are still dead.').waitFor();
  assert.equal(calls, 1);
  await page.unroute('**/redeliver');
  await all(2).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Redeliver all' }).click();
  await deliveries(page).getByText('Every message has arrived, or is on its way.').waitFor();
  await deliveries(page).getByRole('listitem').filter({ hasText: 'Delivered' }).nth(1).waitFor();
  assert.equal(new Set(receiver.received).size, 2);
  assert.equal(await deliveries(page).getByRole('button').count(), 0);
}, { known: ['503'] });

inTab('figures that cannot be read say so and can be tried again; r reads them again', async ({ page }) => {
  await page.route('**/agent/operations', (route) => route.fulfill({ status: 500, json: { error: { code: 'internal', message: 'something broke' } } }));
  await page.goto(`${server.url}/operations`);
  await page.getByRole('alert').filter({ hasText: 'Because something broke.' }).waitFor();
  const again = page.waitForRequest('**/agent/operations');
  await page.getByRole('button', { name: 'Try again' }).click();
  await again;
  await page.unroute('**/agent/operations');
  await state(page, '1 completed').waitFor();
  const read = page.waitForRequest('**/agent/operations');
  await page.keyboard.press('r');
  await read;
}, { known: ['500'] });

inTab('a server that is gone is said above what was read last, and the page goes on by itself once it is back', async ({ page }) => {
  await open(page);
  await page.getByRole('img', { name: 'Live' }).waitFor();
  await server.crash();
  await page.getByText('The server cannot be reached.').waitFor();
  await state(page, '1 completed').waitFor();
  await server.restart();
  await server.ask(question, {}, 'quiet');
  await page.getByRole('link', { name: '7 questions wait' }).waitFor({ timeout: 20_000 });
  await page.getByText('The server cannot be reached.').waitFor({ state: 'hidden' });
  await page.locator('#nodes').getByRole('row').filter({ hasText: 'this one' }).waitFor();
}, { known: ['ERR_'] });

inTab('a message that is tried again says how often it was, why it failed, and when it is tried next', async ({ page }) => {
  await open(page);
  await server.ask(question, {}, 'lost');
  const row = deliveries(page).getByRole('listitem').filter({ hasText: '127.0.0.1:1/hook' });
  await row.waitFor();
  assert.match(await row.textContent(), /^Retrying\s*Callbacks\s*Question pending.*\d attempts? · next (in \d+|now)/);
  assert.ok((await row.locator('.error-text').textContent()).length > 5);
  assert.equal(await row.getByRole('button').count(), 0);
  await page.getByRole('link', { name: '1 message is tried again' }).waitFor();
});

for (const [look, options] of Object.entries({
  light: { viewport: { width: 1280, height: 900 } },
  dark: { viewport: { width: 1280, height: 900 }, colorScheme: 'dark' },
  phone: { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true },
})) {
  inTab(`the page fits its screen and axe finds no fault: ${look}`, async ({ page }) => {
    if (look === 'light') {
      receiver.status = 410;
      await server.ask(question, {}, 'hooked');
    }
    await open(page);
    await deliveries(page).getByRole('button', { name: 'Redeliver to http' }).waitFor();
    await page.screenshot({ path: path.join(screenshots, `operations-${look}.png`), fullPage: true });
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth) <= options.viewport.width);
    assert.deepEqual(await faults(page), []);
  }, options);
}

inTab('a viewer sees how many are dead, but not which, and has no Redeliver', async ({ page }) => {
  await server.closeUp();
  await server.addUser('vera', 'viewer');
  await page.goto(`${server.url}/login?next=/operations`);
  await page.getByLabel('Name').fill('vera');
  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: 'Log in' }).click();
  await deliveries(page).getByText('1 message dead').waitFor();
  await deliveries(page).getByText('An admin can see which').waitFor();
  assert.equal(await deliveries(page).getByRole('button').count(), 0);
  assert.equal(await deliveries(page).getByRole('listitem').count(), 0);
});
