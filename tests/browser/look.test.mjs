// What our pages look like to people and to their tools: axe's rules, narrow screens, and pictures in build/screenshots/.
// docs/inbox.png is inbox-light.png of these, docs/inbox-phone.png is inbox-batch-phone.png.
import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { AxeBuilder } from '@axe-core/playwright';
import { logIn, settled, startScene } from './scene.mjs';
import { openTab, screenshots, startBrowser } from './world.mjs';

const desk = { viewport: { width: 1280, height: 800 }, colorScheme: 'light' };
const phone = { viewport: { width: 390, height: 844 }, colorScheme: 'light', deviceScaleFactor: 2, isMobile: true, hasTouch: true };
const narrowest = 320;

let browser;
let scene;
let server;
const cookies = {};  // By user, who has logged in once.
// name → [who looks, how to get there]. A page of the inbox's own is photographed as the screen shows it, others as a whole.
const pages = {};
before(async () => {
  browser = await startBrowser();
  scene = await startScene();
  ({ server } = scene);
  for (const name of ['ana', 'vera', 'root']) {
    const tab = await openTab(browser);
    await logIn(tab.page, server, name, '/questions');
    cookies[name] = await tab.context.cookies();
    await tab.close();
  }
  const { link, waiting, batch, batchQuestions, done, failed } = scene;
  const plain = (target) => (page) => page.goto(server.url + target);
  const open = (target, there) => async (page) => {
    await page.goto(server.url + target);
    await settled(page);
    if (there) await page.locator(there).first().waitFor();
  };
  // `there` is what the next page has.
  const press = (target, name, there) => async (page) => {
    await page.goto(server.url + target);
    await page.getByRole('button', { name, exact: true }).click();
    await there(page).waitFor();
  };
  // Answered anew each time.
  const thanks = (count) => async (page) => {
    const questions = ['Publish the summary?', 'To whom?', 'A last word?'].slice(0, count).map((question) => ({ question }));
    const asked = await server.call('POST', '/agent/ask', { agent: 'support-desk', questions }, { authorization: `Bearer ${server.askKey}` });
    await page.goto(`${server.url}/question/${asked.questions[0].id}`);
    await page.getByLabel('Your answer').fill('Yes, and tell the others too');
    await page.getByRole('button', { name: 'Answer' }).click();
    await page.getByText('Your answer is kept').waitFor();
    await server.call('POST', `/agent/session/${asked.session_id}/cancel`).catch(() => {});  // Else it waits on the pages to come.
  };
  // As the server would answer, had it nothing or were it broken.
  const instead = (pattern, response, target, there) => async (page) => {
    await page.route(pattern, (route) => route.fulfill(response));
    await page.goto(server.url + target);
    await page.locator(there).first().waitFor();
    await page.unroute(pattern);
  };
  const json = (body) => ({ contentType: 'application/json', body: JSON.stringify(body) });
  const broken = { status: 503, ...json({ ok: false, error: { code: 'unavailable', message: 'the database cannot be reached' } }) };
  Object.assign(pages, {
    inbox: ['ana', open(`/#${waiting.id}`, '#ask-title')],
    'inbox-batch': ['ana', open(`/?of=batch#${batchQuestions[0]}`, '#ask-title')],
    'inbox-list': ['ana', open('/?of=list', '.row')],
    'inbox-unwieldy': ['ana', open(`/?of=long#${scene.free.id}`, '#ask-title')],
    'inbox-viewer': ['vera', open(`/#${waiting.id}`, '#ask-title')],
    'inbox-empty': ['ana', instead('**/agent/questions?**', json({ questions: [], next_cursor: null }), '/', '.state')],
    'inbox-broken': ['ana', instead('**/agent/questions?**', broken, '/', '.state.error')],
    'inbox-keys': ['ana', async (page) => {
      await open(`/#${waiting.id}`, '#ask-title')(page);
      await page.evaluate(() => document.getElementById('keys-button').click());
      await page.getByRole('dialog').waitFor();
    }],
    session: ['root', open(`/session/${done}`, 'h2')],
    'session-waiting': ['ana', open(`/session/${batch}`, 'h2')],
    'session-failed': ['root', open(`/session/${failed}`, 'h2')],
    'session-unknown': ['ana', async (page) => {
      await page.goto(`${server.url}/session/nonsense`);
      await page.locator('.state').waitFor();
    }],
    sessions: ['ana', open('/sessions', 'a[href^="/session/"]')],
    agents: ['root', open('/agents', 'h2')],
    operations: ['root', open('/operations', 'h2')],
    login: [null, plain('/login')],
    'login-wrong': [null, async (page) => {
      await page.goto(`${server.url}/login`);
      await page.getByLabel('Name').fill('ana');
      await page.getByLabel('Password').fill('not the right one');
      await page.getByRole('button', { name: 'Log in' }).click();
      await page.getByRole('alert').waitFor();
    }],
    list: ['ana', plain('/questions')],
    question: ['ana', plain(`/question/${waiting.id}`)],
    'question-batch': ['ana', plain(`/question/${batchQuestions[1]}`)],
    'question-viewer': ['vera', plain(`/question/${waiting.id}`)],
    'question-cancel': ['ana', press(`/question/${waiting.id}`, 'Cancel this request', (page) => page.getByRole('heading', { name: 'Cancel this request?' }))],
    thanks: ['ana', thanks(1)],
    'thanks-batch': ['ana', thanks(3)],
    decided: ['ana', plain(`/question/${scene.answered.id}`)],
    link: [null, plain(`${link.waiting}&answer=One+in+ten`)],
    'link-complaint': [null, press(link.waiting, 'Answer', (page) => page.getByRole('alert'))],
    'link-several': [null, plain(link.several)],
    'link-free': [null, plain(link.free)],
    'link-cancelled': [null, plain(link.cancelled)],
    'link-dead': [null, plain(link.waiting.replace(/.{8}$/, 'AAAAAAAA'))],
  });
}, { timeout: 60_000 });
after(async () => {
  await browser?.close();
  await scene?.stop();
});

