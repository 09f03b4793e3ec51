// What the pages show of model agents: from a story that the server could tell, and of a session that a scripted model drives.
import assert from 'node:assert/strict';
import path from 'node:path';
import { after, before } from 'node:test';
import { AxeBuilder } from '@axe-core/playwright';
import { eventually } from '../clients/harness.mjs';
import { startModel } from '../clients/model_standin.mjs';
import { agents, session, tellModelStory, used } from './model_story.mjs';
import { casesInTabs, readyForRoutes, screenshots, startBrowser, startServer } from './world.mjs';

let browser;
let server;
let model;
before(async () => {
  browser = await startBrowser();
  model = await startModel();
  const llm = { runner: 'llm', model: 'scripted/sharp', text: 'The secret of this prompt is xyzzy.' };
  server = await startServer({
    agents: {
      clerk: {
        ...llm, description: 'Files what comes in.', sub_agents: ['helper'],
        tools: [{ name: 'shout', description: 'Says it loudly.', command: ['tr', 'a-z', 'A-Z'] }, { name: 'fall', description: 'Falls.', command: ['false'] }],
      },
      helper: { ...llm, async_questions: false },
    },
    settings: `[llm.scripted]
api = "anthropic"
base_url = "${model.url}"
auth = "none"
models = { sharp = "sharp-1" }
prices = { sharp = [3, 20] }
[outgoing]
allow_private = ["127.0.0.0/8"]
`,
  });
});
after(async () => {
  await browser?.close();
  await server?.stop();
  await model?.close();
});

const inTab = casesInTabs(() => browser);
const rows = (page) => page.locator('.story > .row .text').allTextContents();
const open = async (page, options) => {
  await tellModelStory(page, options);
  await page.goto(`${server.url}/session/${session}`);
  await page.locator('.row').first().waitFor();
};
const withFigures = (page, change) => page.route('**/agent/operations', async (route) => {
  const response = await route.fetch();
  await route.fulfill({ response, json: change(await response.json()) });
});

inTab('a session shows what its model used, and each step within its turn', async ({ page }) => {
  await open(page);
  const facts = await page.locator('.facts').textContent();
  for (const piece of ['Model replies7', 'Tokens35,243 in (21,800 cached), 889 out', 'Cost$0.061']) assert.ok(facts.includes(piece), facts);
  const told = await rows(page);
  assert.deepEqual(told.map((text) => text.replace(/ [\d.]+ (s|ms|min)\b.*$/, '')), [
    'triage-issue was started', 'Turn 1 began and started 3 sub-agents', '3 sub-agents started',
    'Turn 2 took up what its sub-agents brought and asked 1 question', 'Asked: Which team owns the importer?', 'ana answered in Slack after',
    'Turn 3 took up the answer and gave the result', 'Completed',
  ]);
  const turns = page.locator('.row.turn');
  assert.match(await turns.nth(0).locator('.steps').textContent(), /The model replied, asked for 2 tools \(1,240 tokens in, 96 out\).*get_issue ran.*github__search_issues failed/);
  // Of a long turn there is the sum; all of it when it is opened.
  const long = turns.nth(1).locator('details').filter({ hasText: '3 replies of anthropic/sonnet · 4 tools ran · 17,610 tokens in, 462 out' });
  assert.equal(await long.evaluate((fold) => fold.open), false);
  await long.locator('summary').click();
  await long.locator('li').first().waitFor();  // It is filled when it is opened first.
  assert.equal(await long.locator('li').count(), 7);
  assert.match(await page.getByRole('img', { name: 'The story in a strip' }).getAttribute('aria-label'), /sub-agents were waited for 10\.3 s/);
});

inTab('each sub-agent says how it ended, and leads to its session', async ({ page }) => {
  await open(page);
  const subs = page.locator('.subs li');
  assert.deepEqual(await subs.allTextContents(), ['researcher completed after 7.9 s', 'researcher completed after 6.5 s', 'reviewer failed after 10.3 s']);
  assert.equal(await subs.nth(2).getByRole('link').getAttribute('href'), '/session/01a1e541-0000-7000-8000-000000000004');
});

inTab('a turn that runs shows its steps as they come, and sub-agents that run are linked', async ({ page }) => {
  await open(page, { upTo: 18 });
  const turn = page.locator('.row.turn').nth(1);
  assert.equal(await turn.locator('details[data-fold$=steps]').evaluate((fold) => fold.open), true);
  // It looks again and again, and the server knows nothing of this session.
  await page.goto('about:blank');
  await page.unrouteAll();
  await open(page, { upTo: 7 });
  assert.deepEqual(await page.locator('.subs li').allTextContents(), ['researcher is running', 'researcher is running', 'reviewer is running']);
});

inTab('an agent that a model runs says which, what it may use and whom it may start', async ({ page }) => {
  await page.route('**/agent/agents', (route) => route.fulfill({ json: { agents } }));
  await withFigures(page, (figures) => ({ ...figures, agents: used }));
  await page.goto(`${server.url}/agents`);
  const card = page.locator('#agent-triage-issue');
  await card.waitFor();
  assert.deepEqual(await card.locator('.head .tag').allTextContents(), ['Model', 'may ask']);
  const text = await card.textContent();
  for (const piece of [/A model that this server asks/, /Modelsonnet/, /get_issueadd_labelcount_usersthose of github \(MCP\)/, /Its model used 3,829,992 tokens, \$6\.49 in all/]) {
    assert.match(text, piece);
  }
  assert.equal(await card.getByRole('link', { name: 'researcher' }).getAttribute('href'), '#agent-researcher');
  assert.match(await page.locator('#agent-researcher').textContent(), /None of its own/);
  assert.doesNotMatch(await page.locator('#agent-reviewer').textContent(), /Model|Tools|May start/);
});

