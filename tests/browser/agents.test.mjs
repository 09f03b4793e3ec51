// The agents page in front of the real server, with the demo agents.
import assert from 'node:assert/strict';
import path from 'node:path';
import { after, before } from 'node:test';
import { AxeBuilder } from '@axe-core/playwright';
import { gate } from '../clients/harness.mjs';
import { casesInTabs, password, readyForRoutes, screenshots, startBrowser, startServer } from './world.mjs';

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

const inTab = casesInTabs(() => browser);

const open = async (page) => {
  await page.goto(`${server.url}/agents`);
  await page.getByRole('heading', { name: 'write-poem' }).waitFor();
};
const card = (page, name) => page.locator(`[id="agent-${name}"]`);
const startedBy = async (page, name) => {
  const link = card(page, name).locator('.started a').first();
  await link.waitFor();
  return server.call('GET', `/agent/session/${await link.textContent()}`);
};

inTab('a card says how an agent runs, where its questions go, who may answer and until when', async ({ page }) => {
  await open(page);
  const text = await card(page, 'deploy-approval').textContent();
  for (const piece of [/Command/, /may ask/, /No sessions yet/, /The inbox only/, /Everybody who may answer/, /30 min, then it goes on without an answer/]) {
    assert.match(text, piece);
  }
  assert.equal(await card(page, 'deploy-approval').getByRole('link', { name: 'Its sessions' }).getAttribute('href'), '/sessions?agent=deploy-approval');
  assert.equal(await card(page, 'deploy-approval').getByRole('link', { name: 'Questions that wait' }).getAttribute('href'), '/?agent=deploy-approval');
});

inTab('an agent is started by mouse, its session is linked and followed, and the payload is kept for the next time', async ({ page }) => {
  await open(page);
  const poem = card(page, 'write-poem');
  await poem.getByRole('button', { name: 'Try it: write-poem' }).click();
  const area = poem.getByLabel('Payload');
  assert.equal(await area.inputValue(), '{}');
  await area.fill('{"topic": "love"}');
  await poem.getByText('The same by curl').click();
  assert.equal(await poem.locator('pre').textContent(),
    `curl -H 'Content-Type: application/json' \\\n  -d '{"topic": "love"}' \\\n  '${server.url}/agent/webhook/write-poem'`);
  await poem.getByRole('button', { name: 'Start a session' }).click();
  await poem.getByText('waiting for a person').waitFor();
  const session = await startedBy(page, 'write-poem');
  assert.deepEqual([session.agent_name, session.status], ['write-poem', 'pending_input']);
  assert.equal(await poem.getByRole('link', { name: 'Answer it' }).getAttribute('href'), '/?agent=write-poem');
  await poem.getByText('Asked in 1 of 1 session').waitFor();
  // What somebody typed is not taken away while figures change.
  assert.equal(await area.inputValue(), '{"topic": "love"}');
  await page.reload();
  await poem.getByRole('button', { name: 'Try it: write-poem' }).click();
  await page.waitForFunction(() => document.querySelector('textarea').value === '{"topic": "love"}');
});

inTab('where nothing is kept, the newest session tells what to start with', async ({ page }) => {
  await open(page);
  await card(page, 'write-poem').getByRole('button', { name: 'Try it: write-poem' }).click();
  await page.waitForFunction(() => document.querySelector('textarea').value === '{\n  "topic": "love"\n}');
});

inTab('what is selected, to be typed over, is not exchanged for what the newest session had', async ({ page }) => {
  await readyForRoutes(page);
  await open(page);
  const turn = gate();
  await page.route('**/agent/session/*/record', async (route) => {
    await turn.passed;
    await route.continue();
  });
  const poem = card(page, 'write-poem');
  const known = page.waitForResponse('**/agent/session/*/record');
  await poem.getByRole('button', { name: 'Try it: write-poem' }).click();
  const area = poem.getByLabel('Payload');
  await area.selectText();
  turn.open();
  await (await known).finished();
  // The page has made of it what it will once its own next task runs.
  await page.evaluate(() => new Promise((resolve) => { setTimeout(resolve); }));
  await page.keyboard.type('{"topic": "rain"}');
  assert.equal(await area.inputValue(), '{"topic": "rain"}');
});

inTab('an agent is started by keyboard alone', async ({ page }) => {
  await open(page);
  const focused = () => page.evaluate(() => document.activeElement.getAttribute('aria-label'));
  for (let presses = 0; await focused() !== 'Try it: deploy-approval'; presses += 1) {
    assert.ok(presses < 40, 'the button cannot be reached by Tab');
    await page.keyboard.press('Tab');
  }
  await page.keyboard.press('Enter');
  await page.keyboard.press('ControlOrMeta+a');
  await page.keyboard.type('{"service": "shop"}');
  await page.keyboard.press('Control+Enter');
  const { agent_name: agent } = await startedBy(page, 'deploy-approval');
  assert.equal(agent, 'deploy-approval');
});

