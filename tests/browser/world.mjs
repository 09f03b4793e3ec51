// The real server on a fresh folder, a real browser in front of it, and a foreign site beside it.
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';
import { within } from '../clients/harness.mjs';

const here = path.dirname(fileURLToPath(import.meta.url));
const kDemo = path.join(here, '../../tools/demo');
export const screenshots = path.join(here, '../../build/screenshots');
export const password = 'correct horse battery';
// Names that are no loopback's to a browser, though they lead here: it trusts their plain HTTP less than localhost's.
export const ourName = 'holdpoint.test';
export const foreignName = 'evil.test';

export async function startBrowser() {
  const executablePath = process.env.CHROMIUM ?? execFileSync('sh', ['-c', 'command -v chromium'], { encoding: 'utf8' }).trim();
  const rules = [ourName, foreignName].map((name) => `MAP ${name} 127.0.0.1`).join(', ');
  // Root, as in containers, has no sandbox to give.
  return chromium.launch({ executablePath, args: ['--no-sandbox', `--host-resolver-rules=${rules}`] });
}

// A page in a context of its own, that keeps what the browser complained about.
export async function openTab(browser, options = {}) {
  const context = await browser.newContext({ serviceWorkers: 'block', ...options });
  context.setDefaultTimeout(10_000);
  const page = await context.newPage();
  const complaints = [];
  page.on('console', (message) => complaints.push(`${message.type()}: ${message.text()} ${message.location().url}`));
  page.on('pageerror', (error) => complaints.push(`error: ${error.message}`));
  // A page that is left while it loads gives up on its icon; what is missing or blocked has another text.
  page.on('requestfailed', (request) => {
    const reason = request.failure()?.errorText;
    if (reason !== 'net::ERR_ABORTED') complaints.push(`failed: ${request.url()} ${reason}`);
  });
  return { context, page, complaints, close: () => context.close() };
}

// For pages that are given routes while they are open: to be called before they are. A browser that has no route yet is told of the first
// one a moment after `page.route` has returned, and what the page asks for at once gets past it.
export const readyForRoutes = (page) => page.route('**/nothing-is-at-this-address', (route) => route.abort());

// Makes cases that run in a tab of their own, of the browser that `browser()` gives; it must have had nothing to complain about but what
// `known` names.
export const casesInTabs = (browser, defaults = {}) => (name, act, { known = [], ...options } = {}) => test(name, { timeout: 60_000 }, async () => {
  const tab = await openTab(browser(), { ...defaults, ...options });
  try {
    await act(tab);
    assert.deepEqual(tab.complaints.filter((text) => !known.some((part) => text.includes(part))), [], 'what the browser complained about');
  } finally {
    await tab.close();
  }
});

const frontMatter = (fields) => `---\n${Object.entries(fields).map(([key, value]) => `${key}: ${JSON.stringify(value)}\n`).join('')}---\n`;