inTab('operations show what models use, the dearest first, and nothing of it where none was asked', async ({ page }) => {
  await readyForRoutes(page);
  await page.goto(`${server.url}/operations`);
  await page.getByRole('heading', { name: 'Sessions by state' }).waitFor();
  assert.equal(await page.locator('#usage').isVisible(), false);
  await withFigures(page, (figures) => ({ ...figures, agents: used }));
  await page.keyboard.press('r');
  await page.getByRole('heading', { name: 'What models use' }).waitFor();
  const row = (name) => page.locator('#usage').getByRole('row').filter({ has: page.getByRole('rowheader', { name }) });
  assert.deepEqual(await page.locator('#usage').getByRole('rowheader').allTextContents(), ['triage-issue', 'researcher']);
  assert.deepEqual(await row('triage-issue').getByRole('cell').allTextContents(), ['106', '3,735,758', '94,234', '$6.49', '$0.061']);
  assert.deepEqual(await row('researcher').getByRole('cell').allTextContents(), ['212', '1,804,120', '90,210', 'not known', '–']);
});

// Tools, then a sub-agent, then a question, then the end.
const clerk = ({ step }) => [
  { text: 'I look.', calls: [{ id: 'c1', name: 'shout', input: { word: 'hello' } }, { id: 'c2', name: 'fall', input: {} }], usage: [1000, 50] },
  { calls: [{ id: 'c3', name: 'spawn_agents', input: { agents: [{ agent: 'helper', payload: { script: 'helper' } }] } }], usage: [1200, 60] },
  { calls: [{ id: 'c4', name: 'ask_user_question', input: { questions: [{ question: 'Where to?', options: [{ label: 'left' }, { label: 'right' }] }] } }], usage: [1400, 70] },
  { text: 'Filed <b>left</b>.', usage: [1600, 80] },
][step];

inTab('a session that a model drives is shown from its tools and sub-agents to its answer, as it goes on', async ({ page }) => {
  model.scripts.set('clerk', clerk);
  model.scripts.set('helper', () => ({ text: 'It is known.' }));
  const { session_id: id } = await server.call('POST', '/agent/webhook/clerk', { script: 'clerk' });
  await eventually('the question', async () => (await server.call('GET', `/agent/session/${id}`)).status === 'pending_input');
  await page.goto(`${server.url}/session/${id}`);
  await page.getByRole('heading', { name: 'It waits for an answer' }).waitFor();
  assert.match(await page.locator('.facts').textContent(), /Model replies3Tokens3,600 in, 180 outCost\$0\.014/);
  assert.match(await page.locator('.row.turn').first().textContent(), /2 replies of scripted\/sharp · 2 tools ran, 1 failed · 2,200 tokens in, 110 out/);
  await page.locator('.taken .bad', { hasText: 'fall failed' }).waitFor();
  await server.call('POST', `/agent/answer/${id}`, { answer: 'left', answered_by: 'ana' });
  await page.getByText('Completed', { exact: true }).waitFor();
  await page.locator('.facts', { hasText: 'Model replies4' }).waitFor();
  assert.match(await page.getByRole('region', { name: 'Result' }).textContent(), /text: "Filed <b>left<\/b>\."/);
  await page.locator('.subs a', { hasText: 'helper' }).click();
  await page.getByText('helper was started by another session').waitFor();

  await page.goto(`${server.url}/agents`);
  await page.locator('#agent-clerk', { hasText: 'Its model used 5,460 tokens, $0.021 in all.' }).waitFor();
  assert.ok((await page.content()).includes('Files what comes in.') && !(await page.content()).includes('xyzzy'), 'the prompt is shown');
});

for (const [look, options] of Object.entries({
  light: { viewport: { width: 1280, height: 900 } },
  dark: { viewport: { width: 1280, height: 900 }, colorScheme: 'dark' },
  phone: { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true },
})) {
  inTab(`the pages with model agents fit their screen and axe finds no fault: ${look}`, async ({ page }) => {
    await page.route('**/agent/agents', (route) => route.fulfill({ json: { agents } }));
    await withFigures(page, (figures) => ({ ...figures, agents: used }));
    const judge = async (name) => {
      await page.screenshot({ path: path.join(screenshots, `model-${name}-${look}.png`), fullPage: true });
      assert.ok(await page.evaluate(() => document.documentElement.scrollWidth) <= options.viewport.width, `${name} is too wide`);
      const { violations, passes } = await new AxeBuilder({ page }).setLegacyMode().analyze();
      assert.ok(passes.length > 10, 'axe has looked at next to nothing');
      assert.deepEqual(violations.map(({ id, nodes }) => `${name} ${id}: ${nodes.map((node) => node.html).join(' | ')}`), []);
    };
    await open(page);
    await judge('session');
    await page.goto(`${server.url}/agents`);
    await page.locator('#agent-triage-issue').waitFor();
    await judge('agents');
    await page.goto(`${server.url}/operations`);
    await page.getByRole('heading', { name: 'What models use' }).waitFor();
    await judge('operations');
  }, options);
}
