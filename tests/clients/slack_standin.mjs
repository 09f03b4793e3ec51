// A workspace of Slack, as far as an app sees it: the Web API, Socket Mode, and people who click.
// standins.test.mjs has Slack's own clients judge it.
import assert from 'node:assert/strict';
import { createHmac, randomUUID } from 'node:crypto';
import { WebSocketServer } from 'ws';
import { eventually } from './harness.mjs';
import { slackMessageComplaints, slackModalComplaints } from './limits.mjs';
import { complaints, prepare } from './schemas.mjs';
import { post, startStandin } from './standin.mjs';

export const signSlack = (secret, body, timestamp = Math.floor(Date.now() / 1000)) => ({
  'content-type': 'application/x-www-form-urlencoded',
  'x-slack-request-timestamp': String(timestamp),
  'x-slack-signature': `v0=${createHmac('sha256', secret).update(`v0:${timestamp}:${body}`).digest('hex')}`,
});
export const interactionBody = (payload) => `payload=${encodeURIComponent(JSON.stringify(payload))}`;

const team = { id: 'T0HOLD', domain: 'holdpoint' };
const appId = 'A0HOLD';
// The first thing that is wrong, as Slack words it.
const problem = (error, reasons) => (reasons.length > 0 ? { ok: false, error, errors: reasons, response_metadata: { messages: reasons.map((reason) => `[ERROR] ${reason}`) } } : undefined);