inTab('what is no JSON object is refused before it is sent, and what the server refuses is said', async ({ page }) => {
  const sent = [];
  page.on('request', (request) => { if (request.method() === 'POST') sent.push(request.url()); });
  await readyForRoutes(page);
  await open(page);
  const poem = card(page, 'write-poem');
  await poem.getByRole('button', { name: 'Try it: write-poem' }).click();
  const area = poem.getByLabel('Payload');
  for (const [wrong, words] of [['{"topic": "love"\n"x": 1}', /not JSON \(line 2, column 1\)/], ['[1, 2]', /must be a JSON object/]]) {
    await area.fill(wrong);
    await poem.getByRole('button', { name: 'Start a session' }).click();
    assert.match(await poem.getByRole('alert').textContent(), words);
    assert.equal(await area.getAttribute('aria-invalid'), 'true');
    assert.equal(await page.evaluate(() => document.activeElement.tagName), 'TEXTAREA');
  }
  assert.deepEqual(sent, []);
  await area.fill('{}');
  assert.equal(await poem.getByRole('alert').count(), 0);
  await page.route('**/agent/webhook/*', (route) => route.continue({ postData: '[]' }));
  await poem.getByRole('button', { name: 'Start a session' }).click();
  assert.match(await poem.getByRole('alert').textContent(), /^Refused \(400, body\): .*must be a JSON object/);
  await page.unroute('**/agent/webhook/*');
  await poem.getByRole('button', { name: 'Start a session' }).click();
  await startedBy(page, 'write-poem');
  assert.equal(await poem.getByRole('alert').count(), 0);
}, { known: ['status of 400'] });

const plain = {
  runner: 'external', about: '', async_questions: true, model: null, tools: [], mcp_servers: [], sub_agents: [], channels: [], callback: false, answerers: [], allow_cancel: true,
  question_timeout: 60, on_timeout: 'fail', webhook_verify: 'none', may_answer: true, named: false, may_start: false,
};

inTab('many agents can be searched by name; none at all tells how to define one; what cannot be read can be tried again', async ({ page }) => {
  let reply = { status: 500, json: { error: { code: 'internal', message: 'something broke' } } };
  await page.route('**/agent/agents', (route) => route.fulfill(reply));
  await page.goto(`${server.url}/agents`);
  await page.getByRole('alert').filter({ hasText: 'Because something broke.' }).waitFor();
  reply = { contentType: 'application/json', body: '{"agents": [' };
  await page.getByRole('alert').filter({ hasText: 'Because the server cannot be reached.' }).waitFor();
  const again = page.waitForRequest('**/agent/agents');
  await page.getByRole('button', { name: 'Try again' }).click();
  await again;
  reply = { json: { agents: [] } };
  await page.getByRole('heading', { name: 'Define an agent' }).waitFor();
  reply = { json: { agents: Array.from({ length: 12 }, (_, i) => ({ ...plain, name: `agent-${i}` })) } };
  await page.keyboard.press('r');
  await page.getByRole('heading', { name: 'agent-11' }).waitFor();
  await page.keyboard.press('/');
  await page.keyboard.type('T-1');
  assert.deepEqual(await page.locator('.agent:visible h2').allTextContents(), ['agent-1', 'agent-10', 'agent-11']);
  await page.keyboard.type('zz');
  await page.getByText('No agent’s name has “T-1zz” in it.').waitFor();
}, { known: ['status of 500'] });

for (const [look, options] of Object.entries({
  light: { viewport: { width: 1280, height: 900 } },
  dark: { viewport: { width: 1280, height: 900 }, colorScheme: 'dark' },
  phone: { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true },
})) {
  inTab(`the page fits its screen and axe finds no fault: ${look}`, async ({ page }) => {
    await open(page);
    await card(page, 'write-poem').getByRole('button', { name: 'Try it: write-poem' }).click();
    await page.getByText('The same by curl').click();
    await page.evaluate(() => scrollTo(0, 0));
    await page.screenshot({ path: path.join(screenshots, `agents-${look}.png`), fullPage: true });
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth) <= options.viewport.width);
    const { violations, passes } = await new AxeBuilder({ page }).setLegacyMode().analyze();
    assert.ok(passes.length > 10, 'axe has looked at next to nothing');
    assert.deepEqual(violations.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.html).join(' | ')}`), []);
  }, options);
}

inTab('a viewer sees the agents, but cannot start one', async ({ page }) => {
  await server.closeUp();
  await server.addUser('vera', 'viewer');
  await page.goto(`${server.url}/login`);
  await page.getByLabel('Name').fill('vera');
  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: 'Log in' }).click();
  await page.getByRole('link', { name: 'Agents' }).click();
  await page.getByRole('heading', { name: 'write-poem' }).waitFor();
  assert.equal(await page.getByRole('button', { name: /^Try / }).count(), 0);
  assert.match(await card(page, 'write-poem').textContent(), /You may not/);
});
