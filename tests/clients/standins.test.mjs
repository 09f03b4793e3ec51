// The platforms' own clients judge our stand-ins of them: what works against the one works against the other.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { after, before, test } from 'node:test';
import { DiscordAPIError, REST } from '@discordjs/rest';
import bolt from '@slack/bolt';
import { LogLevel, SocketModeClient } from '@slack/socket-mode';
import { WebClient } from '@slack/web-api';
import { Routes } from 'discord-api-types/v10';
import { verifyKey } from 'discord-interactions';
import { startDiscord } from './discord_standin.mjs';
import { eventually } from './harness.mjs';
import { startSlack } from './slack_standin.mjs';

const options = { timeout: 30_000 };
const quiet = new Proxy({}, { get: (_, name) => (name === 'getLevel' ? () => LogLevel.ERROR : () => {}) });
const button = (text, value) => ({ type: 'button', action_id: `pick:${value}`, text: { type: 'plain_text', text }, value });
const blocks = [
  { type: 'section', text: { type: 'plain_text', text: 'Deploy?' } },
  { type: 'actions', block_id: 'hp:1', elements: [button('Yes', '0'), button('No', '1')] },
];
const form = {
  type: 'modal', callback_id: 'form', title: { type: 'plain_text', text: 'Answer' }, submit: { type: 'plain_text', text: 'Send' },
  blocks: [{ type: 'input', block_id: 'b', label: { type: 'plain_text', text: 'Yours' }, element: { type: 'plain_text_input', action_id: 'own' } }],
};

let slack;
let discord;
before(async () => {
  slack = await startSlack();
  discord = await startDiscord();
}, options);
after(async () => {
  await slack?.close();
  await discord?.close();
}, options);

const client = (token = slack.botToken, more = {}) => new WebClient(token, { slackApiUrl: `${slack.apiUrl}/`, logger: quiet, ...more });
const fails = (call, error) => assert.rejects(call, ({ data }) => data?.error === error);

test('Slack\'s own client posts, edits and is refused as by Slack', options, async () => {
  const web = client();
  assert.equal((await web.auth.test()).team, 'Holdpoint');
  const sent = await web.chat.postMessage({ channel: '#ops', text: 'Deploy?', blocks });
  assert.match(sent.ts, /^\d+\.\d{6}$/);
  assert.equal(sent.channel, 'C0OPS');
  await web.chat.update({ channel: sent.channel, ts: sent.ts, text: 'Deployed', blocks: blocks.slice(0, 1) });
  assert.equal(slack.messages.get(`C0OPS ${sent.ts}`).text, 'Deployed');

  await fails(client('xoxb-wrong').auth.test(), 'invalid_auth');
  await fails(web.chat.postMessage({ channel: '#nowhere', text: 'x', blocks }), 'channel_not_found');
  // Only posts may name a channel.
  await fails(web.chat.update({ channel: '#ops', ts: sent.ts, text: 'x', blocks }), 'channel_not_found');
  await fails(web.chat.update({ channel: 'C0OPS', ts: '1.000000', text: 'x', blocks }), 'message_not_found');
  await fails(web.chat.postMessage({ channel: 'C0OPS', text: 'x', blocks: [{ type: 'section', text: { type: 'plain_text', text: 'x'.repeat(3001) } }] }), 'invalid_blocks');
  await fails(web.chat.postMessage({ channel: 'C0OPS', text: 'x', blocks: [{ type: 'section', words: 'x' }] }), 'invalid_blocks');
  await fails(web.views.open({ trigger_id: 'made.up', view: form }), 'invalid_trigger_id');
});

test('Slack\'s own client waits as long as it is told', options, async () => {
  slack.paced.add('C0DEV');
  const web = client();
  const started = Date.now();
  await web.chat.postMessage({ channel: 'C0DEV', text: '1', blocks });
  await web.chat.postMessage({ channel: 'C0DEV', text: '2', blocks });
  assert.ok(Date.now() - started >= 950);
  assert.equal(slack.calls.filter(({ status, path }) => status === 429 && path.endsWith('chat.postMessage')).length, 1);
  assert.deepEqual(slack.hasty, []);
});

test('Bolt takes the clicks and forms that people of the stand-in send', options, async () => {
  const heard = [];
  const receiver = new bolt.HTTPReceiver({ signingSecret: slack.signingSecret, endpoints: '/slack/interactions', port: 0, logLevel: LogLevel.ERROR });
  const app = new bolt.App({ token: slack.botToken, receiver, logLevel: LogLevel.ERROR, clientOptions: { slackApiUrl: `${slack.apiUrl}/` } });
  app.action(/^pick:/, async ({ ack, action, body, respond, client: web }) => {
    await ack();
    heard.push([body.user.username, action.value, action.block_id]);
    await web.views.open({ trigger_id: body.trigger_id, view: form });
    await respond({ text: 'Too late', response_type: 'ephemeral', replace_original: false });
  });
  app.view('form', async ({ ack, view }) => {
    heard.push(view.state.values.b.own.value);
    await ack({ response_action: 'errors', errors: { b: 'Not that' } });
  });
  const server = await app.start(0);
  slack.deliverTo = () => `http://127.0.0.1:${server.address().port}`;
  try {
    const { ts } = await client().chat.postMessage({ channel: 'C0OPS', text: 'Deploy?', blocks });
    const ana = slack.person('U1', 'ana');
    const [{ status }] = await ana.press(slack.messages.get(`C0OPS ${ts}`), 'No');
    assert.equal(status, 200);
    await eventually('the private notice', () => slack.notices.find(({ user, text }) => user === 'U1' && text === 'Too late'));
    const view = slack.views.at(-1);
    const [{ payload }] = await ana.submit(view, ['mine']);
    assert.deepEqual(payload, { response_action: 'errors', errors: { b: 'Not that' } });
    assert.deepEqual(heard, [['ana', '1', 'hp:1'], 'mine']);
  } finally {
    await app.stop();
  }
});

