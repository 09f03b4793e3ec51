// What our pages look like to people and to their tools: axe's rules, narrow screens, and pictures in build/screenshots/.
import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { AxeBuilder } from '@axe-core/playwright';
import { openTab, password, screenshots, startBrowser, startServer } from './world.mjs';

const looks = {
  light: { colorScheme: 'light', viewport: { width: 1024, height: 900 } },
  dark: { colorScheme: 'dark', viewport: { width: 1024, height: 900 } },
  phone: { colorScheme: 'light', viewport: { width: 320, height: 640 }, deviceScaleFactor: 2, isMobile: true, hasTouch: true },
};
const question = {
  header: 'Release',
  question: 'Roll version 4.2.0 out to all customers now?\nThe canary has run for two hours without a single error.',
  options: [
    { label: 'All of them', description: 'Ten thousand machines in about twenty minutes', emoji: '🚀', recommended: true },
    { label: 'One in ten', description: 'and ask me again tomorrow' },
    { label: 'Not now' },
  ],
};
const context = {
  version: '4.2.0',
  commit: '9f8e7d6c5b4a39281706f5e4d3c2b1a09f8e7d6c5b4a39281706f5e4d3c2b1a0',
  canary: { hours: 2, errors: 0, regions: ['eu-west', 'us-east'] },
};

let browser;
let server;
// name → how to get there with a page
const pages = {};
before(async () => {
  browser = await startBrowser();
  server = await startServer({ agents: { 'release-train': {}, 'a-rather-long-agent-name-that-somebody-thought-of': {} } });
  await server.closeUp();
  await server.addUser('ana', 'answerer');
  const [waiting, several, free, answered, cancelled] = await Promise.all([
    server.ask(question, context, 'release-train'),
    server.ask({ question: 'Which reports shall I send?', multi_select: true, options: ['Sales', 'Stock', 'Returns', 'Complaints', 'Forecast'] }),
    server.ask({ question: 'What shall the subject line say?' }, {}, 'a-rather-long-agent-name-that-somebody-thought-of'),
    server.ask({ question: 'Delete the 14 test accounts?', options: ['Yes', 'No'] }),
    server.ask({ question: 'Restart the importer?', options: ['Yes', 'No'] }),
  ]);
  const links = {};
  for (const [name, { id }] of Object.entries({ waiting, several, free, answered, cancelled })) links[name] = await server.link(id, 'ana@example.org');
  await server.call('POST', `/agent/answer/${answered.session}`, { answer: 'Yes', answered_by: 'ben@example.org' });
  await server.call('POST', `/agent/session/${cancelled.session}/cancel`);
  const go = (target) => (page) => page.goto(server.url + target);
  const logIn = async (page, word = password) => {
    await page.goto(`${server.url}/login`);
    await page.getByLabel('Name').fill('ana');
    await page.getByLabel('Password').fill(word);
    await page.getByRole('button', { name: 'Log in' }).click();
  };
  Object.assign(pages, {
    answer: go(`${links.waiting}&answer=One+in+ten`),
    complaint: async (page) => {
      await page.goto(server.url + links.waiting);
      await page.getByRole('button', { name: 'Answer' }).click();
    },
    several: go(links.several),
    free: go(links.free),
    decided: go(links.answered),
    cancelled: go(links.cancelled),
    dead: go(`${links.waiting.replace(/.{8}$/, 'AAAAAAAA')}`),
    login: go('/login'),
    'wrong-login': (page) => logIn(page, 'not the right one'),
    list: async (page) => {
      await logIn(page);
      await page.goto(`${server.url}/questions`);
    },
  });
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

const seriousFaults = async (name, page) => {
  // In one go, without a second window: there are no frames to add up.
  const { violations, passes } = await new AxeBuilder({ page }).setLegacyMode().analyze();
  assert.ok(passes.length > 10, `axe has looked at next to nothing of ${name}`);
  return violations.filter(({ impact }) => ['serious', 'critical'].includes(impact))
    .map(({ id, impact, help, nodes }) => `${name}: ${id} (${impact}) ${help}: ${nodes.map((node) => node.html).join(' | ')}`);
};

for (const [look, options] of Object.entries(looks)) {
  test(`every page fits its screen and has no serious fault by axe's rules: ${look}`, { timeout: 120_000 }, async () => {
    mkdirSync(screenshots, { recursive: true });
    const { width } = options.viewport;
    const faults = [];
    const tab = await openTab(browser, options);
    try {
      for (const [name, visit] of Object.entries(pages)) {
        await visit(tab.page);
        await tab.page.locator('main').waitFor();
        await tab.page.screenshot({ path: path.join(screenshots, `${name}-${look}.png`), fullPage: true });
        const taken = await tab.page.evaluate(() => document.documentElement.scrollWidth);
        if (taken > width) faults.push(`${name} is ${taken} px wide on a screen of ${width}`);
        // A narrow screen changes no colour and no name.
        if (!options.isMobile) faults.push(...await seriousFaults(name, tab.page));
      }
    } finally {
      await tab.close();
    }
    assert.deepEqual(faults, []);
  });
}

test('the style sheet is really applied', { timeout: 60_000 }, async () => {
  const tab = await openTab(browser, looks.dark);
  try {
    await pages.login(tab.page);
    const colours = await tab.page.evaluate(() => [getComputedStyle(document.body).backgroundColor, getComputedStyle(document.querySelector('button')).borderRadius]);
    assert.deepEqual(colours, ['rgb(20, 23, 26)', '8px']);
  } finally {
    await tab.close();
  }
});
