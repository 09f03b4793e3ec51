// What Slack, Discord and mail providers call, and the links in mails. The platforms themselves are played as far as a
// message needs them; what they would say to our messages, others prove.
import assert from 'node:assert/strict';
import { createHmac, randomUUID } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { Webhook } from 'standardwebhooks';
import { makeDiscordKey } from './discord_standin.mjs';
import { eventually, maxBodyBytes, publicUrl, startReceiver } from './harness.mjs';
import { startMailServer } from './mail_server.mjs';
import { form, logIn } from './people.mjs';
import { Proof, nobody, options } from './proof.mjs';
import { interactionBody, signSlack } from './slack_standin.mjs';

const signingSecret = '8f742231b10e8888abcd99yyyzzz85a5';
const inboundSecret = 'a secret of the provider';
const inboundKey = `whsec_${Buffer.alloc(24, 7).toString('base64')}`;
const discordKey = makeDiscordKey();
const discordChannel = '80351110224678912';
const ana = 'ana@example.org';
const wrongKey = { authorization: `Bearer hp_${'0'.repeat(16)}_${'x'.repeat(43)}` };
const asForm = 'application/x-www-form-urlencoded';
const now = () => Math.floor(Date.now() / 1000);

// Both platforms' APIs, as far as a message needs them.
function answerAsPlatform({ path }) {
  const said = path.startsWith('/slack/') ? { ok: true, channel: 'C0OPS', ts: '1794796200.000100' } : { id: '1600000000000000001', channel_id: discordChannel };
  return { status: 200, headers: { 'content-type': 'application/json' }, body: JSON.stringify(said) };
}

