// What may happen to any call before its route is asked: no credential, a wrong one, too many, too slow, too large.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { echo } from './agents.mjs';
import { eventually, parseResponse, publicUrl } from './harness.mjs';
import { assetsOf, logIn } from './people.mjs';
import { Proof, nobody, options } from './proof.mjs';

const values = { agent: 'echo', session: nobody, question: nobody, delivery: nobody, key: '0'.repeat(16), user: 'nobody', version: '0'.repeat(16), name: 'page.css', call: 'call-0' };
const targetOf = ({ path }) => path.replace(/\{(\w+)\}/g, (_, name) => values[name]);
const isPage = ({ tags, path }) => tags.includes('Pages') && !path.startsWith('/assets/');
// What takes keys or logins; the rest has credentials of its own, or needs none.
const isGuarded = ({ security }) => security.some((schemes) => 'key' in schemes || 'login' in schemes);

export const proveGate = () => {
  describe('gate, open', () => {
    let proof;
    const calls = () => proof.contract.operations();
    const limits = { head_deadline_seconds: 1, max_connections_per_address: 128 };  // More than there are calls: some tests make all of them at once.
    before(async () => { proof = await Proof.start({ agents: { echo }, limits }); }, options);
    after(() => proof?.stop(), options);

    test('an open server answers to its own names, and to nobody else\'s page or proxy', options, async () => {
      const { kind, scopes, csrf } = await proof.get(200, '/agent/me');
      assert.deepEqual([kind, scopes, typeof csrf], ['open', [], 'string']);
      for (const host of ['localhost', 'LocalHost:1', '127.0.0.1', '127.9.9.9:80', '[::1]:8080', new URL(publicUrl).host]) {
        await proof.get(200, '/agent/questions', { headers: { host } });
      }
      for (const operation of calls()) {
        for (const [code, headers] of [
          ['foreign_host', { host: 'holdpoint.evil.example' }],
          ['foreign_host', { host: 'localhost.evil.example' }],
          ['foreign_origin', { origin: 'https://evil.example' }],
          ['foreign_origin', { origin: 'null' }],
          ['forwarded', { 'x-forwarded-for': '192.0.2.7' }],
          ['forwarded', { forwarded: 'for=192.0.2.7' }],
        ]) {
          const { json } = await proof.send(403, operation.method, targetOf(operation), { headers });
          assert.equal(json?.error.code, isPage(operation) ? undefined : code, operation.operationId);
        }
      }
    });

    // On a connection of its own, as bytes.
    const exchange = async (status, { method, path, operationId }, head, end) => {
      const target = targetOf({ path });
      const raw = await proof.world.raw(`${[`${method} ${target} HTTP/1.1`, 'Host: localhost', ...head].join('\r\n')}\r\n${end}`);
      const response = proof.contract.check(parseResponse(method, target, raw));
      assert.equal(response.status, status, operationId);
      return response;
    };

    test('a head that does not end gets 408', options, () => Promise.all(calls().map((operation) => exchange(408, operation, ['X-Slow: yes'], ''))));

    test('a head with too many headers gets 431', options, async () => {
      const many = Array.from({ length: 101 }, (_, i) => `X-${i}: ${i}`);
      for (const operation of calls()) await exchange(431, operation, many, '\r\n');
    });

    test('a connection too many gets 429', options, async () => {
      const held = await proof.world.hold(limits.max_connections_per_address);
      try {
        for (const operation of calls()) {
          const { json } = await exchange(429, operation, [], '\r\n');
          assert.equal(json.error.code, 'too_many_connections');
        }
      } finally {
        held.release();
      }
    });
  });

  describe('gate, closed', () => {
    let proof;
    const guarded = () => proof.contract.operations().filter(isGuarded);
    before(async () => { proof = await Proof.start({ agents: { echo }, closed: true }); }, options);
    after(() => proof?.stop(), options);

    test('without a credential nothing goes', options, async () => {
      for (const operation of guarded()) {
        const status = isPage(operation) && operation.method === 'GET' ? 303 : 401;
        const { json } = await proof.send(status, operation.method, targetOf(operation), { as: {} });
        if (!isPage(operation)) assert.equal(json.error.code, 'unauthenticated');
      }
      const assets = assetsOf(await proof.send(200, 'GET', '/login', { as: {} }));
      for (const target of ['/healthz', '/readyz', '/openapi.json', ...assets]) await proof.send(200, 'GET', target, { as: {} });
    });

    test('with a key for something else nothing goes either', options, async () => {
      const as = await proof.world.key('webhook:another');
      for (const operation of guarded().filter(({ 'x-scopes': scopes }) => scopes)) {
        const { json } = await proof.send(403, operation.method, targetOf(operation), { as });
        if (!isPage(operation)) assert.equal(json.error.code, 'forbidden', operation.operationId);
      }
      await proof.get(200, '/agent/me', { as });
    });

    test('a login changes nothing without its token', options, async () => {
      await proof.post(201, '/agent/users', { name: 'root', role: 'admin', password: 'correct horse battery' });
      const as = await logIn(proof, 'root', 'correct horse battery');
      const { csrf } = await proof.get(200, '/agent/me', { as });
      for (const operation of guarded().filter(({ method }) => method !== 'GET')) {
        const target = targetOf(operation);
        for (const headers of [{}, { 'x-csrf-token': '' }, { 'x-csrf-token': `${csrf}x` }, { 'x-csrf-token': csrf, origin: 'https://evil.example' }]) {
          const { json } = await proof.send(403, operation.method, target, { as, headers });
          if (!isPage(operation)) assert.deepEqual([json.error.code, json.error.field], ['csrf', 'X-CSRF-Token'], operation.operationId);
        }
        if (isPage(operation)) continue;
        const { json } = await proof.world.request(operation.method, target, { ...(operation.requestBody ? { body: {} } : {}), headers: { ...as, 'x-csrf-token': csrf } });
        assert.notEqual(json.error?.code, 'csrf', operation.operationId);
      }
    });
  });

  describe('gate, busy', () => {
    let proof;
    before(async () => { proof = await Proof.start({ agents: { echo }, closed: true, limits: { requests_per_key_per_second: 1 } }); }, options);
    after(() => proof?.stop(), options);

    test('a key that calls too often gets 429', options, async () => {
      const as = await proof.world.key('webhook:another');
      for (const operation of proof.contract.operations().filter(({ security }) => security.length > 0)) {
        const busy = await eventually(`${operation.operationId} to be too much`, async () => {
          const response = await proof.world.request(operation.method, targetOf(operation), { headers: as });
          return response.status === 429 && response;
        });
        proof.contract.check(busy);
        if (!isPage(operation)) assert.equal(busy.json.error.code, 'too_many_requests');
      }
    });
  });
};
