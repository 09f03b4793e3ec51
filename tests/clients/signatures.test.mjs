// Who may tell us of clicks: Bolt's and discord-interactions' own verifiers against ours, on the same requests.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import bolt from '@slack/bolt';
import { verifyKey } from 'discord-interactions';
import { makeDiscordKey } from './discord_standin.mjs';
import { startWorld } from './harness.mjs';
import { interactionBody, signSlack } from './slack_standin.mjs';

const options = { timeout: 30_000 };
const secret = '8f742231b10e8888abcd99yyyzzz85a5';
const key = makeDiscordKey();

let world;
before(async () => {
  world = await startWorld({
    settings: {
      slack: { bot_token: 'xoxb-proof', signing_secret: secret, api_url: 'http://127.0.0.1:1/api' },
      discord: { bot_token: 'proof', public_key: key.publicKey, api_url: 'http://127.0.0.1:1/api' },
    },
  });
}, options);
after(() => world?.stop(), options);

const now = () => Math.floor(Date.now() / 1000);
// Another app's button: nothing to do, so that only the signature decides.
const payload = {
  type: 'block_actions', team: { id: 'T1', domain: 't' }, user: { id: 'U1', username: 'ana' }, api_app_id: 'A1', token: 't', container: {}, trigger_id: '1.2.3', response_url: 'http://127.0.0.1:1/',
  actions: [{ type: 'button', block_id: 'other', action_id: 'other', action_ts: '1', text: { type: 'plain_text', text: 'ü <!channel>' } }],
};
const slackBody = interactionBody(payload);
const without = (headers, name) => Object.fromEntries(Object.entries(headers).filter(([known]) => known !== name));
const flip = (text, at) => text.slice(0, at) + (text[at] === '0' ? '1' : '0') + text.slice(at + 1);

// name → [headers, body, whether we take it, where it differs from Bolt].
const slackCases = () => {
  const good = signSlack(secret, slackBody);
  const signature = good['x-slack-signature'];
  const with_ = (name, value) => ({ ...good, [name]: value });
  const at = (offset) => signSlack(secret, slackBody, now() + offset);
  return {
    'as Slack signs': [good, slackBody, true],
    'four minutes old': [at(-240), slackBody, true],
    'six minutes old': [at(-360), slackBody, false],
    'a day old': [at(-86_400), slackBody, false],
    'four minutes ahead': [at(240), slackBody, true],
    'six minutes ahead': [at(360), slackBody, false, 'Bolt lets the future pass'],
    'a year ahead': [at(31_536_000), slackBody, false, 'Bolt lets the future pass'],
    'another body': [good, interactionBody({ ...payload, user: { id: 'U2', username: 'eve' } }), false],
    'a byte more': [good, `${slackBody} `, false],
    'a byte less': [good, slackBody.slice(0, -1), false],
    'an empty body': [good, '', false],
    'another secret': [signSlack(`${secret}x`, slackBody), slackBody, false],
    'an empty secret': [signSlack('', slackBody), slackBody, false],
    'another time': [with_('x-slack-request-timestamp', String(now() - 1)), slackBody, false],
    'no signature': [without(good, 'x-slack-signature'), slackBody, false],
    'no time': [without(good, 'x-slack-request-timestamp'), slackBody, false],
    'an empty signature': [with_('x-slack-signature', ''), slackBody, false],
    'the version alone': [with_('x-slack-signature', 'v0='), slackBody, false],
    'no version': [with_('x-slack-signature', signature.slice(3)), slackBody, false],
    'another version': [with_('x-slack-signature', signature.replace('v0', 'v1')), slackBody, false],
    'a digit changed': [with_('x-slack-signature', flip(signature, 20)), slackBody, false],
    'a digit less': [with_('x-slack-signature', signature.slice(0, -1)), slackBody, false],
    'a digit more': [with_('x-slack-signature', `${signature}0`), slackBody, false],
    'capitals': [with_('x-slack-signature', `v0=${signature.slice(3).toUpperCase()}`), slackBody, false],
  };
};

test('Bolt\'s verifier and ours agree about Slack\'s requests, but for the future', options, async () => {
  for (const [name, [headers, body, taken, differs]] of Object.entries(slackCases())) {
    const theirs = bolt.isValidSlackRequest({ signingSecret: secret, body, headers: { ...headers, 'x-slack-request-timestamp': Number(headers['x-slack-request-timestamp']) } });
    assert.equal(theirs, differs ? !taken : taken, `Bolt: ${name}`);
    const { status, text } = await world.request('POST', '/slack/interactions', { headers, body });
    assert.equal(status, taken ? 200 : 401, `${name}: ${text}`);
  }
});

