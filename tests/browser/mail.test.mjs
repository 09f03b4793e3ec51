// What our mails look like on a phone and on a desk, and the page that they lead to; pictures in build/screenshots/.
import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { AxeBuilder } from '@axe-core/playwright';
import { startMailbox } from './mailbox.mjs';
import { openTab, screenshots, startBrowser, startServer } from './world.mjs';

const phone = { viewport: { width: 390, height: 844 }, deviceScaleFactor: 2, isMobile: true, hasTouch: true };
const looks = {
  390: { ...phone, colorScheme: 'light' },
  '390-dark': { ...phone, colorScheme: 'dark' },
  1280: { viewport: { width: 1280, height: 900 }, colorScheme: 'light' },
  '1280-dark': { viewport: { width: 1280, height: 900 }, colorScheme: 'dark' },
};
const release = {
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
const asked = {
  question: [release, context],
  several: [{ question: 'Which reports shall I send?', multi_select: true, allow_other: false, options: ['Sales', 'Stock', 'Returns', 'Complaints', 'Forecast'] }],
  free: [{ question: 'What shall the subject line say?' }],
  arabic: [{ question: 'هل نطلق الإصدار الآن لجميع العملاء؟', options: [{ label: 'نعم', description: 'فورًا' }, { label: 'لا' }] }],
  long: [{ question: `Is ${'all-in-one-word-'.repeat(30)} too long?\n${'It goes on and on, and then it goes on. '.repeat(30)}`, options: ['W'.repeat(200), 'no'] }, { key: 'v'.repeat(500), list: Array.from({ length: 30 }, (_, i) => ({ i })) }],
  closing: [release, context],
};

let browser;
let server;
let mailbox;
const mails = {};  // name → the HTML
before(async () => {
  browser = await startBrowser();
  mailbox = await startMailbox();
  server = await startServer({
    agents: { 'release-train': {} },
    settings: `
[email]
smtp_url = "${mailbox.url}"
smtp_tls = false
from = "Holdpoint <holdpoint@example.org>"
[questions]
notify_email = true
email_to = ["ana@example.org", "ben@example.org"]
`,
  });
  const waiting = async (name, [question, about]) => {
    const { session } = await server.ask(question, about, 'release-train');
    const of = ({ raw, to }) => raw.includes(session) && to === 'ana@example.org';
    mails[name] = (await mailbox.take(`the mail ${name}`, of)).html;
    if (name !== 'closing') return;
    await server.call('POST', `/agent/answer/${session}`, { answer: 'One in ten', answered_by: 'ben@example.org' });
    mails.closing = (await mailbox.take('the closing mail', (mail) => of(mail) && mail.html !== mails.closing)).html;
  };
  await Promise.all(Object.entries(asked).map(([name, ask]) => waiting(name, ask)));
}, { timeout: 60_000 });
after(async () => {
  await browser?.close();
  await server?.stop();
  mailbox?.close();
});

// What a page would fetch, run or move, and whether it fits a hand.
const look = (page) => page.evaluate(() => ({
  width: document.documentElement.scrollWidth,
  foreign: [...document.querySelectorAll('img, script, link, iframe, object, form, video, svg')].map((node) => node.outerHTML),
  small: [...document.querySelectorAll('a.option')].filter((a) => a.getBoundingClientRect().height < 44).map((a) => a.textContent),
  buttons: document.querySelectorAll('a.option').length,
}));

for (const [name, options] of Object.entries(looks)) {
  test(`every mail fits its screen, its buttons fit a thumb, and nothing is fetched: ${name}`, { timeout: 120_000 }, async () => {
    mkdirSync(screenshots, { recursive: true });
    const tab = await openTab(browser, options);
    const faults = [];
    const fetched = [];
    tab.page.on('request', (request) => fetched.push(request.url()));
    try {
      for (const [mail, html] of Object.entries(mails)) {
        await tab.page.setContent(html);
        await tab.page.screenshot({ path: path.join(screenshots, `mail-${mail}-${name}.png`), fullPage: true });
        const { width, foreign, small, buttons } = await look(tab.page);
        if (width > options.viewport.width) faults.push(`${mail} is ${width} px wide on a screen of ${options.viewport.width}`);
        faults.push(...foreign, ...small.map((text) => `${mail}: the button "${text}" is less than 44 px high`));
        assert.equal(buttons > 0, mail !== 'closing', mail);
        if (options.isMobile) continue;
        const { violations } = await new AxeBuilder({ page: tab.page }).setLegacyMode().analyze();
        faults.push(...violations.filter(({ impact }) => ['serious', 'critical'].includes(impact)).map(({ id, help, nodes }) => `${mail}: ${id} ${help}: ${nodes.map((node) => node.html).join(' | ')}`));
      }
    } finally {
      await tab.close();
    }
    assert.deepEqual(faults, []);
    assert.deepEqual(fetched, []);
  });
}

test('a button opens the page with its option ticked, and one more press answers', { timeout: 60_000 }, async () => {
  mkdirSync(screenshots, { recursive: true });
  for (const [name, options] of Object.entries(looks)) {
    const tab = await openTab(browser, options);
    try {
      await tab.page.setContent(mails.question);
      const url = new URL(await tab.page.getByRole('link', { name: /One in ten/ }).getAttribute('href'));
      await tab.page.goto(server.url + url.pathname + url.search);
      assert.equal(await tab.page.getByRole('radio', { name: /One in ten/ }).isChecked(), true);
      await tab.page.screenshot({ path: path.join(screenshots, `mail-page-${name}.png`), fullPage: true });
      assert.ok(await tab.page.evaluate(() => document.documentElement.scrollWidth) <= options.viewport.width);
      if (name !== Object.keys(looks).at(-1)) continue;
      await tab.page.getByRole('button', { name: 'Answer' }).click();
      await tab.page.getByText('Your answer is kept').waitFor();
      await tab.page.screenshot({ path: path.join(screenshots, `mail-thanks-${name}.png`), fullPage: true });
    } finally {
      await tab.close();
    }
  }
});
