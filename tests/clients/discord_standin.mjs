// A guild of Discord, as far as a bot sees it: the REST API with its rate limits, and people who click.
import assert from 'node:assert/strict';
import { generateKeyPairSync, randomUUID, sign } from 'node:crypto';
import { eventually } from './harness.mjs';
import { discordMessageComplaints, discordResponseComplaints } from './limits.mjs';
import { complaints, prepare } from './schemas.mjs';
import { post, startStandin } from './standin.mjs';

const application = '1400000000000000001';
const guild = '1400000000000000002';
const V2 = 1 << 15;
const ephemeral = 1 << 6;

export function makeDiscordKey() {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  return {
    publicKey: publicKey.export({ format: 'der', type: 'spki' }).subarray(-32).toString('hex'),
    sign: (body, timestamp = Math.floor(Date.now() / 1000)) => ({
      'content-type': 'application/json',
      'x-signature-timestamp': String(timestamp),
      'x-signature-ed25519': sign(null, Buffer.from(`${timestamp}${body}`), privateKey).toString('hex'),
    }),
  };
}

const apiUser = (id, username, name) => ({ id, username, discriminator: '0', global_name: name ?? null, avatar: null });

export async function startDiscord({ botToken = 'proof.bot.token' } = {}) {
  prepare('discord');
  const key = makeDiscordKey();
  const messages = new Map();  // message id → the message as it looks now
  const notices = [];          // What only one person sees: {user, text}
  const modals = [];           // Forms that were opened: {user, …}
  const refused = [];          // Whatever we sent that Discord would not take
  const rests = new Map();     // bucket → until when we were told to wait, and when
  const hasty = [];            // Calls that came before that
  const buckets = new Map();   // bucket → when it is filled again, and what is left of it
  const nonces = new Map();
  const interactions = new Map();  // token → {user}
  const privately = new Map();     // message id → a message that only one person sees
  let snowflake = 1_600_000_000_000_000_000n;
  // There is every channel whose id begins like this.
  const exists = (channel) => channel.startsWith('15');
  const nextId = () => String(snowflake += 4_194_304n);
  // `perBucket` calls in `per` ms, for each channel and route.
  const discord = {
    botToken, publicKey: key.publicKey, sign: key.sign, messages, notices, modals, refused, hasty, perBucket: 5, per: 5000, deliverTo: undefined,
  };

  const fail = (status, code, message, errors) => ({ status, body: { message, code, ...(errors ? { errors } : {}) } });
  const invalid = (wrong) => fail(400, 50035, 'Invalid Form Body', { components: { _errors: wrong.map((message) => ({ code: 'PROOF', message })) } });

  // Discord's own headers, and its 429 once the bucket is empty.
  function spend(bucket) {
    const now = Date.now();
    const { until = 0, told = 0 } = rests.get(bucket) ?? {};
    // What was on its way when we were told cannot be called back.
    if (now < until - 20 && now > told + 300) hasty.push({ bucket, early: until - now });
    const rest = (ms) => rests.set(bucket, { until: now + ms, told: now });
    const window = buckets.get(bucket)?.end > now ? buckets.get(bucket) : { end: now + discord.per, left: discord.perBucket };
    buckets.set(bucket, window);
    const resetAfter = (window.end - now) / 1000;
    const headers = (remaining) => ({
      'x-ratelimit-limit': String(discord.perBucket), 'x-ratelimit-remaining': String(remaining), 'x-ratelimit-reset': String(now / 1000 + resetAfter),
      'x-ratelimit-reset-after': resetAfter.toFixed(3), 'x-ratelimit-bucket': Buffer.from(bucket).toString('hex').slice(0, 24),
    });
    if (now < until || window.left === 0) {
      const wait = Math.max(until - now, resetAfter * 1000) / 1000;
      rest(wait * 1000);
      return { refusal: { status: 429, headers: { ...headers(0), 'retry-after': String(Math.ceil(wait)), 'x-ratelimit-scope': 'user' }, body: { message: 'You are being rate limited.', retry_after: wait, global: false } } };
    }
    window.left -= 1;
    if (window.left === 0) rest(resetAfter * 1000);
    return { headers: headers(window.left) };
  }

  const shown = (message) => ({
    id: message.id, channel_id: message.channel, author: { ...apiUser(application, 'holdpoint', 'Holdpoint'), bot: true }, content: '', timestamp: message.at, edited_timestamp: message.edited ?? null,
    tts: false, mention_everyone: false, mentions: [], mention_roles: [], attachments: [], embeds: [], pinned: false, type: 0, components: message.components, flags: message.flags,
  });

  function createMessage(channel, body) {
    const wrong = [...complaints('discord', 'Post', body), ...discordMessageComplaints(body)];
    if (wrong.length > 0) return invalid(wrong);
    const nonce = body.enforce_nonce && body.nonce !== undefined ? `${channel} ${body.nonce}` : undefined;
    if (nonce && nonces.has(nonce)) return { body: shown(nonces.get(nonce)) };
    const message = { id: nextId(), channel, at: new Date().toISOString(), components: body.components, flags: body.flags ?? 0, edits: [] };
    messages.set(message.id, message);
    if (nonce) nonces.set(nonce, message);
    return { body: shown(message) };
  }

  function change(message, body) {
    const merged = { flags: message.flags, allowed_mentions: body.allowed_mentions, components: body.components ?? message.components, ...(body.content ? { content: body.content } : {}) };
    const wrong = [...complaints('discord', 'Edit', body), ...discordMessageComplaints(merged)];
    if (body.flags !== undefined && !(body.flags & V2)) wrong.push('the Components V2 flag cannot be taken away again');
    if (wrong.length > 0) return invalid(wrong);
    message.edits.push({ at: Date.now(), components: message.components });
    Object.assign(message, { components: merged.components, edited: new Date().toISOString() });
    return { body: shown(message) };
  }

  function followUp(token, body) {
    const interaction = interactions.get(token);
    if (!interaction) return fail(401, 50027, 'Invalid Webhook Token');
    const wrong = [...complaints('discord', 'FollowUp', body), ...discordMessageComplaints(body)];
    if (wrong.length > 0) return invalid(wrong);
    if (!(body.flags & ephemeral)) refused.push({ path: 'follow-up', body, said: 'is no private notice' });
    notices.push({ user: interaction.user, text: textOf(body) });
    return { body: { id: nextId() } };
  }

  const textOf = ({ content, components = [] }) => [content ?? [], components.flatMap(function texts(part) {
    return part.type === 10 ? [part.content] : [part.components ?? [], part.accessory ?? []].flat().flatMap(texts);
  })].flat().join('\n');

  const routes = [
    [/^GET \/users\/@me$/, () => ({ body: { ...apiUser(application, 'holdpoint', 'Holdpoint'), bot: true } })],
    [/^GET \/channels\/(\d+)$/, (_, channel) => (exists(channel) ? { body: { id: channel, type: 0, name: 'ops', guild_id: guild } } : fail(404, 10003, 'Unknown Channel'))],
    [/^POST \/channels\/(\d+)\/messages$/, (body, channel) => (exists(channel) ? createMessage(channel, body) : fail(404, 10003, 'Unknown Channel'))],
    [/^PATCH \/channels\/(\d+)\/messages\/(\d+)$/, (body, channel, id) => {
      const message = messages.get(id);
      return message?.channel === channel ? change(message, body) : fail(404, 10008, 'Unknown Message');
    }],
    [/^POST \/webhooks\/\d+\/([\w-]+)(?:\?.*)?$/, (body, token) => followUp(token, body)],
  ];

  const standin = await startStandin((call) => {
    const line = `${call.method} ${call.path.replace(/^\/api\/v10/, '')}`;
    const [pattern, route] = routes.find(([known]) => known.test(line)) ?? [];
    if (!route) return fail(404, 0, '404: Not Found');
    // Cloudflare in front of it turns other clients away.
    if (!/^DiscordBot \(https?:\/\/\S+, \S+\)/.test(call.headers['user-agent'] ?? '')) {
      refused.push({ path: line, said: `user-agent ${call.headers['user-agent']}` });
      return { status: 403, body: 'error code: 40333' };
    }
    if (!line.includes('/webhooks/') && call.headers.authorization !== `Bot ${botToken}`) return fail(401, 0, '401: Unauthorized');
    call.args = call.raw ? JSON.parse(call.raw) : undefined;
    const [, ...parts] = pattern.exec(line);
    const { refusal, headers } = spend(`${call.method} ${parts[0] ?? line}`);
    if (refusal) return refusal;
    const response = route(call.args, ...parts);
    if ((response.status ?? 200) >= 400) refused.push({ path: line, args: call.args, said: response.body });
    return { ...response, headers: { ...headers, ...response.headers } };
  });

  // ---- People

  discord.post = (interaction, headers) => {
    const body = JSON.stringify(interaction);
    return post(`${discord.deliverTo()}/discord/interactions`, headers ?? key.sign(body), body);
  };
  discord.ping = { id: '1', application_id: application, type: 1, token: 'ping', version: 1, entitlements: [], authorizing_integration_owners: {}, app_permissions: '0', attachment_size_limit: 0 };

  // What Discord does with our answer to an interaction of `user` on `message`.
  const obey = (response, user, message) => {
    if (response.status !== 200) return response;
    const said = response.json;
    assert.deepEqual(complaints('discord', 'Response', said), []);
    const wrong = said.type === 7 ? discordMessageComplaints({ flags: message.flags, ...said.data }) : discordResponseComplaints(said);
    assert.deepEqual(wrong, [], JSON.stringify(said).slice(0, 2000));
    if (said.type === 4) {
      assert.ok(said.data.flags & ephemeral, 'everybody sees this notice');
      const own = { id: nextId(), channel: message.channel, at: new Date().toISOString(), components: said.data.components ?? [], flags: said.data.flags, edits: [] };
      privately.set(own.id, own);
      notices.push({ user, message: own, get text() { return this.message.text ?? textOf({ ...said.data, components: this.message.components }); } });
    } else if (said.type === 7) {
      message.edits.push({ at: Date.now(), components: message.components });
      Object.assign(message, { components: said.data.components ?? message.components }, said.data.content ? { text: said.data.content } : {});
    } else if (said.type === 9) {
      modals.push({ user, message, ...said.data });
    } else {
      assert.equal(said.type, 6, JSON.stringify(said));
    }
    return response;
  };

  const partsOf = (components) => components.flatMap((part) => [part, ...partsOf([part.components ?? [], part.accessory ?? []].flat())]);
  discord.controls = ({ components }) => partsOf(components).filter((part) => part.custom_id && !part.disabled);
  discord.textOf = textOf;

  discord.person = (id, name) => {
    const interact = async (type, message, data, { times = 1 } = {}) => {
      const token = randomUUID();
      interactions.set(token, { user: id });
      const interaction = {
        id: nextId(), application_id: application, type, data, guild_id: guild, guild: { id: guild, locale: 'en-US', features: [] },
        channel: { id: message.channel, type: 0 }, channel_id: message.channel, message: shown(message), token, version: 1,
        member: { user: apiUser(id, name, name), nick: null, roles: [], joined_at: '2026-01-01T00:00:00+00:00', deaf: false, mute: false, flags: 0, permissions: '2147483647' },
        app_permissions: '2147483647', locale: 'en-US', guild_locale: 'en-US', entitlements: [], authorizing_integration_owners: { 0: guild }, context: 0, attachment_size_limit: 10_485_760,
      };
      assert.deepEqual(complaints('discord', type === 3 ? 'Component' : 'ModalSubmit', interaction), []);
      return Promise.all(Array.from({ length: times }, async () => obey(await discord.post(interaction), id, messages.get(message.id) ?? privately.get(message.id))));
    };
    const find = (message, pick) => {
      const found = partsOf(message.components).find((part) => part.custom_id && (typeof pick === 'function' ? pick(part) : part.label === pick));
      assert.ok(found, `no ${pick} in ${JSON.stringify(message.components)}`);
      assert.ok(!found.disabled, `${pick} is disabled`);
      return found;
    };
    return {
      id,
      name,
      press: (message, pick, options) => interact(3, message, { component_type: 2, custom_id: find(message, pick).custom_id }, options),
      choose: (message, pick, labels, options) => {
        const select = find(message, pick);
        const values = [labels].flat().map((label) => {
          const option = select.options.find((known) => known.label === label);
          assert.ok(option, `no option ${label} in ${JSON.stringify(select.options)}`);
          return option.value;
        });
        assert.ok(values.length >= (select.min_values ?? 1) && values.length <= (select.max_values ?? 1), `${values.length} chosen`);
        return interact(3, message, { component_type: 3, custom_id: select.custom_id, values }, options);
      },
      // `values`: a text for each text input, labels for each select, in their order; nothing leaves it empty.
      submit: (modal, values, options) => {
        assert.equal(modal.user, id, 'the form is somebody else\'s');
        const given = [...values];
        const fill = ({ type, custom_id: inputId, options: known }, i) => {
          const value = given.shift();
          if (type !== 3) return { type, id: i + 100, custom_id: inputId, value: value ?? '' };
          const chosen = (value ?? []).map((label) => known.find((option) => option.label === label));
          assert.ok(chosen.every(Boolean), `no option ${value} in ${JSON.stringify(known)}`);
          return { type, id: i + 100, custom_id: inputId, values: chosen.map((option) => option.value) };
        };
        const components = modal.components.map((part, i) => (part.type === 18 ? { type: 18, id: i + 1, component: fill(part.component, i) } : { type: part.type, id: i + 1 }));
        return interact(5, modal.message, { custom_id: modal.custom_id, components }, options);
      },
    };
  };

  return Object.assign(discord, {
    url: standin.url,
    apiUrl: `${standin.url}/api/v10`,
    calls: standin.calls,
    // Trouble with POST or PATCH in one channel; see standin.mjs.
    trouble: (method, channel, what) => standin.trouble({ when: (call) => call.method === method && call.path.includes(`/channels/${channel}/`), ...what }),
    // The next call is put off for so long.
    limit: (method, channel, seconds, { global = false } = {}) => discord.trouble(method, channel, {
      respond: () => {
        rests.set(`${method} ${channel}`, { until: Date.now() + seconds * 1000, told: Date.now() });
        const scope = global ? { 'x-ratelimit-global': 'true', 'x-ratelimit-scope': 'global' } : { 'x-ratelimit-scope': 'user' };
        return { status: 429, headers: { 'retry-after': String(Math.ceil(seconds)), ...scope }, body: { message: 'You are being rate limited.', retry_after: seconds, global } };
      },
    }),
    // What stands in a channel, once there are `n`.
    take: (channel, n = 1, ms = 10_000) => eventually(`${n} messages in ${channel}`, () => {
      const found = [...messages.values()].filter((message) => message.channel === channel);
      return found.length >= n && found;
    }, ms),
    close: () => standin.close(),
  });
}
