// HTTP itself: methods, lengths, connections, and what is no proper request.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import { echo, listens } from './agents.mjs';
import { contractFile, maxBodyBytes, parseResponse } from './harness.mjs';
import { assetsOf } from './people.mjs';
import { Proof, nobody, options } from './proof.mjs';

export const proveHttp = () => describe('http', () => {
  let proof;
  let world;
  let contract;
  const refused = (...call) => proof.refused(...call);

  before(async () => {
    proof = await Proof.start({ agents: { echo, listens } });
    ({ world, contract } = proof);
  }, options);
  after(() => proof?.stop(), options);

  // One request as it goes over the wire, and the statuses that a connection gives until the server hangs up.
  const wire = (line, headers = [], body = '') => [`${line} HTTP/1.1`, 'Host: localhost', ...headers, '', body].join('\r\n');
  const statusesOf = async (...requests) => (await world.raw(requests.join(''))).match(/HTTP\/1\.1 \d{3}/g).map((status) => Number(status.slice(-3)));
  const last = wire('GET /healthz', ['Connection: close']);

  test('what is served is the file in src/http', options, async () => {
    assert.deepEqual(await proof.get(200, '/openapi.json'), JSON.parse(readFileSync(contractFile, 'utf8')));
  });

  test('unknown paths and methods get a proper error', options, async () => {
    for (const target of ['/nothing', '/agent', '/agent/session', '/agent/answer', '/agent/questions/a/b', '/agent/../etc/passwd', '/%2e%2e/etc/passwd']) {
      const response = await world.request('GET', target);
      assert.deepEqual([response.status, response.json?.error?.code], [404, 'unknown_path'], `GET ${target}`);
      contract.assertNamed('Error', response.json);
    }
    await refused(404, '/nothing', undefined, { method: 'GET', code: 'unknown_path' });
    const paths = new Set(contract.operations().map(({ path: template }) => template));
    for (const template of paths) {
      const taken = contract.operations().filter(({ path: candidate }) => candidate === template).map(({ method }) => method);
      const allowed = ['GET', 'HEAD', 'POST', 'DELETE'].filter((method) => taken.includes(method === 'HEAD' ? 'GET' : method));
      for (const method of ['DELETE', 'PUT', 'PATCH', 'OPTIONS', 'GET', 'POST'].filter((candidate) => !allowed.includes(candidate))) {
        const response = await proof.send(405, method, template.replace(/\{\w+\}/g, nobody));
        assert.deepEqual([response.headers.allow, response.json.error.code], [allowed.join(', '), 'method_not_allowed'], `${method} ${template}`);
      }
    }
    const { id } = await proof.parked('listens');
    await refused(405, `/agent/session/${id}/cancel`, undefined, { method: 'GET' });
    await proof.send(303, 'GET', `/agent/answer/${id}?answer=yes`);
    assert.equal((await proof.settled(id)).status, 'pending_input', 'a GET decided something');
  });

  test('what is no proper request gets an error that says so', options, async () => {
    const closing = ['Connection: close'];
    for (const [request, status, code] of [
      [wire('get /healthz', closing), 501, 'unknown_method'],
      [wire('TRACE /healthz', closing), 501, 'unknown_method'],
      [wire('PROPFIND /healthz', closing), 501, 'unknown_method'],
      [wire('BREW /healthz', closing), 501, 'unknown_method'],
      [wire(`GET /${'x'.repeat(9_000)}`, closing), 414, 'uri_too_long'],
      [wire('GET /healthz', ['no colon']), 400, 'bad_header'],
      [wire('GET /healthz', ['X-Tab: a\u0001b']), 400, 'bad_request'],
      [wire('POST /agent/ask', ['Transfer-Encoding: chunked'], '-1\r\n'), 400, 'bad_chunk'],
    ]) {
      const response = parseResponse('GET', '/', await world.raw(request));
      assert.deepEqual([response.status, response.json?.error?.code], [status, code], request.slice(0, 100));
      contract.assertNamed('Error', response.json);
    }
  });

  test('HEAD gives the head of GET and no body', options, async () => {
    const { id, questions: [question] } = await proof.parked('listens');
    const assets = assetsOf(await world.request('GET', '/'));
    for (const target of ['/healthz', '/readyz', '/openapi.json', '/agent/questions', `/agent/questions/${question.id}`, `/agent/session/${id}`, '/agent/session/nonsense', ...assets, '/assets/0/page.css', '/', '/questions', '/sessions', `/session/${id}`, `/question/${question.id}`]) {
      const [head, whole] = [await world.request('HEAD', target), await world.request('GET', target)];
      assert.equal(head.text, '');
      for (const header of ['content-type', 'content-length']) assert.equal(head.headers[header], whole.headers[header], `${header} of ${target}`);
      assert.equal(head.status, whole.status, target);
    }
  });

  test('a call without a body needs no Content-Length', options, async () => {
    const { id } = await proof.parked('listens');
    const calls = [wire('POST /agent/webhook/echo'), wire(`POST /agent/session/${id}/cancel`), wire('POST /agent/ask'), wire('DELETE /agent/ask'), last];
    assert.deepEqual(await statusesOf(...calls), [202, 200, 400, 405, 200]);
    assert.equal((await proof.settled(id)).status, 'cancelled');
  });

  test('a refusal leaves the connection open, unless it is unclear where the request ended', options, async () => {
    const json = 'Content-Type: application/json';
    const answered = [
      [wire('GET /agent/questions?limit=0'), 422],
      [wire(`GET /agent/session/${nobody}`), 404],
      [wire('POST /agent/ask', [json, 'Content-Length: 2'], '[]'), 400],
      [wire('POST /agent/ask', [json, 'Transfer-Encoding: chunked'], '2\r\n[]\r\n0\r\n\r\n'), 400],
    ];
    for (const [request, status] of answered) assert.deepEqual(await statusesOf(request, last), [status, 200], request);
    const unclear = [
      [wire('POST /agent/ask', [json, 'Content-Length: 0', `Content-Length: ${last.length}`]), 400],
      [wire('POST /agent/ask', [json, `Content-Length: ${last.length}`, 'Content-Length: 0']), 400],
      [wire('POST /agent/ask', [json, 'Content-Length: nine']), 400],
      [wire('POST /agent/ask', [json, 'Content-Length: -1']), 400],
      [wire('POST /agent/ask', [json, 'Content-Length: 4', 'Transfer-Encoding: chunked'], '0\r\n\r\n'), 400],
      [wire('POST /agent/ask', [json, 'Transfer-Encoding: gzip']), 400],
      [wire('POST /agent/ask', [json, 'Transfer-Encoding: chunked'], '-1\r\n'), 400],
      [wire('POST /agent/ask', [json, `Content-Length : ${last.length}`]), 400],
      [wire('POST /agent/ask', [json, 'Transfer-Encoding: chunked'], `${(maxBodyBytes + 1).toString(16)}\r\n${'x'.repeat(maxBodyBytes + 1)}\r\n0\r\n\r\n`), 413],
      [wire('GET /healthz', ['no colon']), 400],
    ];
    for (const [request, status] of unclear) assert.deepEqual(await statusesOf(request, last), [status], request.slice(0, 200));
  });

  test('a Range header changes nothing', options, async () => {
    const headers = { range: 'bytes=90000-' };
    await proof.get(200, '/healthz', { headers });
    const started = await proof.post(202, '/agent/webhook/echo', {}, { headers });
    assert.equal((await proof.finished(started.session_id)).status, 'completed');
  });

  test('a body far over the limit is refused, not cut off', options, async () => {
    for (const bytes of [maxBodyBytes + 1, 1_000_000, 20_000_000]) await refused(413, '/agent/ask', Buffer.alloc(bytes, ' '));
  });
});
