// One question in every channel at once: Slack, Discord, mail to two people, and a callback. Whoever answers first has
// answered, and every channel says the same about it.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { simpleParser } from 'mailparser';
import { SMTPServer } from 'smtp-server';
import { startDiscord } from './discord_standin.mjs';
import { eventually, publicUrl, startReceiver, startWorld } from './harness.mjs';
import { form, hiddenFields } from './people.mjs';
import { ask, deploy, outcome, settledLine } from './rounds.mjs';
import { startSlack } from './slack_standin.mjs';

const options = { timeout: 90_000 };
const rounds = 24;
const [discordChannel, cy, dee] = ['1500000000000000001', 'cy@example.org', 'dee@example.org'];

let slack;
let discord;
let receiver;
let smtp;
let world;
const mails = [];

before(async () => {
  slack = await startSlack();
  discord = await startDiscord();
  Object.assign(discord, { perBucket: 1000, per: 1000 });
  receiver = await startReceiver();
  smtp = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    onData: (stream, session, done) => {
      simpleParser(stream).then((mail) => {
        mails.push({ to: session.envelope.rcptTo.map(({ address }) => address), text: mail.text, subject: mail.subject, id: mail.messageId, references: [mail.references ?? []].flat() });
        done();
      }, done);
    },
  });
  await new Promise((resolve) => { smtp.listen(0, '127.0.0.1', resolve); });
  const asks = (question) => ({ async_questions: true, turn: ({ reason, resume }) => (reason === 'start' ? { ask: { questions: [{ question, options: ['Yes', 'No'] }] } } : { result: resume }) });
  world = await startWorld({
    agents: {
      everywhere: {
        ...asks('Deploy?'),
        channels: ['slack:C0ALL', `discord:${discordChannel}`, `email:${cy}`, `email:${dee}`, 'url'],
        question_callback: `${receiver.url}/hook`,
        callback_events: ['question_settled'],
      },
      hooked: { ...asks('Hooked?'), question_callback: `${slack.url}/services/T0/B0/secret` },
    },
    settings: {
      questions: { notify_slack: true, slack_channel: '#approvals', notify_email: true, email_to: ['fay@example.org'], discord_channel: '1500000000000000009' },
      slack: { api_url: slack.apiUrl, bot_token: slack.botToken, signing_secret: slack.signingSecret, webhook_hosts: [new URL(slack.url).host] },
      discord: { api_url: discord.apiUrl, bot_token: discord.botToken, public_key: discord.publicKey },
      email: { smtp_url: `smtp://127.0.0.1:${smtp.server.address().port}`, smtp_tls: false, from: 'Holdpoint <holdpoint@example.org>' },
    },
  });
  slack.deliverTo = () => world.address();
  discord.deliverTo = () => world.address();
}, options);
after(async () => {
  try {
    await world?.stop();
  } finally {
    await Promise.all([slack?.close(), discord?.close(), receiver?.close(), new Promise((resolve) => { smtp ? smtp.close(resolve) : resolve(); })]);
  }
  assert.deepEqual([...slack.refused, ...discord.refused], []);
  const log = world.log.join('\n');
  for (const secret of [slack.botToken, slack.signingSecret, discord.botToken, 'services/T0/B0/secret', `${slack.url}/actions/`]) assert.ok(!log.includes(secret), 'a secret is in the log');
  assert.doesNotMatch(log, /token=[\w-]{20}/);
}, options);

async function trigger(agent) {
  const { status, json, text } = await world.request('POST', `/agent/webhook/${agent}`, { body: {} });
  assert.equal(status, 202, text);
  return json.session_id;
}

// Opens the link of a mail or a button, as a browser would, and sends the page's form.
async function answerByLink(url, choice) {
  assert.ok(url.startsWith(publicUrl), url);
  const page = await world.request('GET', url.slice(publicUrl.length));
  assert.equal(page.status, 200, page.text);
  return async () => {
    const { pathname } = new URL(url);
    const { status } = await world.request('POST', pathname, form({ ...hiddenFields(page), choice }));
    return status;
  };
}