export async function startSlack({
  botToken = 'xoxb-proof', appToken = 'xapp-proof', signingSecret = '8f742231b10e8888abcd99yyyzzz85a5',
} = {}) {
  prepare('slack');
  const messages = new Map();   // `<channel> <ts>` → the message as it looks now, with its history
  const views = [];             // Modals that were opened
  const notices = [];           // What only one person sees: {user, text}
  const triggers = new Map();   // trigger_id → {user, at}
  const responses = new Map();  // response_url's id → {user, message, left}
  const refused = [];           // Whatever we sent that Slack would not take
  const lastPosts = new Map();  // channel → when it got its last message
  const rests = new Map();      // channel → until when we were told to wait
  const hasty = [];             // Calls that came before that
  const sockets = new Set();
  const acks = [];              // {envelope_id, payload}
  const tickets = new Set();
  let clock = 1_700_000_000_000_000;
  let answered = 0;
  const slack = { botToken, appToken, signingSecret, messages, views, notices, refused, hasty, acks, sockets, paced: new Set(), deliverTo: undefined, socketMode: false };

  // There is every channel but #nowhere; `#ops` is C0OPS.
  const exists = (id) => /^C0[A-Z0-9]+$/.test(id) && id !== 'C0NOWHERE';
  const channelOf = (name) => [name.replace(/^#(.*)$/, (_, plain) => `C0${plain.toUpperCase()}`)].find(exists);
  const limited = (channel, seconds) => {
    rests.set(channel, { until: Date.now() + seconds * 1000, told: Date.now() });
    return { status: 429, headers: { 'retry-after': String(seconds) }, body: { ok: false, error: 'ratelimited' } };
  };
  // A little early is the clocks' doing, and what was on its way when we were told cannot be called back.
  const noteHaste = (channel) => {
    const { until = 0, told = 0 } = rests.get(channel) ?? {};
    if (Date.now() < until - 20 && Date.now() > told + 300) hasty.push({ channel, early: until - Date.now() });
  };

  const methods = {
    'auth.test': () => ({ ok: true, url: 'https://holdpoint.slack.com/', team: 'Holdpoint', user: 'holdpoint', team_id: team.id, user_id: 'U0BOT', bot_id: 'B0BOT' }),
    'chat.postMessage': (args) => {
      const channel = channelOf(args.channel);
      if (!channel) return { ok: false, error: 'channel_not_found' };
      noteHaste(channel);
      // A message a second is what Slack promises to take.
      const wait = slack.paced.has(channel) ? 1000 - (Date.now() - (lastPosts.get(channel) ?? 0)) : 0;
      if (wait > 0) return limited(channel, Math.ceil(wait / 1000));
      lastPosts.set(channel, Date.now());
      if (!args.text && !args.blocks?.length) return { ok: false, error: 'no_text' };
      const wrong = problem('invalid_blocks', [...complaints('slack', 'Post', args), ...slackMessageComplaints(args)]);
      if (wrong) return wrong;
      clock += 1_000_100;
      const ts = `${Math.floor(clock / 1e6)}.${String(clock % 1e6).padStart(6, '0')}`;
      const message = { channel, ts, text: args.text, blocks: args.blocks, states: {}, edits: [] };
      messages.set(`${channel} ${ts}`, message);
      return { ok: true, channel, ts, message: { type: 'message', subtype: 'bot_message', text: args.text, ts, bot_id: 'B0BOT', blocks: args.blocks } };
    },
    'chat.update': (args) => {
      const message = messages.get(`${args.channel} ${args.ts}`);
      if (!exists(args.channel)) return { ok: false, error: 'channel_not_found' };
      noteHaste(args.channel);
      if (!message) return { ok: false, error: 'message_not_found' };
      const wrong = problem('invalid_blocks', [...complaints('slack', 'Update', args), ...slackMessageComplaints(args)]);
      if (wrong) return wrong;
      message.edits.push({ at: Date.now(), text: message.text, blocks: message.blocks });
      Object.assign(message, { text: args.text, blocks: args.blocks });
      return { ok: true, channel: message.channel, ts: message.ts, text: message.text };
    },
    'chat.postEphemeral': (args) => {
      if (!exists(args.channel)) return { ok: false, error: 'channel_not_found' };
      const wrong = problem('invalid_blocks', [...complaints('slack', 'Ephemeral', args), ...slackMessageComplaints(args)]);
      if (wrong) return wrong;
      notices.push({ user: args.user, text: args.text });
      return { ok: true, message_ts: '1700000000.000001' };
    },
    'views.open': ({ trigger_id: id, view }) => {
      const trigger = triggers.get(id);
      if (!trigger) return { ok: false, error: 'invalid_trigger_id' };
      if (trigger.used) return { ok: false, error: 'exchanged_trigger_id' };
      if (Date.now() - trigger.at > 3000) return { ok: false, error: 'expired_trigger_id' };
      const wrong = problem('invalid_arguments', [...complaints('slack', 'ViewsOpen', { trigger_id: id, view }), ...slackModalComplaints(view)]);
      if (wrong) return wrong;
      trigger.used = true;
      const opened = { ...view, id: `V${views.length}`, user: trigger.user };
      views.push(opened);
      return { ok: true, view: opened };
    },
    'conversations.info': ({ channel }) => (exists(channel) ? { ok: true, channel: { id: channel, name: channel.slice(2).toLowerCase(), is_member: true } } : { ok: false, error: 'channel_not_found' }),
    'apps.connections.open': () => {
      const ticket = randomUUID();
      tickets.add(ticket);
      return { ok: true, url: `${standin.url.replace('http:', 'ws:')}/link/?ticket=${ticket}&app_id=${appId}` };
    },
  };

  function argumentsOf({ headers, raw }) {
    if (/^application\/json\b/.test(headers['content-type'] ?? '')) return JSON.parse(raw || '{}');
    const fields = Object.fromEntries(new URLSearchParams(raw));
    for (const name of ['blocks', 'view', 'metadata']) if (fields[name]) fields[name] = JSON.parse(fields[name]);
    for (const name of ['unfurl_links', 'unfurl_media']) if (fields[name]) fields[name] = fields[name] === 'true';
    return fields;
  }

  const standin = await startStandin((call) => {
    const [, kind, name] = call.path.split('/');
    if (kind === 'actions') return viaResponseUrl(call, name);
    if (kind === 'services') return incomingWebhook(call);
    const method = methods[name];
    if (kind !== 'api' || !method) return { status: 404, body: { ok: false, error: 'unknown_method' } };
    const token = /^Bearer (\S+)$/.exec(call.headers.authorization ?? '')?.[1];
    const wanted = name === 'apps.connections.open' ? appToken : botToken;
    if (token !== wanted) return { body: { ok: false, error: token ? 'invalid_auth' : 'not_authed' } };
    call.name = name;
    call.args = argumentsOf(call);
    const { status = 200, headers, body, ...plain } = method(call.args);
    const said = body ?? plain;
    if (!said.ok && said.error !== 'ratelimited') refused.push({ name, args: call.args, said });
    return { status, headers, body: said };
  });

  function viaResponseUrl(call, id) {
    const known = responses.get(id);
    const args = JSON.parse(call.raw);
    const wrong = problem('invalid_blocks', [...complaints('slack', 'ViaResponseUrl', args), ...slackMessageComplaints(args)]);
    if (!known || known.left === 0 || wrong) {
      refused.push({ name: 'response_url', args, said: wrong ?? 'used up or unknown' });
      return { status: 404, body: wrong ?? { ok: false, error: 'expired_url' } };
    }
    known.left -= 1;
    if (args.replace_original === true) {
      const message = messages.get(`${known.message.channel} ${known.message.ts}`);
      message.edits.push({ at: Date.now(), text: message.text, blocks: message.blocks });
      Object.assign(message, { text: args.text, blocks: args.blocks });
      return { body: { ok: true } };
    }
    // Whether others see it must be said.
    if (args.response_type !== 'ephemeral' || args.replace_original !== false) refused.push({ name: 'response_url', args, said: 'is no private notice' });
    notices.push({ user: known.user, text: args.text });
    return { body: { ok: true } };
  }

  slack.posted = [];  // By incoming webhook
  function incomingWebhook(call) {
    const args = JSON.parse(call.raw);
    const wrong = problem('invalid_blocks', [...complaints('slack', 'IncomingWebhook', args), ...slackMessageComplaints(args)]);
    if (wrong) {
      refused.push({ name: 'incoming webhook', args, said: wrong });
      return { status: 400, body: 'invalid_blocks' };
    }
    slack.posted.push({ path: call.path, ...args });
    return { body: 'ok' };
  }

  // ---- Socket Mode

  const upgrades = new WebSocketServer({ noServer: true });
  standin.server.on('upgrade', (request, socket, head) => {
    const ticket = new URL(request.url, standin.url).searchParams.get('ticket');
    if (!tickets.delete(ticket)) return socket.end('HTTP/1.1 401 Unauthorized\r\n\r\n');
    return upgrades.handleUpgrade(request, socket, head, (ws) => {
      sockets.add(ws);
      ws.openedAt = Date.now();
      ws.on('close', () => sockets.delete(ws));
      ws.on('message', (data) => {
        const { envelope_id: id, payload, ...rest } = JSON.parse(data);
        acks.push({ envelope_id: id, payload, at: Date.now() });
        if (Object.keys(rest).length > 0) refused.push({ name: 'ack', args: rest, said: 'unknown members' });
      });
      ws.send(JSON.stringify({ type: 'hello', num_connections: sockets.size, debug_info: { host: 'applink-1', build_number: 1, approximate_connection_time: 18060 }, connection_info: { app_id: appId } }));
    });
  });
  const connected = () => eventually('a Socket Mode connection', () => [...sockets].find((ws) => ws.readyState === ws.OPEN && !ws.leaving));
  slack.connected = connected;
  // As Slack does before it recycles a connection; it hangs up itself a little later.
  slack.disconnect = async ({ reason = 'refresh_requested', hangUpAfter = 1000 } = {}) => {
    const ws = await connected();
    ws.leaving = true;
    ws.send(JSON.stringify({ type: 'disconnect', reason, debug_info: { host: 'applink-1' } }));
    setTimeout(() => ws.terminate(), hangUpAfter).unref();
    return ws;
  };

  // ---- People

  // Gives what we said back, for each time it was delivered: {status, ms, payload}.
  // `over` is the connection to use, of several.
  slack.deliver = async (payload, { times = 1, over } = {}) => {
    if (slack.socketMode) {
      const ws = over ?? await connected();
      const ids = Array.from({ length: times }, () => randomUUID());
      const sent = Date.now();
      for (const id of ids) ws.send(JSON.stringify({ envelope_id: id, type: 'interactive', accepts_response_payload: true, payload }));
      return eventually('every envelope to be acknowledged', () => {
        const got = ids.map((id) => acks.find(({ envelope_id: acked }) => acked === id));
        return got.every(Boolean) && got.map(({ at, payload: said }) => ({ status: 200, ms: at - sent, payload: said }));
      });
    }
    const body = interactionBody(payload);
    return Promise.all(Array.from({ length: times }, async () => {
      const { status, ms, text, json } = await post(`${slack.deliverTo()}/slack/interactions`, signSlack(signingSecret, body), body);
      return { status, ms, text, payload: json };
    }));
  };

  const trigger = (user) => {
    answered += 1;
    const id = `${answered}.${Date.now()}.${randomUUID().replaceAll('-', '')}`;
    triggers.set(id, { user, at: Date.now() });
    return id;
  };
  const elementsOf = (blocks) => blocks.flatMap((block) => [...(block.elements ?? []), ...(block.accessory ? [block.accessory] : []), ...(block.element ? [block.element] : [])]
    .filter((element) => element.action_id).map((element) => ({ block, element })));
  slack.controls = ({ blocks }) => elementsOf(blocks).map(({ element }) => element);
  const find = (message, pick) => {
    const found = elementsOf(message.blocks).find(({ element, block }) => (typeof pick === 'function' ? pick(element, block) : element.text?.text === pick));
    assert.ok(found, `no ${pick} in ${JSON.stringify(message.blocks)}`);
    return found;
  };

  slack.person = (id, name) => {
    // A click on the message as this person sees it; a copy taken earlier is what somebody sees whose client lags behind.
    const act = async (message, block, action, options = {}) => {
      const responseId = randomUUID();
      responses.set(responseId, { user: id, message, left: 5 });
      const payload = {
        type: 'block_actions',
        user: { id, username: name, name, team_id: team.id },
        api_app_id: appId,
        token: 'verification-token-nobody-should-trust',
        container: { type: 'message', message_ts: message.ts, channel_id: message.channel, is_ephemeral: false },
        trigger_id: trigger(id),
        team,
        is_enterprise_install: false,
        channel: { id: message.channel, name: message.channel.slice(2).toLowerCase() },
        message: { user: 'U0BOT', type: 'message', ts: message.ts, bot_id: 'B0BOT', app_id: appId, text: message.text, team: team.id, blocks: message.blocks },
        state: { values: message.states[id] ?? {} },
        response_url: `${standin.url}/actions/${responseId}`,
        actions: [{ ...action, block_id: block.block_id, action_ts: `${Date.now() / 1000}` }],
      };
      assert.deepEqual(complaints('slack', 'BlockActions', payload), []);
      return slack.deliver(payload, options);
    };
    const option = (element, label) => {
      const found = element.options.find(({ text }) => text.text === label);
      assert.ok(found, `no option ${label} in ${JSON.stringify(element.options)}`);
      return found;
    };
    return {
      id,
      name,
      press: (message, pick, options) => {
        const { block, element } = find(message, pick);
        const { action_id: actionId, text, value } = element;
        return act(message, block, { type: 'button', action_id: actionId, text, ...(value === undefined ? {} : { value }) }, options);
      },
      // Selects, radio buttons, checkboxes: each choice is sent at once, and stands in the message's state afterwards.
      choose: (message, pick, labels, options) => {
        const { block, element } = find(message, pick);
        const many = Array.isArray(labels);
        const chosen = many ? { selected_options: labels.map((label) => option(element, label)) } : { selected_option: option(element, labels) };
        message.states[id] ??= {};
        message.states[id][block.block_id] ??= {};
        message.states[id][block.block_id][element.action_id] = { type: element.type, ...chosen };
        return act(message, block, { type: element.type, action_id: element.action_id, ...chosen }, options);
      },
      // `values`: what stands in each input, in their order; null leaves it empty.
      submit: (view, values, options) => {
        assert.equal(view.user, id, 'the form is somebody else\'s');
        const inputs = view.blocks.filter(({ type }) => type === 'input');
        const state = {};
        inputs.forEach(({ block_id: blockId, element }, i) => {
          const value = values[i] ?? null;
          const entry = element.type === 'plain_text_input' ? { value } : Array.isArray(value)
            ? { selected_options: value.map((label) => option(element, label)) }
            : { selected_option: value === null ? null : option(element, value) };
          state[blockId] = { [element.action_id]: { type: element.type, ...entry } };
        });
        const payload = {
          type: 'view_submission',
          team,
          user: { id, name, team_id: team.id },
          api_app_id: appId,
          token: 'verification-token-nobody-should-trust',
          trigger_id: trigger(id),
          view: {
            id: view.id, team_id: team.id, type: 'modal', blocks: view.blocks, private_metadata: view.private_metadata ?? '', callback_id: view.callback_id ?? '',
            state: { values: state }, hash: `${Date.now()}.x`, title: view.title, clear_on_close: false, notify_on_close: false, close: view.close ?? null, submit: view.submit ?? null,
            previous_view_id: null, root_view_id: view.id, app_id: appId, external_id: '', app_installed_team_id: team.id, bot_id: 'B0BOT',
          },
          response_urls: [],
          is_enterprise_install: false,
        };
        assert.deepEqual(complaints('slack', 'ViewSubmission', payload), []);
        return slack.deliver(payload, options).then((acked) => {
          for (const { payload: said } of acked) {
            if (!said || Object.keys(said).length === 0) continue;
            assert.deepEqual([...complaints('slack', 'ViewResponse', said), ...(said.view ? slackModalComplaints(said.view) : [])], []);
            for (const name of Object.keys(said.errors ?? {})) assert.ok(inputs.some(({ block_id: blockId }) => blockId === name), `${name} is no input of the form`);
          }
          return acked;
        });
      },
    };
  };

  return Object.assign(slack, {
    url: standin.url,
    apiUrl: `${standin.url}/api`,
    calls: standin.calls,
    // Trouble with one method in one channel, by its name; see standin.mjs.
    trouble: (method, channel, what) => standin.trouble({ when: ({ path, raw }) => path === `/api/${method}` && raw.includes(`"${channel}"`), ...what }),
    // The next call is put off for so long.
    limit: (method, channel, seconds) => slack.trouble(method, channel, { respond: () => limited(channelOf(channel), seconds) }),
    // What stands in a channel, once there are `n`.
    take: (channel, n = 1, ms = 10_000) => eventually(`${n} messages in ${channel}`, () => {
      const found = [...messages.values()].filter((message) => message.channel === channel);
      return found.length >= n && found;
    }, ms),
    close: async () => {
      for (const ws of sockets) ws.terminate();
      await standin.close();
    },
  });
}
