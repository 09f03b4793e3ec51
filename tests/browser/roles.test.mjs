// Who is logged in, and as what: what viewers do not see, the way through the login and back, and a login that ends elsewhere.
import assert from 'node:assert/strict';
import { after, before } from 'node:test';
import { logIn, settled, startScene } from './scene.mjs';
import { casesInTabs, password, startBrowser } from './world.mjs';

let browser;
let scene;
let server;
before(async () => {
  browser = await startBrowser();
  scene = await startScene();
  ({ server } = scene);
}, { timeout: 60_000 });
after(async () => {
  await browser?.close();
  await scene?.stop();
});

const inTab = casesInTabs(() => browser);

const open = async (page, target) => {
  await page.goto(server.url + target);
  await settled(page);
};
const changing = /answer|submit|cancel|send|try|retry|message|redeliver|start/i;
const buttons = async (page) => (await page.locator('main').getByRole('button').allTextContents()).filter((text) => changing.test(text));

inTab('a viewer sees everything and is offered nothing that changes it', async ({ page }) => {
  await logIn(page, server, 'vera');
  for (const id of [scene.waiting.id, scene.batchQuestions[0]]) {
    await open(page, `/?of=${id}#${id}`);
    await page.locator('#ask-title').waitFor();
    assert.deepEqual(await buttons(page), []);
    assert.equal(await page.locator('.card').locator('input, textarea').count(), 0);
  }
  await open(page, `/?of=card#${scene.waiting.id}`);
  await page.locator('.card').getByText('One in ten').waitFor();
  await page.keyboard.press('1');
  await page.keyboard.press('Enter');
  await page.keyboard.press('c');
  assert.equal(await page.getByRole('dialog').count(), 0);
  for (const path of [`/session/${scene.batch}`, `/session/${scene.failed}`, '/agents', '/operations']) {
    await open(page, path);
    assert.deepEqual(await buttons(page), [], path);
  }
  await page.goto(`${server.url}/question/${scene.waiting.id}`);
  assert.equal(await page.locator('main').locator('input, textarea, button').count(), 0);
  assert.equal((await server.question(scene.waiting.id)).status, 'pending');
}, { known: ['status of 403'] });

inTab('an answerer may answer and cancel; an admin may do the rest too', async ({ page }) => {
  await logIn(page, server, 'ana');
  await open(page, `/#${scene.waiting.id}`);
  await page.locator('.card').getByRole('button', { name: 'Answer' }).waitFor();
  await page.locator('.card').getByRole('button', { name: 'Cancel this request' }).waitFor();
  await open(page, `/session/${scene.batch}`);
  await page.getByRole('button', { name: 'Cancel', exact: true }).waitFor();
  assert.equal(await page.getByRole('button', { name: 'Send a message' }).count(), 0);
  await open(page, '/operations');
  assert.equal(await page.getByRole('button', { name: /Redeliver/ }).count(), 0);
  await page.getByRole('button', { name: 'Log out' }).click();
  await page.waitForURL('**/login');
  await logIn(page, server, 'root');
  await open(page, `/session/${scene.batch}`);
  await page.getByRole('button', { name: 'Send a message' }).waitFor();
  await open(page, '/operations');
  await page.getByRole('button', { name: /Redeliver/ }).first().waitFor();
});

inTab('who is not logged in is led to the login, and then to where they wanted', async ({ context, page }) => {
  for (const path of ['/', `/session/${scene.done}`, '/questions', `/agent/answer/${scene.waiting.session}`]) {
    await context.clearCookies();
    await page.goto(server.url + path);
    assert.equal(new URL(page.url()).pathname, '/login', path);
    await page.getByLabel('Name').fill('ana');
    await page.getByLabel('Password').fill(password);
    await page.getByLabel('Password').press('Enter');
    await page.waitForURL((url) => url.pathname === (path.startsWith('/agent/') ? `/question/${scene.waiting.id}` : path));
  }
}, { known: ['status of 401'] });

inTab('who logs out in one tab is told so in the others, and gets back to where they were', async ({ context, page }) => {
  await logIn(page, server, 'ana', '/sessions');
  const others = new Map();
  for (const path of ['/', '/operations', `/session/${scene.batch}`]) {
    others.set(path, await context.newPage());
    await open(others.get(path), path);
  }
  await page.getByRole('button', { name: 'Log out' }).click();
  await page.waitForURL('**/login');
  for (const [path, other] of others) {
    const banner = other.getByRole('alert').filter({ hasText: 'You are logged out' });
    await banner.waitFor({ timeout: 25_000 });
    await banner.getByRole('link', { name: 'Log in again' }).click();
    await other.waitForURL((url) => url.pathname === '/login' && url.searchParams.get('next').startsWith(path));
  }
  const [[path, other]] = others;
  await other.getByLabel('Name').fill('ana');
  await other.getByLabel('Password').fill(password);
  await other.getByRole('button', { name: 'Log in' }).click();
  await other.waitForURL((url) => url.pathname === path);
  await settled(other);
}, { known: ['status of 401'] });
