// The contract is proved against the live server: whatever it answers must be documented, and at the end every documented
// response must have been seen.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { Contract } from './contract.mjs';
import { contractFile } from './harness.mjs';
import { options } from './proof.mjs';
import { proveAccess } from './prove_access.mjs';
import { proveChannels } from './prove_channels.mjs';
import { proveGate } from './prove_gate.mjs';
import { proveHttp } from './prove_http.mjs';
import { proveHumanLayer } from './prove_humanlayer.mjs';
import { proveMcp } from './prove_mcp.mjs';
import { provePages } from './prove_pages.mjs';
import { proveSessions } from './prove_sessions.mjs';

const here = path.dirname(fileURLToPath(import.meta.url));
const contract = new Contract(JSON.parse(readFileSync(contractFile, 'utf8')));

test('the contract lints', options, () => {
  const lint = spawnSync(process.execPath, ['node_modules/@redocly/cli/bin/cli.js', 'lint', '--config', 'redocly.yaml', contractFile], {
    cwd: here, encoding: 'utf8', timeout: 50_000,
    env: { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' },
  });
  assert.equal(lint.status, 0, `${lint.error ?? ''}${lint.stdout}${lint.stderr}`);
  assert.doesNotMatch(lint.stdout + lint.stderr, /\d+ warning/);
});

// What some calls take in place of keys and logins, as docs/security.md names it.
const ownCredentials = { slackSignature: 'Slack\'s signature', discordSignature: 'Discord\'s signature', inboundSecret: 'inbound secret', mailLink: 'a mail\'s link' };

test('the contract asks for the scopes that docs/security.md does', options, () => {
  const text = readFileSync(path.join(here, '../../docs/security.md'), 'utf8');
  const rows = text.split('<!-- matrix -->')[1].split('<!-- end of matrix -->')[0].trim().split('\n').slice(2);
  const matrix = rows.map((row) => row.split('|').slice(1, 3).map((cell) => cell.trim()));
  const name = (method, template) => `${method} ${template.replace(/\{\w+\}/g, '{}')}`;
  const needs = Object.fromEntries(contract.operations().map(({ method, path: template, security, 'x-scopes': scopes }) => {
    const [scheme] = security.flatMap(Object.keys);
    return [name(method, template), scopes?.[0] ?? ownCredentials[scheme] ?? (scheme ? 'any' : '-')];
  }));
  assert.deepEqual(needs, Object.fromEntries(matrix.map(([route, needed]) => [name(...route.split(' ')), needed])));
});

test('the contract lists every code that the server can answer with', options, () => {
  const folder = path.join(here, '../../src/http');
  const source = readdirSync(folder).filter((file) => /\.(cc|h)$/.test(file)).map((file) => readFileSync(path.join(folder, file), 'utf8')).join('\n');
  const used = new Set([...source.matchAll(/(?:error_response\(|fail\(|\{)\s*(?:\d{3}|status),\s*"(\w+)"/g)].map(([, code]) => code));
  assert.deepEqual([...used].sort(), contract.document.components.schemas.ErrorCode.enum);
});

proveHttp();
proveSessions({ closed: false });
proveSessions({ closed: true });
proveGate();
proveAccess();
provePages();
proveChannels();
proveHumanLayer();
proveMcp();

test('every documented response was seen', options, () => {
  // The store cannot commit only when its disk fails or is full; tests/process does that to the server.
  const unprovoked = /^\w+ 503 /;
  const missing = (all, seen) => all.filter((entry) => !seen.has(entry) && !unprovoked.test(entry));
  assert.deepEqual(missing(contract.documented(), Contract.seen), []);
  // The examples of errors are real ones.
  assert.deepEqual(missing(contract.exampleCodes(), Contract.seenCodes), []);
});
