// The demo's model agent with its scripted model, by the demo's own settings.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { findBinary, within } from './harness.mjs';

const demo = path.join(path.dirname(fileURLToPath(import.meta.url)), '../../tools/demo');
const options = { timeout: 60_000 };
const lines = (stream) => createInterface({ input: stream });
const startModel = async (beside) => {
  const model = spawn('python3', [path.join(demo, 'model.py'), '--beside', String(beside)], { stdio: ['ignore', 'pipe', 'inherit'] });
  const exited = once(model, 'exit');
  const [url] = await within(10_000, 'the address of the scripted model', once(lines(model.stdout), 'line'));
  return { url, model, exited };
};

let folder;
let server;
let scripted;
let address;
before(async () => {
  folder = mkdtempSync(path.join(tmpdir(), 'holdpoint-demo-'));
  scripted = await startModel(process.pid);
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('HOLDPOINT_')));
  server = spawn(findBinary(), ['serve', '--settings', path.join(demo, 'settings.toml')], {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { ...env, HOLDPOINT_DATABASE_URL: `sqlite:${folder}/demo.db`, HOLDPOINT_SERVER_LISTEN: '127.0.0.1:0', HOLDPOINT_LLM_DEMO_BASE_URL: scripted.url },
  });
  const log = [];
  const listening = new Promise((resolve, reject) => {
    lines(server.stderr).on('line', (line) => {
      log.push(line);
      if (line.includes('"server_listening"')) resolve(JSON.parse(line).address);
    });
    server.once('exit', (code) => reject(new Error(`the server ended with ${code}\n${log.join('\n')}`)));
  });
  address = `http://${await within(10_000, 'the server to listen', listening)}`;
}, options);
after(async () => {
  server?.kill('SIGTERM');
  scripted?.model.kill('SIGKILL');
  if (server && server.exitCode === null) await within(12_000, 'the server to stop', once(server, 'exit'));
  rmSync(folder, { recursive: true, force: true });
});

const call = async (method, target, body) => {
  const response = await fetch(address + target, { method, headers: { 'content-type': 'application/json' }, body: body && JSON.stringify(body), signal: AbortSignal.timeout(15_000) });
  const json = await response.json();
  assert.ok(response.ok, `${method} ${target} → ${response.status} ${JSON.stringify(json)}`);
  return json;
};
const issue = { title: 'Crash on an empty password', body: 'Error 500 at login.' };
const [priority, labels] = [`How urgent is “${issue.title}”?`, `Which labels does “${issue.title}” get?`];

test('triage-issue looks for similar issues, asks for priority and labels, and concludes with what it was told', options, async () => {
  const { session_id: session } = await call('POST', '/agent/webhook/triage-issue', issue);
  const waiting = await call('GET', `/agent/session/${session}?wait=10`);
  assert.deepEqual(waiting.questions.map(({ question, multi_select: several }) => [question, several]), [[priority, false], [labels, true]], waiting.error);
  await call('POST', `/agent/answer/${session}`, { answers: { [priority]: 'now', [labels]: ['bug', 'docs'] } });
  const { status, result, usage } = await call('GET', `/agent/session/${session}?wait=10&until=finished`);
  assert.equal(status, 'completed');
  assert.equal(result.text, `Title: ${issue.title}\nKind: a defect\nPriority: now\nLabels: bug, docs\nSimilar: #41, #63\nDecided by: the maintainers\nNext: reproduce it.`);
  assert.deepEqual([usage.steps, usage.cost_usd], [3, 0]);
  const { events } = await call('GET', `/agent/session/${session}/events?limit=200`);
  assert.deepEqual(events.filter(({ type }) => type === 'tool_ran').map(({ data }) => [data.tool, data.outcome]), [['find_issues', 'done']]);
});

test('the scripted model ends when the process beside it does, killed or not', options, async () => {
  const other = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)']);
  const { exited } = await startModel(other.pid);
  other.kill('SIGKILL');
  const [code] = await within(10_000, 'the scripted model to end', exited);
  assert.equal(code, 0);
});