test('a time that is no number is refused, however well it is signed', options, async () => {
  for (const time of ['abc', '', ' ', '-1', '1e9', `${now()}.5`, `+${now()}`, `0x${now().toString(16)}`, `${now()}0000000000000`, 'NaN']) {
    const { status, text } = await world.request('POST', '/slack/interactions', { headers: signSlack(secret, slackBody, time), body: slackBody });
    assert.equal(status, 401, `${time}: ${text}`);
  }
});

test('what is signed but is no interaction is told so, and does no harm', options, async () => {
  for (const [body, status] of [
    ['payload=', 400], ['payload=%7B', 400], ['payload=null', 400], ['payload=%5B%5D', 400], ['', 422], ['text=hello', 422], ['ssl_check=1&token=x', 200],
    [interactionBody({ type: 'view_closed' }), 200], [interactionBody({ type: 'block_actions', actions: [] }), 200], [interactionBody({ type: 'something_new' }), 200],
  ]) {
    const { status: got, text } = await world.request('POST', '/slack/interactions', { headers: signSlack(secret, body), body });
    assert.ok(got === status || (status >= 400 && got >= 400 && got < 500), `${body}: ${got} ${text}`);
  }
});

// name → [headers, body, whether we take it, where it differs from discord-interactions].
const discordBody = JSON.stringify({ id: '1', application_id: '2', type: 1, token: 'ü', version: 1, entitlements: [], authorizing_integration_owners: {}, app_permissions: '0', attachment_size_limit: 0 });
const discordCases = () => {
  const good = key.sign(discordBody);
  const signature = good['x-signature-ed25519'];
  const with_ = (name, value) => ({ ...good, [name]: value });
  const at = (offset) => key.sign(discordBody, now() + offset);
  const stale = 'the library does not look at the time';
  return {
    'as Discord signs': [good, discordBody, true],
    'four minutes old': [at(-240), discordBody, true],
    'six minutes old': [at(-360), discordBody, false, stale],
    'six minutes ahead': [at(360), discordBody, false, stale],
    'another body': [good, discordBody.replace('"type":1', '"type":3'), false],
    'a byte more': [good, `${discordBody} `, false],
    'an empty body': [good, '', false],
    'another key': [makeDiscordKey().sign(discordBody), discordBody, false],
    'another time': [with_('x-signature-timestamp', String(now() - 1)), discordBody, false],
    'a digit moved from the time to the body': [with_('x-signature-timestamp', good['x-signature-timestamp'].slice(0, -1)), good['x-signature-timestamp'].slice(-1) + discordBody, false, stale],
    'no signature': [without(good, 'x-signature-ed25519'), discordBody, false],
    'no time': [without(good, 'x-signature-timestamp'), discordBody, false],
    'an empty signature': [with_('x-signature-ed25519', ''), discordBody, false],
    'a digit changed': [with_('x-signature-ed25519', flip(signature, 20)), discordBody, false],
    'half a signature': [with_('x-signature-ed25519', signature.slice(0, 64)), discordBody, false],
    'a byte more of signature': [with_('x-signature-ed25519', `${signature}00`), discordBody, false],
    'nothing but zeros': [with_('x-signature-ed25519', '0'.repeat(128)), discordBody, false],
    'no digits': [with_('x-signature-ed25519', 'z'.repeat(128)), discordBody, false],
  };
};

test('discord-interactions\' verifier and ours agree, but for the time', options, async () => {
  for (const [name, [headers, body, taken, differs]] of Object.entries(discordCases())) {
    const theirs = await verifyKey(body, headers['x-signature-ed25519'] ?? '', headers['x-signature-timestamp'] ?? '', key.publicKey);
    assert.equal(theirs, differs ? !taken : taken, `discord-interactions: ${name}`);
    const { status, text, json } = await world.request('POST', '/discord/interactions', { headers, body });
    assert.equal(status, taken ? 200 : 401, `${name}: ${text}`);
    if (taken) assert.deepEqual(json, { type: 1 });
  }
});

test('where a platform is off, nobody can send its clicks', options, async () => {
  const quiet = await startWorld();
  try {
    for (const [target, headers, body] of [['/slack/interactions', signSlack('', slackBody), slackBody], ['/discord/interactions', key.sign(discordBody), discordBody]]) {
      const { status } = await quiet.request('POST', target, { headers, body });
      assert.equal(status, 404);
    }
  } finally {
    await quiet.stop();
  }
});
