// What pages cost and what they are allowed: bytes, what a browser keeps, the policies, and a console that stays empty.
import assert from 'node:assert/strict';
import { after, before } from 'node:test';
import { logIn, settled, startScene } from './scene.mjs';
import { casesInTabs, startBrowser } from './world.mjs';

const kMost = 100 * 1024;
const forGood = 'public, max-age=31536000, immutable';
const plainPolicy = "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";
const appPolicy = "default-src 'none'; script-src 'self'; connect-src 'self'; style-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; "
  + "frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'";

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

const isApi = (url) => new URL(url).pathname.startsWith('/agent/');

inTab('the inbox takes less than 100 KiB, and all but the page itself may be kept for good', async ({ page }) => {
  await logIn(page, server, 'ana', '/questions');
  const responses = [];
  page.on('response', (response) => responses.push(response));
  await page.goto(`${server.url}/#${scene.waiting.id}`);
  await settled(page);
  await page.locator('#ask-title').waitFor();
  const loaded = responses.filter((response) => !isApi(response.url()));
  const sizes = new Map();
  for (const response of loaded) sizes.set(response.url(), Number((await response.allHeaders())['content-length']));
  const total = [...sizes.values()].reduce((sum, size) => sum + size, 0);
  const list = [...sizes].sort(([, a], [, b]) => b - a).map(([url, size]) => `${size} ${new URL(url).pathname}`).join('\n');
  assert.ok(total < kMost, `${total} bytes:\n${list}`);
  assert.ok(sizes.size > 8, `something is missing:\n${list}`);
  for (const response of loaded) {
    const headers = await response.allHeaders();
    const { pathname } = new URL(response.url());
    assert.equal(response.status(), 200, pathname);
    assert.equal(headers['cache-control'], pathname === '/' ? 'no-store' : forGood, pathname);
    if (pathname !== '/') assert.match(pathname, /^\/assets\/[0-9a-f]{16}\/\w+\.(js|css|svg)$/);
  }
});

inTab('a second visit fetches the page and the data, and nothing else', async ({ context, page }) => {
  await logIn(page, server, 'ana');
  await settled(page);
  const again = await context.newPage();
  const devtools = await context.newCDPSession(again);
  await devtools.send('Network.enable');
  const inMemory = new Set();
  const kept = [];
  const fetched = [];
  devtools.on('Network.requestServedFromCache', ({ requestId }) => inMemory.add(requestId));
  devtools.on('Network.responseReceived', ({ requestId, response }) => (response.fromDiskCache || inMemory.has(requestId) ? kept : fetched).push(response.url));
  await again.goto(`${server.url}/`);
  await settled(again);
  const paths = fetched.filter((url) => !isApi(url)).map((url) => new URL(url).pathname);
  assert.deepEqual(paths, ['/']);
  assert.ok(kept.length > 8 && kept.every((url) => url.includes('/assets/')), `these were kept: ${kept}`);
});

inTab('every page has exactly its policy, and gives the browser nothing to complain about', async ({ context, page }) => {
  const { waiting, answered, done, batch, failed, link } = scene;
  const visit = async (path, policy) => {
    const response = await page.goto(server.url + path);
    assert.equal((await response.allHeaders())['content-security-policy'], policy, path);
    if (policy === appPolicy) await settled(page);
  };
  for (const path of ['/login', link.waiting, link.answered]) await visit(path, plainPolicy);
  await logIn(page, server, 'root');
  for (const path of ['/questions', `/question/${waiting.id}`, `/question/${answered.id}`]) await visit(path, plainPolicy);
  for (const path of ['/', '/sessions', `/session/${done}`, `/session/${batch}`, `/session/${failed}`, '/agents', '/operations']) await visit(path, appPolicy);
  const { url } = server;
  for (const path of await page.locator('link, script').evaluateAll((nodes) => nodes.map((node) => new URL(node.href ?? node.src).pathname))) {
    assert.equal((await fetch(url + path)).headers.get('content-security-policy'), plainPolicy, path);
  }
  await context.clearCookies();
  const refused = await fetch(`${url}/`, { redirect: 'manual' });
  assert.deepEqual([refused.status, refused.headers.get('content-security-policy')], [303, plainPolicy]);
});

inTab('the policy of pages with script lets none run that is not the server\'s, whatever a page is made to do', async ({ page, complaints }) => {
  await logIn(page, server, 'ana');
  await settled(page);
  const outcome = await page.evaluate(async () => {
    const attempt = (act) => { try { act(); return 'allowed'; } catch (error) { return error.constructor.name; } };
    const tried = {
      html: attempt(() => { document.createElement('div').innerHTML = '<b>x</b>'; }),
      parser: attempt(() => new DOMParser().parseFromString('<b>x</b>', 'text/html')),
      policy: attempt(() => trustedTypes.createPolicy('own', { createHTML: (text) => text })),
      script: attempt(() => { document.createElement('script').src = '/assets/x.js'; }),
    };
    // Later: what devtools run is exempt.
    tried.eval = await new Promise((resolve) => { setTimeout(() => resolve(attempt(() => (0, eval)('window.ran = true')))); });
    const elsewhere = await fetch('http://evil.test/').then(() => 'allowed', (error) => error.constructor.name);
    return { ...tried, elsewhere, ran: window.ran === true };
  });
  assert.deepEqual(outcome, { html: 'TypeError', parser: 'TypeError', eval: 'EvalError', policy: 'TypeError', script: 'TypeError', elsewhere: 'TypeError', ran: false });
  complaints.length = 0;  // Each of these is one.
});
