// /mcp as HTTP has it; what its messages say is proved by the protocol's own clients.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { maxBodyBytes } from './harness.mjs';
import { Proof, options } from './proof.mjs';

const accept = 'application/json, text/event-stream';

export const proveMcp = () => describe('mcp', () => {
  let proof;
  let session;
  before(async () => { proof = await Proof.start({ closed: true }); }, options);
  after(() => proof?.stop(), options);
  const send = (status, body, { headers = {}, target = '/mcp', ...more } = {}) => proof.send(status, 'POST', target, { body, headers: { accept, ...(session ? { 'mcp-session-id': session } : {}), ...headers }, ...more });

  test('a session is opened, used and ended as the examples have it', options, async () => {
    const opened = await send(200, proof.contract.example('sendMcp', 'initialize'));
    session = opened.headers['mcp-session-id'];
    assert.ok(session);
    await send(202, { jsonrpc: '2.0', method: 'notifications/initialized' });
    const { text } = await send(200, proof.contract.example('sendMcp', 'ask'));
    assert.match(text, /"status":"pending"/);
    const event = /^id: (\S+)$/m.exec(text)[1];
    const rest = await proof.send(200, 'GET', '/mcp', { headers: { accept: 'text/event-stream', 'mcp-session-id': session, 'last-event-id': event } });
    assert.match(rest.text, /"status":"pending"/);
    await proof.send(200, 'DELETE', '/mcp', { headers: { 'mcp-session-id': session } });
  });

  test('what is wrong gets the status and the words that are documented', options, async () => {
    const ping = { jsonrpc: '2.0', id: 1, method: 'ping' };
    const gone = { 'mcp-session-id': session };
    const codes = async (response) => (await response).json.error.code;
    assert.equal(await codes(send(404, ping)), -32600);
    assert.equal(await codes(proof.send(404, 'DELETE', '/mcp', { headers: gone })), -32600);
    assert.equal(await codes(proof.send(404, 'GET', '/mcp', { headers: { ...gone, 'last-event-id': 'x' } })), -32600);
    session = (await send(200, proof.contract.example('sendMcp', 'initialize'), { headers: { 'mcp-session-id': '' } })).headers['mcp-session-id'];
    assert.equal(await codes(proof.send(404, 'GET', '/mcp', { headers: { 'mcp-session-id': session, 'last-event-id': 'x' } })), 'unknown_event');
    assert.equal(await codes(proof.send(405, 'GET', '/mcp', { headers: { 'mcp-session-id': session } })), 'method_not_allowed');
    for (const method of ['GET', 'DELETE']) assert.equal(await codes(proof.send(400, method, '/mcp', { headers: { 'last-event-id': 'x' } })), -32600);
    assert.equal(await codes(send(400, ping, { headers: { 'mcp-session-id': '' } })), -32600);
    assert.equal(await codes(send(400, '{')), -32700);
    assert.equal(await codes(send(400, ping, { headers: { 'mcp-protocol-version': '2024-11-05' } })), -32022);
    const _meta = { 'io.modelcontextprotocol/protocolVersion': '2026-07-28', 'io.modelcontextprotocol/clientCapabilities': {} };
    assert.equal(await codes(send(400, { ...ping, params: { _meta } }, { headers: { 'mcp-protocol-version': '2026-07-28' } })), -32020);
    for (const method of ['POST', 'GET', 'DELETE']) {
      const { json } = await proof.send(422, method, '/mcp?agents=mcp', { headers: { 'mcp-session-id': session }, ...(method === 'POST' ? { body: ping } : {}) });
      assert.deepEqual([json.error.code, json.error.field], ['invalid', 'agents']);
    }
    await send(413, Buffer.alloc(maxBodyBytes + 1, 'x'));
    await send(415, JSON.stringify(ping), { type: 'text/plain' });
  });
});
