// Webhooks that upstream's own libraries sign. Each must be taken as it is, and refused once it was tampered with; where a
// library can verify too, it and the server must agree on every request.
import assert from 'node:assert/strict';
import { createHmac, randomBytes } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { sign as signAsGithub, verify as verifyAsGithub } from '@octokit/webhooks-methods';
import bolt from '@slack/bolt';
import { Webhook as StandardWebhook } from 'standardwebhooks';
import { Webhook as SvixWebhook } from 'svix';
import { echo } from './agents.mjs';
import { Proof, options } from './proof.mjs';

const standardSecret = `whsec_${randomBytes(24).toString('base64')}`;
const nextSecret = `whsec_${randomBytes(24).toString('base64')}`;
const githubSecret = "It's a Secret to Everybody";
const slackSecret = '8f742231b10e8888abcd99yyyzzz85a5';
const seconds = (off = 0) => String(Math.floor(Date.now() / 1000) + off);
let made = 0;
const newId = () => `msg_${process.pid}_${made += 1}`;
// No two alike: the same body under the same secret is a copy to schemes without a timestamp.
const newBody = () => JSON.stringify({ topic: 'Grüße, 世界 😀', number: 12345678901234567890n.toString(), id: newId() });
const holds = (verify) => {
  try {
    verify();
    return true;
  } catch {
    return false;
  }
};

// Standard Webhooks; `prefix` is what the headers' names begin with.
const asStandard = (Webhook, prefix) => ({
  agent: 'standard',
  sign: (body, { off = 0, at = seconds(off), id = newId(), secret = standardSecret } = {}) => ({
    [`${prefix}-id`]: id, [`${prefix}-timestamp`]: at, [`${prefix}-signature`]: new Webhook(secret).sign(id, new Date(Number(at) * 1000), body),
  }),
  accepts: (body, headers) => holds(() => new Webhook(standardSecret).verify(body, headers)),
  id: `${prefix}-id`,
  timestamp: `${prefix}-timestamp`,
  signature: `${prefix}-signature`,
  otherSecret: `whsec_${randomBytes(24).toString('base64')}`,
});

const upstreams = {
  standardwebhooks: asStandard(StandardWebhook, 'webhook'),
  svix: asStandard(SvixWebhook, 'svix'),
  'svix, unbranded': asStandard(SvixWebhook, 'webhook'),
  octokit: {
    agent: 'github',
    sign: async (body, { secret = githubSecret, id = newId() } = {}) => ({ 'x-github-delivery': id, 'x-github-event': 'push', 'x-hub-signature-256': await signAsGithub(secret, body) }),
    accepts: (body, headers) => verifyAsGithub(githubSecret, body, headers['x-hub-signature-256']).catch(() => false),
    signature: 'x-hub-signature-256',
    otherSecret: 'another',
  },
  // Bolt verifies only; what it verifies is signed by Slack's recipe.
  bolt: {
    agent: 'slack',
    sign: (body, { off = 0, secret = slackSecret } = {}) => {
      const at = seconds(off);
      return { 'x-slack-request-timestamp': at, 'x-slack-signature': `v0=${createHmac('sha256', secret).update(`v0:${at}:${body}`).digest('hex')}` };
    },
    accepts: (body, headers) => holds(() => bolt.verifySlackRequest({ signingSecret: slackSecret, body, headers })),
    timestamp: 'x-slack-request-timestamp',
    signature: 'x-slack-signature',
    otherSecret: 'another',
  },
};

// Signed requests that are not what was signed; each `[what, body, headers]`.
async function forgeries({ sign, id, timestamp, signature, otherSecret }) {
  const body = newBody();
  const headers = await sign(body);
  const value = headers[signature];
  const flipped = value.slice(0, -2) + (value.at(-2) === 'a' ? 'b' : 'a') + value.slice(-1);
  const without = (name) => Object.fromEntries(Object.entries(headers).filter(([key]) => key !== name));
  return [
    ['another body', body.replace('Grüße', 'Grusse'), headers],
    ['one byte more', `${body} `, headers],
    ['another signature', body, { ...headers, [signature]: flipped }],
    ['half a signature', body, { ...headers, [signature]: value.slice(0, value.length / 2) }],
    ['an empty signature', body, { ...headers, [signature]: '' }],
    ['a signature of another version', body, { ...headers, [signature]: value.replace(/^(v1|v0|sha256)/, 'v9') }],
    ['no signature', body, without(signature)],
    ['another secret', body, await sign(body, { secret: otherSecret })],
    ['nothing at all', body, {}],
    ...(timestamp ? [
      ['another time', body, { ...headers, [timestamp]: String(Number(headers[timestamp]) - 1) }],
      ['no time', body, without(timestamp)],
      ['a time that is none', body, { ...headers, [timestamp]: 'now' }],
      ['a time long ago', body, await sign(body, { off: -302 })],
      ['a time to come', body, await sign(body, { off: 360 })],
    ] : []),
    ...(id ? [
      ['another id', body, { ...headers, [id]: newId() }],
      ['no id', body, without(id)],
    ] : []),
  ];
}

