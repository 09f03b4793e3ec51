// The protocol's own conformance suites, and its inspector, on a server with [mcp] test_tools. What is not offered is in the
// baselines beside this file, each with its reason: anything else that fails, and whatever passes of that, fails here.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { startWorld } from './harness.mjs';

const here = path.dirname(fileURLToPath(import.meta.url));
const options = { timeout: 90_000 };
let world;
before(async () => { world = await startWorld({ settings: { mcp: { test_tools: true } } }); });
after(() => world.stop());

// A package's command, run by the Node that runs us: {code, out, text} with what it printed, and that without colours.
const run = (script, args) => new Promise((done) => {
  execFile(process.execPath, [path.join(here, 'node_modules', script), ...args],
    { cwd: here, timeout: 80_000, maxBuffer: 1 << 26, env: { ...process.env, NO_COLOR: '1', MCP_CATALOG_PATH: path.join(world.folder, 'mcp.json') } },
    (error, stdout, stderr) => done({ code: error ? error.code ?? error.signal : 0, out: stdout, text: (stdout + stderr).replace(/\u001b\[\d+m/g, '') }));
});

const baseline = (file) => readFileSync(path.join(here, file), 'utf8').split('\n').map((line) => /^ {2}- (\S+)$/.exec(line)?.[1]).filter(Boolean).sort();

for (const { suite, script, args, file, passing } of [
  { suite: 'the suite of 2025-11-25', script: '@modelcontextprotocol/conformance/dist/index.js', args: [], file: 'mcp_conformance_2025.yml', passing: 9 },
  { suite: 'the next suite, at 2025-11-25', script: 'mcp-conformance-next/dist/index.js', args: ['--requirements', '2025-11-25'], file: 'mcp_conformance_2025_next.yml', passing: 11 },
  { suite: 'the next suite, at 2026-07-28', script: 'mcp-conformance-next/dist/index.js', args: ['--requirements', '2026-07-28'], file: 'mcp_conformance_2026.yml', passing: 24 },
]) {
  test(`${suite} passes, but for its baseline`, options, async () => {
    const { code, text } = await run(script, ['server', '--url', `${world.address()}/mcp`, '--expected-failures', file, ...args]);
    assert.equal(code, 0, text.slice(text.indexOf('=== SUMMARY')));
    // The suite itself lets unscored scenarios fail as they like.
    const named = (mark) => [...text.matchAll(new RegExp(`^ *${mark} ([a-z0-9-]+)`, 'gm'))].map(([, name]) => name);
    const failed = new Set([...named('✗'), ...named('~')]);
    assert.deepEqual([...failed].sort(), baseline(file));
    const passed = new Set(named('✓').filter((name) => !failed.has(name)));
    assert.equal(passed.size, passing, [...passed].join(' '));
  });
}

test('the inspector lists the tools, finds their schemas portable, and calls them', options, async () => {
  const inspect = (...args) => run('@modelcontextprotocol/inspector/clients/launcher/build/index.js', ['--cli', `${world.address()}/mcp`, ...args]);
  const listed = await inspect('--method', 'tools/list', '--strict');
  assert.equal(listed.code, 0, listed.text);
  const { tools } = JSON.parse(listed.out);
  assert.ok(['ask_user_question', 'get_answer', 'cancel_question', 'notify_user', 'request_permission'].every((name) => tools.some((tool) => tool.name === name)));

  const called = await inspect('--method', 'tools/call', '--tool-name', 'ask_user_question', '--tool-arg', 'questions=[{"question":"Seen by the inspector?"}]', 'wait_seconds=0');
  assert.equal(called.code, 0, called.text);
  const { id, status } = JSON.parse(called.out).structuredContent;
  assert.equal(status, 'pending');
  const { json } = await world.request('GET', '/agent/questions?status=pending');
  assert.ok(json.questions.some((question) => question.session_id === id));
  const withdrawn = await inspect('--method', 'tools/call', '--tool-name', 'cancel_question', '--tool-arg', `id=${id}`);
  assert.equal(JSON.parse(withdrawn.out).structuredContent.status, 'cancelled');
});