const faultsOf = async (name, page) => {
  // In one go, without a second window: there are no frames to add up.
  const { violations, passes } = await new AxeBuilder({ page }).options({ resultTypes: ['violations'] }).setLegacyMode().analyze();
  assert.ok(passes.length > 10, `axe has looked at next to nothing of ${name}`);
  return violations.map(({ id, impact, help, nodes }) => `${name}: ${id} (${impact}) ${help}: ${nodes.map((node) => node.html).join(' | ')}`);
};
const tooWide = async (name, page, width) => {
  const taken = await page.evaluate(() => document.documentElement.scrollWidth);
  return taken > width ? [`${name} is ${taken} px wide on a screen of ${width}`] : [];
};

// Shows every page to `look`, which gives its faults; there must be none.
async function everyPage(options, look) {
  mkdirSync(screenshots, { recursive: true });
  const faults = [];
  const tab = await openTab(browser, { ...options, reducedMotion: 'reduce' });
  try {
    for (const [name, [who, visit]] of Object.entries(pages)) {
      await tab.context.clearCookies();
      if (who) await tab.context.addCookies(cookies[who]);
      await visit(tab.page);
      await tab.page.locator('main').waitFor();
      faults.push(...await look(name, tab.page));
      // Pages with a stream are left before the next one is somebody else's.
      await tab.page.goto('about:blank');
    }
  } finally {
    await tab.close();
  }
  assert.deepEqual(faults, []);
}
const picture = (name, look, page) => page.screenshot({ path: path.join(screenshots, `${name}-${look}.png`), fullPage: !name.startsWith('inbox') });

test("every page fits its screen and has no fault by axe's rules, in light and dark", { timeout: 240_000 }, () => everyPage(desk, async (name, page) => {
  const faults = await tooWide(name, page, desk.viewport.width);
  for (const look of ['light', 'dark']) {
    await page.emulateMedia({ colorScheme: look });
    await picture(name, look, page);
    faults.push(...await faultsOf(`${name}, ${look}`, page));
  }
  return faults;
}));

// A narrow screen changes no colour and no name.
test('every page fits a phone, and one of the narrowest', { timeout: 120_000 }, () => everyPage(phone, async (name, page) => {
  await picture(name, 'phone', page);
  const faults = await tooWide(name, page, phone.viewport.width);
  await page.setViewportSize({ ...phone.viewport, width: narrowest });
  faults.push(...await tooWide(name, page, narrowest));
  await page.setViewportSize(phone.viewport);
  return faults;
}));

test('on a phone everything that is pressed fits a thumb', { timeout: 60_000 }, async () => {
  const tab = await openTab(browser, phone);
  try {
    const small = [];
    for (const name of ['inbox', 'inbox-batch', 'inbox-list', 'session-waiting', 'sessions', 'question', 'link', 'login']) {
      const [who, visit] = pages[name];
      await tab.context.clearCookies();
      if (who) await tab.context.addCookies(cookies[who]);
      await visit(tab.page);
      small.push(...await tab.page.evaluate(() => [...document.querySelectorAll('main button, main .option, main select, main .row')]
        .filter((node) => node.checkVisibility() && node.getBoundingClientRect().height < 40 && !node.classList.contains('link') && !node.closest('.state'))
        .map((node) => `${node.localName}.${node.className} “${node.textContent.slice(0, 30)}” ${Math.round(node.getBoundingClientRect().height)} px`)).then((found) => found.map((text) => `${name}: ${text}`)));
      await tab.page.goto('about:blank');
    }
    assert.deepEqual(small, []);
  } finally {
    await tab.close();
  }
});

test('the style sheet is really applied', { timeout: 60_000 }, async () => {
  const tab = await openTab(browser, { ...desk, colorScheme: 'dark' });
  try {
    await pages.login[1](tab.page);
    const colours = await tab.page.evaluate(() => [getComputedStyle(document.body).backgroundColor, getComputedStyle(document.querySelector('button')).borderRadius]);
    assert.deepEqual(colours, ['rgb(20, 23, 26)', '8px']);
  } finally {
    await tab.close();
  }
});