test('Slack\'s own Socket Mode client connects, acknowledges and comes back', options, async () => {
  const socket = new SocketModeClient({ appToken: slack.appToken, logLevel: LogLevel.ERROR, clientPingTimeout: 300, clientOptions: { slackApiUrl: `${slack.apiUrl}/` } });
  const heard = [];
  socket.on('interactive', async ({ body, ack }) => {
    heard.push(body.user.id);
    await ack();
  });
  slack.socketMode = true;
  try {
    await socket.start();
    const { ts } = await client().chat.postMessage({ channel: 'C0OPS', text: 'Deploy?', blocks });
    const message = slack.messages.get(`C0OPS ${ts}`);
    await slack.person('U1', 'ana').press(message, 'Yes');
    const again = once(socket, 'connected');
    await slack.disconnect();
    await again;
    await slack.person('U2', 'ben').press(message, 'Yes');
    assert.deepEqual(heard, ['U1', 'U2']);
    assert.equal(new Set(slack.acks.map(({ envelope_id: id }) => id)).size, 2);
  } finally {
    slack.socketMode = false;
    await socket.disconnect();
  }
});

test('Discord\'s own verifier takes what the stand-in signs', options, async () => {
  const body = JSON.stringify(discord.ping);
  const headers = discord.sign(body);
  const verify = (text) => verifyKey(text, headers['x-signature-ed25519'], headers['x-signature-timestamp'], discord.publicKey);
  assert.equal(await verify(body), true);
  assert.equal(await verify(`${body} `), false);
});

test('discord.js\'s own client posts, edits, is refused as by Discord, and keeps to its buckets', options, async () => {
  const rest = new REST({ api: `${discord.url}/api`, version: '10', retries: 0 }).setToken(discord.botToken);
  const channel = '1500000000000000001';
  const body = { flags: 32768, components: [{ type: 10, content: 'Deploy?' }, { type: 1, components: [{ type: 2, style: 1, label: 'Yes', custom_id: 'hp:1' }] }], allowed_mentions: { parse: [] } };
  assert.equal((await rest.get(Routes.user())).username, 'holdpoint');
  const { id } = await rest.post(Routes.channelMessages(channel), { body: { ...body, nonce: '1', enforce_nonce: true } });
  assert.equal((await rest.post(Routes.channelMessages(channel), { body: { ...body, nonce: '1', enforce_nonce: true } })).id, id);
  await rest.patch(Routes.channelMessage(channel, id), { body: { ...body, components: body.components.slice(0, 1) } });
  assert.equal(discord.messages.get(id).components.length, 1);
  const refused = (call, code) => assert.rejects(call, (error) => error instanceof DiscordAPIError && error.code === code);
  await refused(rest.post(Routes.channelMessages('99'), { body }), 10003);
  await refused(rest.patch(Routes.channelMessage(channel, '1'), { body }), 10008);
  await refused(rest.post(Routes.channelMessages(channel), { body: { ...body, content: 'both' } }), 50035);
  await refused(rest.post(Routes.channelMessages(channel), { body: { ...body, components: [{ type: 10, content: 'x'.repeat(4001) }] } }), 50035);
  await assert.rejects(new REST({ api: `${discord.url}/api`, retries: 0 }).setToken('wrong').get(Routes.user()), ({ status }) => status === 401);

  const started = Date.now();
  Object.assign(discord, { per: 1000 });
  const other = Routes.channelMessages('1500000000000000002');
  await Promise.all(Array.from({ length: 7 }, () => rest.post(other, { body })));
  assert.ok(Date.now() - started >= 900);
  assert.deepEqual(discord.hasty, []);
});

test('who does not wait as long as they were told is noticed', options, async () => {
  const early = (call, after) => new Promise((resolve) => { setTimeout(() => resolve(call()), after); });
  const send = () => fetch(`${slack.apiUrl}/chat.postMessage`, {
    method: 'POST', headers: { authorization: `Bearer ${slack.botToken}`, 'content-type': 'application/json' }, body: JSON.stringify({ channel: 'C0EARLY', text: 'x', blocks }),
  });
  slack.limit('chat.postMessage', 'C0EARLY', 2);
  assert.equal((await send()).headers.get('retry-after'), '2');
  await early(send, 500);
  assert.equal(slack.hasty.pop().channel, 'C0EARLY');

  const write = () => fetch(`${discord.apiUrl}/channels/1500000000000000003/messages`, {
    method: 'POST', headers: { authorization: `Bot ${discord.botToken}`, 'user-agent': 'DiscordBot (https://example.org, 1)' }, body: '{}',
  });
  discord.limit('POST', '1500000000000000003', 2);
  assert.equal((await (await write()).json()).retry_after, 2);
  await early(write, 500);
  assert.equal(discord.hasty.pop().bucket, 'POST 1500000000000000003');
});