const mailOf = (session, to, n = 1) => eventually(`${n} mails to ${to}`, () => {
  const found = mails.filter((mail) => mail.to.includes(to) && (mail.text.includes(session) || mail.references.some((id) => mails.some((first) => first.id === id && first.text.includes(session)))));
  return found.length >= n && found;
}, 20_000);
const linkIn = ({ text }) => /https:\/\/holdpoint\.example\.org\/agent\/answer\/[^\s<>]+/.exec(text)[0];
const unescapeDiscord = (text) => text.replace(/\\([!-/:-@[-`{-~])/g, '$1');

// What answers this question, by channel: each is ready to go off, and says nothing about who wins.
async function contenders(session, id) {
  const slackMessage = await eventually('the message in Slack', () => [...slack.messages.values()].find(({ blocks }) => JSON.stringify(blocks).includes(id)));
  const discordMessage = await eventually('the message in Discord', () => [...discord.messages.values()].find(({ components }) => JSON.stringify(components).includes(id)));
  const [mail] = await mailOf(session, cy);
  await mailOf(session, dee);
  await receiver.take('the callback', ({ raw }) => raw.includes(id) && JSON.parse(raw).event === 'question_pending');
  const byLink = await answerByLink(linkIn(mail), 'Yes');
  return {
    slackMessage,
    discordMessage,
    ways: {
      slack: async () => (await slack.person('U0ANA', 'ana').press(structuredClone(slackMessage), 'No'))[0].status,
      discord: async () => (await discord.person('80351110224678912', 'ben').press(structuredClone(discordMessage), 'Yes'))[0].status,
      email: byLink,
      api: async () => (await world.request('POST', `/agent/answer/${session}`, { body: { question_id: id, answer: 'No', answered_by: 'eve' } })).status,
    },
  };
}

const pairs = [['slack', 'discord'], ['slack', 'email'], ['slack', 'api'], ['discord', 'email'], ['discord', 'api'], ['email', 'api']];
const wins = {};

async function race(pair) {
  const session = await trigger('everywhere');
  const { id } = await eventually('the question', async () => (await world.request('GET', `/agent/questions?session=${session}`)).json.questions[0]);
  const { ways, slackMessage, discordMessage } = await contenders(session, id);
  const statuses = await Promise.all(pair.map((way) => ways[way]()));
  for (const [i, way] of pair.entries()) assert.ok(['slack', 'discord'].includes(way) ? statuses[i] === 200 : [200, 409, 410].includes(statuses[i]), `${way}: ${statuses[i]}`);

  const question = await outcome(world, id);
  const line = settledLine(question);
  const via = question.answered_via;
  assert.ok(pair.includes(via), `${via} of ${pair}`);
  wins[via] = (wins[via] ?? 0) + 1;
  await eventually('Slack to say so', () => JSON.stringify(slackMessage.blocks).includes(line) && slack.controls(slackMessage).length === 0, 20_000);
  await eventually('Discord to say so', () => unescapeDiscord(discord.textOf(discordMessage)).includes(line) && discord.controls(discordMessage).length === 0, 20_000);
  const [first, closing] = await mailOf(session, dee, 2);
  assert.ok(closing.text.includes(line), closing.text);
  assert.ok(closing.references.includes(first.id), 'the closing mail is in another thread');
  if (via !== 'email') assert.ok((await mailOf(session, cy, 2))[1].text.includes(line));
  const [callback] = await receiver.take('the callback', ({ raw }) => raw.includes(id) && JSON.parse(raw).event === 'question_settled');
  const told = JSON.parse(callback.raw).question;
  assert.equal(settledLine({ ...told, status: told.outcome }), line);
  // Only one of them is what the agent goes on with.
  const { status, result } = (await world.request('GET', `/agent/session/${session}?wait=20&until=finished`, { ms: 30_000 })).json;
  assert.deepEqual([status, result.answers['Deploy?']], ['completed', question.answer]);
  assert.equal(world.turns.filter((raw) => raw.includes(session)).length, 2);
}

test('of two who answer at the same moment one wins, and all channels say the same', options, async (t) => {
  for (let begun = 0; begun < rounds; begun += pairs.length) await Promise.all(pairs.map(race));
  t.diagnostic(`won: ${Object.entries(wins).map(([via, n]) => `${via} ${n}`).join(', ')}`);
  assert.ok(Object.keys(wins).length > 1);
});

test('a Slack webhook\'s message has links for buttons, and its page answers', options, async () => {
  const session = await trigger('hooked');
  const message = await eventually('the message', () => slack.posted.find(({ blocks }) => JSON.stringify(blocks).includes(session)));
  assert.equal(message.path, '/services/T0/B0/secret');
  const links = slack.controls(message).map(({ text, url }) => [text.text, url]);
  const [, url] = links.find(([label]) => label === 'No');
  const page = await world.request('GET', url.slice(publicUrl.length));
  assert.match(page.text, /<input[^>]*value="No"[^>]*checked/);
  const { id } = (await world.request('GET', `/agent/questions?session=${session}`)).json.questions[0];
  // Looking decides nothing.
  assert.equal((await world.request('GET', `/agent/questions/${id}`)).json.status, 'pending');
  assert.equal(await (await answerByLink(url, 'No'))(), 200);
  const line = settledLine(await outcome(world, id));
  assert.match(line, /: No$/);
  await eventually('a closing message', () => slack.posted.find(({ blocks }) => JSON.stringify(blocks).includes(line)));
});

test('questions go where the settings say, and where their ask adds', options, async () => {
  const { ids: [id], session } = await ask(world, [], deploy);
  await eventually('the message in Slack', () => [...slack.messages.values()].find(({ channel, blocks }) => channel === 'C0APPROVALS' && JSON.stringify(blocks).includes(id)));
  await mailOf(session, 'fay@example.org');
  const more = await ask(world, ['discord', 'slack:C0MORE', 'slack:#approvals'], deploy);
  await eventually('the message in Discord', () => [...discord.messages.values()].find(({ channel, components }) => channel === '1500000000000000009' && JSON.stringify(components).includes(more.ids[0])));
  await slack.take('C0MORE');
  // The same place twice is one message.
  const { deliveries } = (await world.request('GET', `/agent/deliveries?session=${more.session}`)).json;
  assert.deepEqual(deliveries.map(({ channel }) => channel).sort(), ['discord', 'email', 'slack', 'slack']);
  for (const [target, pattern] of [['slack:', /channels/], ['pigeon', /channels/], ['discord:#ops', /channels/], ['email:no address', /channels/]]) {
    const { status, json } = await world.request('POST', '/agent/ask', { body: { questions: [deploy], channels: [target] } });
    assert.equal(status, 422, target);
    assert.match(json.error.field, pattern);
  }
});

test('what is told goes where questions go, on every channel, with nothing to press', options, async () => {
  const tell = async (body) => {
    const { status, json, text } = await world.request('POST', '/agent/notify', { body });
    assert.equal(status, 202, text);
    return json;
  };
  const told = await tell({ title: 'Build 118 <live>', message: 'All & green.\n<!channel>', channels: ['discord', 'slack:C0TOLD'] });
  assert.deepEqual(told.channels, ['discord', 'email', 'slack']);
  const [onSlack] = await slack.take('C0TOLD');
  assert.deepEqual(slack.controls(onSlack), []);
  assert.match(JSON.stringify(onSlack.blocks), /Build 118 <live>.*All & green\.\\n<!channel>/);
  assert.ok(!onSlack.text.includes('<'), onSlack.text);
  const onDiscord = await eventually('the card in Discord', () => [...discord.messages.values()].find(({ components }) => JSON.stringify(components).includes('Build 118')));
  assert.deepEqual(discord.controls(onDiscord), []);
  const mail = await eventually('the mail', () => mails.find(({ subject }) => subject === '[external] Build 118 <live>'));
  assert.deepEqual(mail.to, ['fay@example.org']);
  assert.match(mail.text, /All & green\.\n<!channel>/);
  assert.doesNotMatch(mail.text, /agent\/answer/);
  const { deliveries } = (await world.request('GET', `/agent/deliveries?session=${told.session_id}`)).json;
  await eventually('all to be delivered', async () => (await world.request('GET', `/agent/deliveries?session=${told.session_id}&status=delivered`)).json.deliveries.length === deliveries.length);
  assert.deepEqual(deliveries.map(({ channel, event }) => `${channel} ${event}`).sort(), ['discord card_posted', 'email card_posted', 'slack card_posted', 'slack card_posted']);
});

test('`channels test` sends a sample to each, closes it, and names what is wrong', options, async () => {
  for (const [name, to] of [['slack', 'C0SAMPLE'], ['discord', '1500000000000000008'], ['email', 'gus@example.org']]) {
    const { code, out } = await world.command(['channels', 'test', name, '--to', to]);
    assert.equal(code, 0, out);
    assert.match(out, /ok {4}closed the sample/);
  }
  const [sample] = await slack.take('C0SAMPLE');
  assert.deepEqual(slack.controls(sample), []);
  assert.deepEqual(discord.controls((await discord.take('1500000000000000008'))[0]), []);
  for (const [name, more, complaint] of [
    ['slack', { HOLDPOINT_SLACK_BOT_TOKEN: 'xoxb-wrong' }, /FAIL {2}bot_token: .*bot_token/],
    ['slack', { HOLDPOINT_SLACK_API_URL: 'http://127.0.0.1:1/api' }, /FAIL {2}bot_token: .*reached/],
    ['discord', { HOLDPOINT_DISCORD_BOT_TOKEN: 'wrong' }, /FAIL {2}bot_token: .*bot_token/],
    ['email', { HOLDPOINT_EMAIL_SMTP_URL: 'smtp://127.0.0.1:1' }, /FAIL/],
  ]) {
    const { code, out } = await world.command(['channels', 'test', name, '--to', name === 'email' ? 'gus@example.org' : 'C0SAMPLE'], more);
    assert.equal(code, 1, out);
    assert.match(out, complaint);
  }
});
