// What HumanLayer's SDK calls, held against the contract. The SDK itself is in humanlayer.test.mjs.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { eventually, maxBodyBytes } from './harness.mjs';
import { Proof, options } from './proof.mjs';

const base = '/humanlayer/v1';
const kinds = {
  function_calls: { create: 'createFunctionCall', agent: 'function_calls', respond: 'respondToFunctionCall', other: { fn: 'another' }, settled: 'approved' },
  contact_requests: { create: 'createContactRequest', agent: 'human_contacts', respond: 'respondToContact', other: { msg: 'Another?' }, settled: 'response' },
  human_contacts: { create: 'createHumanContact', agent: 'human_contacts', respond: 'respondToContact', other: { msg: 'Another?' }, settled: 'response' },
};

export const proveHumanLayer = () => describe('humanlayer', () => {
  let proof;
  before(async () => { proof = await Proof.start({ closed: true, agents: { humanlayer: { runner: 'external', async_questions: true, question_timeout: 2 } } }); }, options);
  after(() => proof?.stop(), options);
  let made = 0;
  const call = (kind) => ({ ...proof.contract.example(kinds[kind].create, 'call'), call_id: `call-${made += 1}` });

  for (const [kind, { create, agent, respond, other, settled }] of Object.entries(kinds)) {
    const path = `${base}/${kind}`;

    test(`${create}: once, and the same again`, options, async () => {
      const asked = call(kind);
      const first = await proof.post(201, path, asked);
      assert.deepEqual(first.spec, { ...asked.spec, ...(kind === 'function_calls' ? { kwargs: asked.spec.kwargs } : {}) });
      assert.equal(first.status[settled], null);
      assert.deepEqual(await proof.post(200, path, asked), first);
      assert.deepEqual(await proof.get(200, `${path}/${asked.call_id}`), first);
      await proof.refused(409, path, { ...asked, spec: other }, { code: 'call_id_taken', field: 'call_id' });
    });

    test(`${create}: what is wrong is named`, options, async () => {
      await proof.refused(400, path, '{');
      await proof.refused(422, path, {}, { field: 'run_id' });
      await proof.refused(422, path, { ...call(kind), call_id: 'a/b' }, { field: 'call_id' });
      await proof.refused(422, `${path}?x=1`, call(kind), { field: 'x' });
      await proof.refused(413, path, `"${'x'.repeat(maxBodyBytes)}"`);
      await proof.refused(415, path, 'fn=f', { type: 'text/plain' });
      await proof.refused(404, `${path}/call-nowhere`, undefined, { method: 'GET', code: 'unknown_call' });
      await proof.refused(422, `${path}/call-nowhere?x=1`, undefined, { method: 'GET', field: 'x' });
    });

    test(`${create}: answered, listed and too late`, options, async () => {
      const target = (id, what) => `${base}/agent/${agent}/${id}/${what}`;
      const waiting = call(kind);
      await proof.post(201, path, waiting);
      const listed = async () => (await proof.get(200, `${base}/agent/${agent}/pending`)).some(({ call_id: id }) => id === waiting.call_id);
      assert.ok(await listed());
      await proof.refused(422, `${base}/agent/${agent}/pending?limit=1`, undefined, { method: 'GET', field: 'limit' });
      const examples = Object.keys(proof.contract.operation(respond).requestBody.content['application/json'].examples);
      const [body, otherBody] = examples.map((name) => proof.contract.example(respond, name));
      const answered = await proof.post(200, target(waiting.call_id, 'respond'), body);
      assert.notEqual(answered.status[settled], null);
      assert.deepEqual(await proof.post(200, target(waiting.call_id, 'respond'), body), answered);
      await proof.post(409, target(waiting.call_id, 'respond'), otherBody);
      assert.ok(!await listed());

      const forgotten = call(kind);
      await proof.post(201, path, forgotten);
      const { status } = await eventually('the deadline', async () => {
        const seen = await proof.get(200, `${path}/${forgotten.call_id}`);
        return seen.status.responded_at !== null && seen;
      });
      assert.match(status.comment ?? status.response, /^Nobody answered in time/);
      await proof.refused(404, target(forgotten.call_id, 'respond'), body, { code: 'session_finished' });

      await proof.refused(404, target('call-nowhere', 'respond'), body, { code: 'unknown_call' });
      await proof.refused(400, target(waiting.call_id, 'respond'), '{');
      await proof.refused(422, target(waiting.call_id, 'respond'), {}, { field: kind === 'function_calls' ? 'approved' : 'response' });
      for (const what of ['respond', 'escalate_email']) {
        await proof.refused(413, target(waiting.call_id, what), `"${'x'.repeat(maxBodyBytes)}"`);
        await proof.refused(415, target(waiting.call_id, what), 'x', { type: 'text/plain' });
      }
      await proof.refused(501, target(waiting.call_id, 'escalate_email'), { escalation_msg: 'hurry' }, { code: 'not_offered' });
    });
  }
});