// `agents`: by name, their front matter, and as `text` what is written about them. `settings`: further sections, as TOML. `demo`: with the agents of tools/demo too.
export async function startServer({ agents = {}, settings = '', demo = false } = {}) {
  const binary = path.resolve(process.env.HOLDPOINT_BINARY ?? path.join(here, '../../build/release/holdpoint'));
  if (!existsSync(binary)) throw new Error(`no server at ${binary}: build it, or set HOLDPOINT_BINARY`);
  const folder = mkdtempSync(path.join(tmpdir(), 'holdpoint-browser-'));
  mkdirSync(path.join(folder, 'agents'));
  for (const [name, { text = '', ...fields }] of Object.entries({ caller: {}, ...agents })) {
    writeFileSync(path.join(folder, 'agents', `${name}.md`), frontMatter({ name, runner: 'external', async_questions: true, ...fields }) + text);
  }
  if (demo) cpSync(path.join(kDemo, 'agents'), path.join(folder, 'agents'), { recursive: true });
  // Where the model of one of them is said to be; it is not there.
  const demoModel = demo ? readFileSync(path.join(kDemo, 'settings.toml'), 'utf8').match(/^\[llm\.demo\][^]*/m)[0] : '';
  const writeSettings = (port) => writeFileSync(path.join(folder, 'settings.toml'), `
[server]
listen = "127.0.0.1:${port}"
public_url = "http://${ourName}"
[limits]
wrong_credentials_per_minute = 1000000
${settings}
${demoModel}`);
  const lines = [];
  let child;
  const kill = () => child.kill('SIGKILL');
  process.once('exit', kill);
  const launch = async (wantedPort) => {
    writeSettings(wantedPort);
    child = spawn(binary, ['serve', '--settings', path.join(folder, 'settings.toml')], {
      cwd: folder,
      stdio: ['ignore', 'ignore', 'pipe'],
      env: Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('HOLDPOINT_'))),
    });
    return within(10_000, `the server to listen\n${lines.join('\n')}`, new Promise((resolve, reject) => {
      child.once('exit', (code) => reject(new Error(`the server ended at once with ${code}\n${lines.join('\n')}`)));
      createInterface(child.stderr).on('line', (line) => {
        lines.push(line);
        if (line.includes('"server_listening"')) resolve(Number(JSON.parse(line).address.split(':').at(-1)));
      });
    }));
  };
  const port = await launch(0);

  const server = { port, url: `http://127.0.0.1:${port}`, named: `http://${ourName}:${port}`, key: undefined };
  server.call = async (method, target, body, headers = {}) => {
    const response = await fetch(server.url + target, {
      method,
      headers: { ...(server.key ? { authorization: `Bearer ${server.key}` } : {}), ...(body ? { 'content-type': 'application/json' } : {}), ...headers },
      body: body && JSON.stringify(body),
      signal: AbortSignal.timeout(10_000),
    });
    const text = await response.text();
    assert.ok(response.ok, `${method} ${target} -> ${response.status} ${text}`);
    return JSON.parse(text);
  };
  // Makes the first key, and with it closes the server; agents ask with a key of their own from then on.
  server.closeUp = async () => {
    server.key = (await server.call('POST', '/agent/keys', { name: 'root', scopes: ['admin', 'questions:answer'] })).key;
    server.askKey = (await server.call('POST', '/agent/keys', { name: 'asker', scopes: ['questions:ask'] })).key;
  };
  server.addUser = (name, role) => server.call('POST', '/agent/users', { name, role, password });
  server.ask = async (question, context = {}, agent = 'caller') => {
    const asked = await server.call('POST', '/agent/ask', { agent, context, questions: [question] },
      server.askKey ? { authorization: `Bearer ${server.askKey}` } : {});
    return { session: asked.session_id, id: asked.questions[0].id };
  };
  // The path and query of a new answer link.
  server.link = async (id, recipient) => {
    const url = new URL((await server.call('POST', `/agent/questions/${id}/links`, { recipient })).url);
    return url.pathname + url.search;
  };
  server.question = (id) => server.call('GET', `/agent/questions/${id}`);
  // How many requests were answered with a 4xx.
  server.refusals = async () => {
    const response = await fetch(`${server.url}/metrics`, { headers: server.key ? { authorization: `Bearer ${server.key}` } : {} });
    const counts = [...(await response.text()).matchAll(/^holdpoint_http_requests_total\{.*"4\d\d".*\} (\d+)$/gm)];
    return counts.reduce((sum, [, count]) => sum + Number(count), 0);
  };
  // All changes that anybody asked for.
  server.audit = async () => (await server.call('GET', '/agent/audit?limit=1000')).entries;
  // kill -9; `restart` brings it back on the same folder and port.
  server.crash = async () => {
    const ended = once(child, 'exit');
    kill();
    await within(10_000, 'the killed server to be gone', ended);
  };
  server.restart = () => launch(port);
  server.stop = async () => {
    process.removeListener('exit', kill);
    child.removeAllListeners('exit');
    const ended = once(child, 'exit');
    child.kill('SIGTERM');
    try {
      const [code] = await within(12_000, 'the server to stop', ended);
      assert.equal(code, 0, lines.slice(-20).join('\n'));
    } finally {
      kill();
      rmSync(folder, { recursive: true, force: true });
    }
  };
  return server;
}

// A site of somebody else's. `pages`: path → HTML; it may be changed at any time.
export async function startForeignSite() {
  const pages = {};
  const server = http.createServer((request, response) => {
    const html = pages[new URL(request.url, 'http://x').pathname];
    response.writeHead(html ? 200 : 404, { 'content-type': 'text/html; charset=utf-8' }).end(html ?? '');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  return {
    pages,
    // A page of another port of ours is the same site to a browser: cookies go along. By another name it is not.
    sameSite: { url: `http://127.0.0.1:${port}`, named: `http://${ourName}:${port}` },
    crossSite: `http://${foreignName}:${port}`,
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
