// Every page by keyboard alone: what Tab gets to, that one sees where it is, the skip link, and the help.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { logIn, settled, startScene } from './scene.mjs';
import { openTab, startBrowser } from './world.mjs';

let browser;
let scene;
let server;
let tab;
before(async () => {
  browser = await startBrowser();
  scene = await startScene();
  ({ server } = scene);
  tab = await openTab(browser, { viewport: { width: 1280, height: 800 } });
  await logIn(tab.page, server, 'root');
}, { timeout: 60_000 });
after(async () => {
  await browser?.close();
  await scene?.stop();
});

// What has the focus: its name, and whether one sees that it has it.
const focused = (page) => page.evaluate(() => {
  const node = document.activeElement;
  if (!node || node === document.body) return null;
  const style = getComputedStyle(node);
  const box = node.getBoundingClientRect();
  const named = (node.labels?.[0] ?? node).cloneNode(true);
  named.querySelectorAll('[aria-hidden=true]').forEach((part) => part.remove());
  const name = node.getAttribute('aria-label') ?? named.textContent.trim().replace(/\s+/g, ' ');
  return {
    name: `${node.localName} ${name}`.slice(0, 90),
    outlined: style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) >= 2,
    seen: box.width > 0 && box.height > 0 && box.bottom > 0 && box.top < innerHeight && node.checkVisibility({ opacityProperty: true, visibilityProperty: true }),
  };
});

// Tabs through the whole page, until the focus is back where it began.
async function tour(page) {
  const stops = [];
  for (let i = 0; i < 150; i += 1) {
    await page.keyboard.press('Tab');
    const stop = await focused(page);
    if (!stop) break;
    stops.push(stop);
  }
  return stops;
}

const pages = {
  inbox: [() => `/?of=one#${scene.waiting.id}`, ['a Inbox', 'a Sessions', 'input All of them', 'input One in ten', 'button Answer', 'button Cancel this request', 'input', 'select']],
  'inbox, a batch': [() => `/?of=batch#${scene.batchQuestions[0]}`, ['input staging', 'button Next', 'button Submit 3 answers']],
  sessions: [() => '/sessions', ['a Sessions', 'a ', 'select']],
  session: [() => `/session/${scene.batch}`, ['a Answer in the inbox', 'button Cancel', 'button Send a message']],
  'session that failed': [() => `/session/${scene.failed}`, ['button Try again']],
  agents: [() => '/agents', ['button Try it: deploy-approval', 'a Its sessions']],
  operations: [() => '/operations', ['a ', 'button ']],
  'plain list': [() => '/questions', ['a Holdpoint', 'a Roll version', 'button Log out']],
  question: [() => `/question/${scene.waiting.id}`, ['a Holdpoint', 'input All of them', 'textarea Or in your own words', 'button Answer', 'button Cancel this request', 'a All questions']],
  link: [() => scene.link.several, ['input Sales', 'input Forecast', 'button Answer']],
};
for (const [name, [path, wanted]] of Object.entries(pages)) {
  test(`Tab gets to all that ${name} has, and one sees where it is`, { timeout: 60_000 }, async () => {
    const { page } = tab;
    await page.goto(server.url + path());
    const withScript = await page.locator('#lamp').count() > 0;
    if (withScript) await settled(page);
    const stops = await tour(page);
    const names = stops.map((stop) => stop.name);
    if (withScript) assert.equal(names[0], 'a Skip to the content');
    // Of radio buttons only one is a stop, the arrows do the rest.
    const group = await page.locator('main input[type=radio]').count() > 0;
    for (const start of wanted.filter((text) => !(group && text.startsWith('input One in ten')))) {
      assert.ok(names.some((text) => text.startsWith(start)), `Tab does not get to “${start}”: ${names.join(' | ')}`);
    }
    assert.deepEqual(stops.filter(({ outlined, seen }) => !outlined || !seen), [], 'stops that cannot be seen');
    assert.ok(stops.length < 150, `there is no end: ${names.slice(-5)}`);
  });
}

test('the skip link leads past the bar', { timeout: 60_000 }, async () => {
  const { page } = tab;
  for (const path of ['/', '/sessions', `/session/${scene.batch}`, '/agents', '/operations']) {
    await page.goto(server.url + path);
    await settled(page);
    await page.keyboard.press('Tab');
    const box = await page.locator('.skip').boundingBox();
    assert.ok(box.y >= 0, `${path}: the skip link is not seen`);
    await page.keyboard.press('Enter');
    await page.locator('#main:focus').waitFor();
    await page.keyboard.press('Tab');
    assert.ok(await page.evaluate(() => document.getElementById('main').contains(document.activeElement)), `${path}: Tab goes on outside of the content`);
  }
});

test('? shows the keys, Escape closes them, and the focus is where it was', { timeout: 60_000 }, async () => {
  const { page } = tab;
  for (const path of [`/?of=keys#${scene.waiting.id}`, '/sessions', `/session/${scene.batch}`, '/agents', '/operations']) {
    await page.goto(server.url + path);
    await settled(page);
    const link = page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Agents' });
    await link.focus();
    await page.keyboard.press('?');
    const dialog = page.getByRole('dialog', { name: 'Keys' });
    await dialog.waitFor();
    assert.ok(await dialog.evaluate((node) => node.contains(document.activeElement)), `${path}: the focus is not in the dialog`);
    assert.ok((await dialog.locator('dt').count()) >= 2, `${path} has no keys of its own`);
    // Nothing behind it hears of keys.
    await page.keyboard.press('c');
    await page.keyboard.press('?');
    assert.equal(await page.getByRole('dialog').count(), 1);
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    assert.ok(await link.evaluate((node) => node === document.activeElement), `${path}: the focus is lost`);
    await page.getByRole('button', { name: 'Keyboard shortcuts' }).click();
    await dialog.getByRole('button', { name: 'Close' }).click();
    await dialog.waitFor({ state: 'detached' });
  }
});

test('in a field the keys are letters', { timeout: 60_000 }, async () => {
  const { page } = tab;
  await page.goto(`${server.url}/?of=field#${scene.free.id}`);
  await settled(page);
  const field = page.getByLabel('Your answer', { exact: true });
  await field.click();
  await page.keyboard.type('jk? 1c');
  assert.equal(await field.inputValue(), 'jk? 1c');
  assert.equal(await page.getByRole('dialog').count(), 0);
});