export const proveChannels = () => {
  describe('channels', () => {
    let proof;
    let platforms;
    let mail;

    before(async () => {
      platforms = await startReceiver(answerAsPlatform);
      mail = await startMailServer({ offersTls: false });
      proof = await Proof.start({
        closed: true,
        limits: { wrong_credentials_per_minute: 60 },
        agents: { approvals: { runner: 'external', async_questions: true }, guarded: { runner: 'external', async_questions: true, answerers: ['bob', 'slack:U0BOB'] } },
        settings: {
          slack: { bot_token: 'xoxb-proof', signing_secret: signingSecret, api_url: `${platforms.url}/slack`, users: ['U0ROBERT=bob'] },
          discord: { bot_token: 'proof', public_key: discordKey.publicKey, api_url: `${platforms.url}/discord` },
          email: { smtp_url: mail.url, smtp_user: 'holdpoint', smtp_password: 'open sesame', smtp_tls: false, from: 'holdpoint@example.org', asks_may_add: ['example.org'], reply_to: 'reply@example.org', inbound_secret: [inboundSecret, inboundKey] },
          questions: { slack_channel: '#ops' },
        },
      });
    }, options);
    after(async () => {
      await proof?.stop();
      await platforms?.close();
      await mail?.close();
    }, options);

    const ask = async (channels, question = {}, agent = 'approvals') => {
      const { session_id: session, questions: [{ id }] } = await proof.post(202, '/agent/ask', { questions: [{ question: 'Deploy?', options: ['yes', 'no'], ...question }], channels, agent });
      return { session, id };
    };
    const outcome = async ({ id }) => {
      const { status, answer, answered_by: by, answered_via: via } = await proof.get(200, `/agent/questions/${id}`);
      return [status, answer, by, via];
    };
    // Its deliveries, once all of the `n` are sent, oldest first.
    const delivered = ({ session }, n) => eventually(`${n} deliveries`, async () => {
      const { deliveries } = await proof.get(200, `/agent/deliveries?session=${session}`);
      return deliveries.length === n && deliveries.every(({ status }) => status === 'delivered') && deliveries.reverse();
    });

    // ---- Slack

    const slack = (status, payload, { body = interactionBody(payload), at = now(), headers = {}, ...more } = {}) => proof.send(status, 'POST', '/slack/interactions', {
      body, type: asForm, headers: { ...signSlack(signingSecret, body, at), ...headers }, ...more,
    });
    const user = { id: 'U0ANA', username: 'ana' };
    const button = (id, place, more = {}) => ({ type: 'block_actions', user, actions: [{ type: 'button', block_id: `hp:${id}:0`, action_id: `pick:${place}` }], ...more });
    const filledForm = (id, text) => ({
      type: 'view_submission', user, view: { callback_id: 'hp:form', private_metadata: id, state: { values: { [`hp:${id}:own`]: { own: { type: 'plain_text_input', value: text } } } } },
    });

    test('a click in Slack answers its question, and the message follows', options, async () => {
      const asked = await ask(['slack']);
      const [message] = await delivered(asked, 1);
      assert.deepEqual([message.channel, message.event, message.destination, message.message_ref, message.follows], ['slack', 'question_pending', '#ops', 'C0OPS 1794796200.000100', null]);
      assert.equal((await slack(200, button(asked.id, 0))).text, '');
      assert.deepEqual(await outcome(asked), ['answered', 'yes', 'ana (U0ANA)', 'slack']);
      const [, edit] = await delivered(asked, 2);
      assert.deepEqual([edit.channel, edit.event, edit.follows], ['slack', 'question_settled', message.id]);
      for (const place of [0, 1]) await slack(200, button(asked.id, place));  // Once more, and too late.
      assert.deepEqual(await outcome(asked), ['answered', 'yes', 'ana (U0ANA)', 'slack']);
      const { entries } = await proof.get(200, '/agent/audit?limit=1000');
      assert.equal(entries.filter(({ action, credential }) => action === 'question_answered' && credential === 'slack:U0ANA').length, 1);
    });

    test('a form of Slack\'s is told what is wrong, or that it is over', options, async () => {
      const asked = await ask(['slack']);
      const { json: empty } = await slack(200, filledForm(asked.id, ' \n'));
      assert.deepEqual([empty.response_action, Object.keys(empty.errors)], ['errors', [`hp:${asked.id}:own`]]);
      assert.equal((await slack(200, filledForm(asked.id, 'after lunch'))).text, '');
      assert.deepEqual(await outcome(asked), ['answered', 'after lunch', 'ana (U0ANA)', 'slack']);
      const { json: late } = await slack(200, filledForm(asked.id, 'never'));
      assert.deepEqual([late.response_action, typeof late.view], ['update', 'object']);
      assert.equal((await slack(200, filledForm(nobody, 'never'))).json.response_action, 'update');
    });

    test('answerers are people of Slack by their id, or users by the map', options, async () => {
      const asked = await ask(['slack'], {}, 'guarded');
      await slack(200, button(asked.id, 0));
      await slack(200, button(asked.id, 0, { user: { id: 'U0EVE', username: 'bob' } }));  // Anybody may take any name.
      assert.equal((await outcome(asked))[0], 'pending');
      await slack(200, button(asked.id, 0, { user: { id: 'U0ROBERT', username: 'rob' } }));
      assert.deepEqual(await outcome(asked), ['answered', 'yes', 'rob (U0ROBERT)', 'slack']);
      const other = await ask(['slack'], {}, 'guarded');
      await slack(200, button(other.id, 1, { user: { id: 'U0BOB', username: 'bobby' } }));
      assert.deepEqual(await outcome(other), ['answered', 'no', 'bobby (U0BOB)', 'slack']);
    });

    // `call(status, {headers, at, body})` sends a good click on `asked` but for what differs.
    async function refuseUnsigned(call, signatureHeader, timeHeader, { headers: good, body }) {
      const bad = async (more) => assert.equal((await call(401, more)).json.error.code, 'bad_signature');
      await bad({ headers: { [signatureHeader]: '' } });
      await bad({ headers: { [timeHeader]: '' } });
      await bad({ headers: { [signatureHeader]: good[signatureHeader].replace(/.$/, (digit) => (digit === '0' ? '1' : '0')) } });
      await bad({ headers: { [signatureHeader]: [good[signatureHeader], good[signatureHeader]] } });  // There twice.
      await bad({ headers: { ...good }, body: `${body} ` });
      for (const at of [now() - 400, now() + 400]) await bad({ at });
      await bad({ headers: { ...(await proof.world.key('admin')), [signatureHeader]: '' } });  // A key does not stand for it.
      assert.equal((await call(401, { headers: wrongKey })).json.error.code, 'unauthenticated');
    }

    test('what Slack did not sign, or long ago, is not even read', options, async () => {
      const asked = await ask(['slack']);
      const payload = button(asked.id, 0);
      const body = interactionBody(payload);
      await refuseUnsigned((status, more) => slack(status, payload, more), 'x-slack-signature', 'x-slack-request-timestamp', { headers: signSlack(signingSecret, body), body });
      await slack(401, undefined, { body: 'payload=%zz', at: now() - 400 });
      assert.equal((await outcome(asked))[0], 'pending');
    });

    test('what Slack signed is read, whatever it is', options, async () => {
      const refused = async (status, code, field, body) => {
        const { json: { error } } = await slack(status, undefined, { body });
        assert.deepEqual([error.code, error.field], [code, field], body);
      };
      for (const body of ['payload=%zz', 'payload=%ff', 'a=1&'.repeat(101)]) await refused(400, 'bad_json', 'body', body);
      for (const payload of ['{', '[]', '"text"', '']) await refused(400, 'bad_json', 'payload', `payload=${encodeURIComponent(payload)}`);
      for (const body of ['payloads={}', 'payload={}&payload={}']) await refused(400, 'bad_json', 'payload', body);
      await refused(422, 'invalid', 'payload.user.id', interactionBody({ ...button(nobody, 0), user: {} }));
      await refused(422, 'invalid', 'payload.actions', interactionBody(button(nobody, 'first')));
      await refused(413, 'too_large', 'body', `payload=${'x'.repeat(maxBodyBytes)}`);
      for (const fine of [{}, { type: 'shortcut' }, { type: 'block_actions', user, actions: [{ block_id: 'other', action_id: 'other' }] }, button(nobody, 0)]) {
        assert.equal((await slack(200, fine)).text, '');
      }
      assert.equal((await slack(200, undefined, { body: 'ssl_check=1&token=any' })).text, '');
    });

    // ---- Discord

    const discord = (status, interaction, { body = JSON.stringify(interaction), at = now(), headers = {}, ...more } = {}) => proof.send(status, 'POST', '/discord/interactions', {
      body, headers: { ...discordKey.sign(body, at), ...headers }, ...more,
    });
    const member = { user: { id: '80351110224678913', username: 'ana', global_name: 'Ana' } };
    const component = (id, what, more = {}) => ({ type: 3, member, data: { component_type: 2, custom_id: `hp:${id}:${what}` }, ...more });

    test('a click in Discord answers its question, and the message follows', options, async () => {
      assert.deepEqual((await discord(200, { type: 1 })).json, { type: 1 });
      const asked = await ask([`discord:${discordChannel}`]);
      const [message] = await delivered(asked, 1);
      assert.deepEqual([message.channel, message.destination, message.message_ref], ['discord', discordChannel, `${discordChannel} 1600000000000000001`]);
      const kinds = {};
      for (const [name, what] of [['other', 'f'], ['cancel', 'c'], ['yes', 'o:0'], ['again', 'o:0'], ['late', 'o:1'], ['foreign', 'x']]) kinds[name] = (await discord(200, component(asked.id, what))).json.type;
      assert.deepEqual(kinds, { other: 9, cancel: 4, yes: 7, again: 7, late: 4, foreign: 6 });
      assert.equal((await discord(200, component(nobody, 'o:0'))).json.type, 4);
      assert.deepEqual(await outcome(asked), ['answered', 'yes', 'Ana (80351110224678913)', 'discord']);
      const [, edit] = await delivered(asked, 2);
      assert.deepEqual([edit.event, edit.follows], ['question_settled', message.id]);
    });

    test('what Discord did not sign, or long ago, is not even read', options, async () => {
      const asked = await ask([`discord:${discordChannel}`]);
      const click = component(asked.id, 'o:0');
      const body = JSON.stringify(click);
      await refuseUnsigned((status, more) => discord(status, click, more), 'x-signature-ed25519', 'x-signature-timestamp', { headers: discordKey.sign(body), body });
      await discord(401, undefined, { body: '{', at: now() - 400 });
      assert.equal((await outcome(asked))[0], 'pending');
      await proof.post(201, '/agent/users', { name: 'ana', role: 'answerer', password: 'correct horse battery' });
      await proof.refused(403, '/discord/interactions', { type: 1 }, { as: await logIn(proof, 'ana', 'correct horse battery'), code: 'csrf', field: 'X-CSRF-Token' });
    });

    test('what Discord signed is read, whatever it is', options, async () => {
      const refused = async (status, code, field, body, headers) => {
        const { json: { error } } = await discord(status, undefined, { body: typeof body === 'string' ? body : JSON.stringify(body), headers });
        assert.deepEqual([error.code, error.field], [code, field], body);
      };
      for (const body of ['{', '[]', '"text"', ' ']) await refused(400, 'bad_json', 'body', body);
      for (const type of [undefined, 2, 4, '1', 1e30]) await refused(422, 'invalid', 'type', { type });
      await refused(422, 'invalid', 'user', { type: 3, data: {} });
      await refused(422, 'invalid', 'data.custom_id', component(nobody, 'o:first'));
      await refused(415, 'unsupported_type', 'Content-Type', { type: 1 }, { 'content-type': 'text/plain' });
      await refused(413, 'too_large', 'body', { type: 1, x: 'x'.repeat(maxBodyBytes) });
    });

    // ---- Mail

    const bearer = { authorization: `Bearer ${inboundSecret}` };
    const inbound = (status, body, { as = bearer, ...more } = {}) => proof.send(status, 'POST', '/email/inbound', { body, as, ...more });
    const came = async (body, more) => (await inbound(200, body, more)).json.outcome;
    const reply = (to, text, more = {}) => ({ from: `Ana <${ana}>`, to, subject: 'Re: Deploy?', text, message_id: `<${randomUUID()}@example.org>`, ...more });
    const mailOf = async (asked) => {
      const [found] = await mail.take('the mail', ({ headers }) => headers.get('x-holdpoint-session') === asked.session);
      const replyTo = found.headers.get('reply-to').value[0].address;
      assert.match(replyTo, /^reply\+[a-z2-7]{42}@example\.org$/);
      return { ...found, replyTo, leave: found.text.match(/\/email\/unsubscribe\?token=\S+/)[0] };
    };

    test('a reply answers the question of its mail', options, async () => {
      const asked = await ask([`email:${ana}`]);
      const { replyTo, messageId } = await mailOf(asked);
      const [question] = await delivered(asked, 1);
      assert.deepEqual([question.channel, question.destination, question.message_ref, question.last_status], ['email', ana, messageId, 250]);
      assert.equal(await came(reply('reply@example.org', 'yes')), 'unknown');
      assert.equal(await came(reply(replyTo.replace(/.@/, (end) => (end[0] === 'a' ? 'b@' : 'a@')), 'yes')), 'unknown');
      assert.equal(await came(reply(replyTo, 'yes', { from: 'eve@example.org' })), 'refused');
      assert.equal(await came(reply(replyTo, 'yes', { headers: { 'Auto-Submitted': 'auto-replied' } })), 'ignored');
      assert.equal(await came(reply(replyTo, 'yes or no')), 'unclear');
      assert.equal((await outcome(asked))[0], 'pending');
      const [, back] = await delivered(asked, 2);
      assert.deepEqual([back.channel, back.event, back.follows], ['email', 'reply_unclear', question.id]);
      assert.equal(await came(reply(replyTo, 'yes\n\nOn Monday Holdpoint wrote:\n> Deploy?\n')), 'answered');
      assert.deepEqual(await outcome(asked), ['answered', 'yes', ana, 'email']);
      assert.equal(await came(reply(replyTo, 'yes')), 'already_answered');
      assert.equal(await came(reply(replyTo, 'no')), 'late');
      const { entries } = await proof.get(200, '/agent/audit?limit=1000');
      const by = entries.find(({ subject, action }) => action === 'question_answered' && subject === `question:${asked.id}`);
      assert.deepEqual([by.actor, by.credential], [ana, `mail:${question.id}`]);
    });

    test('a provider proves itself in one of four ways', options, async () => {
      const stranger = reply('reply@example.org', 'yes');
      const body = JSON.stringify(stranger);
      const fields = { recipient: 'reply@example.org', from: ana, 'body-plain': 'yes', token: 'x'.repeat(50), timestamp: String(now()) };
      const mailgun = (more) => {
        const sent = { ...fields, ...more };
        return form({ signature: createHmac('sha256', inboundSecret).update(sent.timestamp + sent.token).digest('hex'), ...sent });
      };
      const standard = (key, at = new Date()) => ({ 'webhook-id': 'msg_1', 'webhook-timestamp': String(Math.floor(at / 1000)), 'webhook-signature': new Webhook(key).sign('msg_1', at, body) });
      const basic = (password) => ({ authorization: `Basic ${Buffer.from(`anybody:${password}`).toString('base64')}` });
      assert.equal(await came(body), 'unknown');
      assert.equal(await came(body, { as: { authorization: `bearer ${inboundKey}` } }), 'unknown');
      assert.equal(await came(body, { as: basic(inboundSecret) }), 'unknown');
      assert.equal(await came(body, { as: standard(inboundKey) }), 'unknown');
      const { body: signed, ...more } = mailgun();
      assert.equal(await came(signed, { as: {}, ...more }), 'unknown');

      const wrongs = [{}, { authorization: 'Bearer ' }, { authorization: `Bearer ${inboundSecret}x` }, { authorization: inboundSecret }, basic(''), basic('guess'), { authorization: 'Basic %%%' }, wrongKey,
        await proof.world.key('admin'), standard(`whsec_${Buffer.alloc(24, 8).toString('base64')}`), standard(inboundKey, new Date(Date.now() - 400_000)), { ...standard(inboundKey), 'webhook-id': 'msg_2' }];
      for (const as of wrongs) assert.equal((await inbound(401, body, { as })).json.error.code, 'unauthenticated');
      for (const changed of [{ signature: '' }, { signature: '0'.repeat(64) }, { timestamp: String(now() - 86_400) }, { timestamp: 'yesterday' }, { token: '' }]) {
        const { body: unsigned, ...type } = mailgun(changed);
        await inbound(401, unsigned, { as: {}, ...type });
      }
      await inbound(401, '{', { as: {} });  // Who shows no secret hears nothing about the body.
    });

    test('a mail is taken in every shape that providers give it', options, async () => {
      const raw = `From: ${ana}\r\nTo: reply@example.org\r\nSubject: Re: Deploy?\r\n\r\nyes\r\n`;
      const boundary = 'proof';
      const multipart = `--${boundary}\r\nContent-Disposition: form-data; name="email"\r\n\r\n${raw}\r\n--${boundary}--\r\n`;
      for (const [body, type] of [
        [JSON.stringify({ raw }), 'application/json'], [raw, 'message/rfc822'], [new URLSearchParams({ 'body-mime': raw }).toString(), asForm], [multipart, `multipart/form-data; boundary=${boundary}`],
        [JSON.stringify(proof.contract.example('inboundMail', 'raw')), 'application/json'], [JSON.stringify(proof.contract.example('inboundMail', 'parts')), 'application/json'],
        [JSON.stringify({ From: ana, ToFull: [{ Email: 'reply@example.org' }], TextBody: 'yes', Headers: [{ Name: 'Message-ID', Value: '<1@example.org>' }] }), 'application/json'],
      ]) assert.equal(await came(body, { type }), 'unknown', type);
      const refused = async (status, code, field, body, type) => {
        const { json: { error } } = await inbound(status, body, { type });
        assert.deepEqual([error.code, error.field], [code, field], `${body}`.slice(0, 100));
      };
      for (const [body, type] of [['{', 'application/json'], ['[]', 'application/json'], ['a=%zz', asForm], ['yes', 'text/plain'], ['no parts', `multipart/form-data; boundary=${boundary}`]]) {
        await refused(400, 'bad_json', 'body', body, type);
      }
      for (const [field, body] of [['from', { to: 'reply@example.org', text: 'yes' }], ['to', { from: ana, text: 'yes' }], ['text', { from: ana, to: 'reply@example.org' }]]) {
        await refused(422, 'invalid', field, JSON.stringify(body), 'application/json');
      }
      await refused(413, 'too_large', 'body', raw.padEnd(maxBodyBytes + 1), 'message/rfc822');
    });

    test('a link in a mail leads to a page, and its button ends the mails', options, async () => {
      const to = 'cy@example.org';
      const { leave } = await mailOf(await ask([`email:${to}`]));
      const page = await proof.send(200, 'GET', `${leave}&utm_source=mail`);
      assert.ok(page.text.includes(to) && page.text.includes(`action="${leave}"`), page.text);
      const wrong = leave.replace(/.$/, (end) => (end === 'a' ? 'b' : 'a'));
      for (const target of [wrong, '/email/unsubscribe', '/email/unsubscribe?token=']) {
        await proof.send(404, 'GET', target);
        await proof.send(404, 'POST', target);
      }
      await proof.send(303, 'GET', leave, { as: wrongKey });
      await proof.send(401, 'POST', leave, { as: wrongKey });
      await proof.refused(413, leave, 'x'.repeat(maxBodyBytes + 1), { type: asForm });
      await delivered(await ask([`email:${to}`]), 1);  // Nothing of this has ended them.

      const oneClick = { ...form({ 'List-Unsubscribe': 'One-Click' }), headers: { origin: 'https://mail.example' } };
      for (let i = 0; i < 2; i += 1) await proof.send(200, 'POST', leave, oneClick);
      await proof.send(200, 'POST', leave, { body: '--x\r\n\r\n--x--\r\n', type: 'multipart/form-data; boundary=x' });
      const { session } = await ask([`email:${to}`]);
      const { deliveries: [dead] } = await proof.get(200, `/agent/deliveries?session=${session}`);
      assert.equal(dead.status, 'dead');
      const { entries } = await proof.get(200, '/agent/audit?limit=1000');
      assert.deepEqual(entries.filter(({ action }) => action === 'unsubscribed').map(({ actor }) => actor), [to]);
    });

    // From here on this address has to wait.
    test('too many wrong secrets get 429, and a right one still counts', options, async () => {
      const guess = () => proof.world.request('POST', '/email/inbound', { body: {}, headers: { authorization: 'Bearer guess' } });
      let wrong = 0;
      while ((await guess()).status === 401) assert.ok((wrong += 1) <= 60, 'wrong secrets are not counted');
      assert.equal(proof.contract.check(await guess()).json.error.code, 'too_many_requests');
      assert.equal(await came(reply('reply@example.org', 'yes')), 'unknown');
    });

    test('nothing of the secrets is in the log', options, () => {
      const log = proof.world.log.join('\n');
      const tokens = mail.mails.flatMap(({ raw }) => raw.match(/[a-z2-7]{42}/g) ?? []);
      assert.ok(tokens.length > 0);
      for (const secret of [signingSecret, inboundSecret, inboundKey, 'xoxb-proof', 'open sesame', ...tokens]) assert.ok(!log.includes(secret), secret);
    });
  });

  describe('channels, not set up', () => {
    let proof;
    const api = { api_url: 'http://127.0.0.1:1/api' };
    const unfinished = { slack: { bot_token: 'xoxb-proof', ...api }, discord: { bot_token: 'proof', ...api } };
    before(async () => { proof = await Proof.start({ closed: true, settings: unfinished }); }, options);
    after(() => proof?.stop(), options);

    test('what is not set up says so', options, async () => {
      const refused = async (target, setting) => {
        const { json: { error } } = await proof.send(404, 'POST', target, { body: {} });
        assert.equal(error.code, 'not_set_up');
        assert.match(error.message, setting);
      };
      await refused('/slack/interactions', /\[slack\] signing_secret/);
      await refused('/discord/interactions', /\[discord\] public_key/);
      await refused('/email/inbound', /inbound_secret/);
      for (const method of ['GET', 'POST']) await proof.send(404, method, `/email/unsubscribe?token=${'a'.repeat(42)}`);
    });

    test('an ask for what is not set up is refused by its place', options, async () => {
      const questions = [{ question: 'Deploy?' }];
      for (const [channels, field] of [[['discord'], 'channels[0]'], [['url', `email:${ana}`], 'channels[1]'], [['slack'], 'channels[0]']]) {
        await proof.refused(422, '/agent/ask', { questions, channels }, { field });
      }
      assert.deepEqual((await proof.get(200, '/agent/sessions')).sessions, []);
      for (const channels of [[], ['url']]) await proof.post(202, '/agent/ask', { questions, channels });
    });
  });
};