for (const closed of [false, true]) {
  const mode = closed ? 'closed' : 'open';
  describe(`upstream, ${mode}`, () => {
    let proof;
    before(async () => {
      const agent = (scheme, secret) => ({ ...echo, webhook_verify: scheme, webhook_secret: secret });
      proof = await Proof.start({
        closed,
        agents: { standard: agent('standard', [standardSecret, nextSecret]), github: agent('github', githubSecret), slack: agent('slack', slackSecret) },
      });
    }, options);
    after(() => proof?.stop(), options);
    const send = (agent, body, headers) => proof.world.request('POST', `/agent/webhook/${agent}`, { body, headers });
    const started = async (agent) => (await proof.get(200, `/agent/sessions?agent=${agent}&limit=500`)).sessions.length;
    const take = async (status, agent, body, headers, what) => {
      const response = proof.contract.check(await send(agent, body, headers));
      assert.equal(response.status, status, `${what}: ${response.text}`);
      if (status === 401) assert.equal(response.json.error.code, 'bad_signature', what);
      return response.json;
    };

    for (const [library, upstream] of Object.entries(upstreams)) {
      const { agent, sign, accepts, timestamp } = upstream;

      test(`${mode}: what ${library} signs starts the agent`, options, async () => {
        for (const off of timestamp ? [0, -280, 280] : [0]) {
          const body = newBody();
          const headers = await sign(body, { off });
          assert.ok(await accepts(body, headers), `${library} refuses its own signature`);
          const { session_id: id } = await take(202, agent, body, headers, `${library}, ${off} s`);
          assert.deepEqual((await proof.finished(id)).result, JSON.parse(body));
        }
      });

      test(`${mode}: what was tampered with is refused by ${library} and by us`, options, async () => {
        const before = await started(agent);
        for (const [what, body, headers] of await forgeries(upstream)) {
          // Bolt has no limit for clocks that are ahead; we do.
          assert.equal(await accepts(body, headers), library === 'bolt' && what === 'a time to come', `${library}: ${what}`);
          await take(401, agent, body, headers, what);
        }
        assert.equal(await started(agent), before);
      });

      test(`${mode}: a copy of what ${library} signed is refused`, options, async () => {
        const body = newBody();
        const headers = await sign(body);
        await take(202, agent, body, headers, 'the first');
        const before = await started(agent);
        for (let copy = 0; copy < 2; copy += 1) await take(401, agent, body, headers, 'a copy');
        assert.equal(await started(agent), before);
      });
    }

    test(`${mode}: a retry that is signed anew gets the first session, and a known id with another body nothing`, options, async () => {
      for (const library of ['standardwebhooks', 'svix']) {
        const { sign } = upstreams[library];
        const [body, id] = [newBody(), newId()];
        const first = await take(202, 'standard', body, sign(body, { id }), 'the first');
        const retry = await take(202, 'standard', body, sign(body, { id, off: 1 }), 'the retry');
        assert.deepEqual([retry.session_id, retry.duplicate], [first.session_id, true]);
        const other = newBody();
        await take(401, 'standard', other, sign(other, { id, off: 2 }), 'another body');
      }
      const { sign } = upstreams.octokit;
      const [body, other, id] = [newBody(), newBody(), newId()];
      await take(202, 'github', body, await sign(body, { id }), 'the first');
      await take(401, 'github', other, await sign(other, { id }), 'another body');
    });

    test(`${mode}: while a secret rotates, both are taken, also in one header`, options, async () => {
      const { sign } = upstreams.standardwebhooks;
      const body = newBody();
      await take(202, 'standard', body, sign(body, { secret: nextSecret }), 'the next secret');
      const second = newBody();
      const same = { id: newId(), at: seconds() };
      const [known, unknown] = [sign(second, same), sign(second, { ...same, secret: upstreams.svix.otherSecret })];
      await take(202, 'standard', second, { ...known, 'webhook-signature': `v1a,AAAA ${unknown['webhook-signature']} ${known['webhook-signature']}` }, 'three signatures');
    });
  });
}
