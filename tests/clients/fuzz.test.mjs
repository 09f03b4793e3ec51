// Random bodies against the calls that take one. Whatever comes: no 5xx, only documented responses, and nothing is
// accepted that the contract calls wrong. A run is repeated with HOLDPOINT_FUZZ_SEED.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import fc from 'fast-check';
import { echo } from './agents.mjs';
import { Contract } from './contract.mjs';
import { makeDiscordKey } from './discord_standin.mjs';
import { maxBodyBytes, startWorld } from './harness.mjs';
import { interactionBody, signSlack } from './slack_standin.mjs';

const seed = Number(process.env.HOLDPOINT_FUZZ_SEED ?? 20261116);
const options = { timeout: 60_000 };
const discordKey = makeDiscordKey();
const signingSecret = '8f742231b10e8888abcd99yyyzzz85a5';
const inboundSecret = 'a secret of the provider';

let world;
let closed;  // For what would close an open server.
let contract;
const statuses = {};

async function send(target, body, { at = world, headers = {} } = {}) {
  const response = await at.request('POST', target, { headers, body: Buffer.isBuffer(body) ? body : JSON.stringify(body) });
  statuses[response.status] = (statuses[response.status] ?? 0) + 1;
  assert.ok(response.status < 500, `${response.status}: ${response.text}`);
  contract.check(response);
  const { ok, error } = response.json;
  assert.equal(ok, response.status < 400);
  // Who is to blame is always said where something is wrong with the body.
  if (response.status === 400) assert.equal(error.field, 'body');
  if (response.status === 422) assert.ok(error.field, response.text);
  return response;
}

// What the server accepts must be what the contract allows; otherwise the contract has drifted.
function assertAllowed(operationId, body, response) {
  if (response.status >= 300) return;
  const complaints = contract.complaints(contract.requestSchema(operationId), body);
  assert.deepEqual(complaints, [], `${operationId} accepted what its schema refuses: ${JSON.stringify(body).slice(0, 500)}`);
}

// ---- Valid bodies

// Starts with a letter, so that trimming cannot make two labels equal or one empty.
const text = (max) => fc.string({ unit: 'grapheme', maxLength: max }).map((tail) => `a${Array.from(tail).slice(0, max - 1).join('')}z`);
const small = fc.jsonValue({ maxDepth: 3 }).map((value) => JSON.parse(JSON.stringify(value).replaceAll('\\u0000', '')));
const labels = fc.array(text(28), { minLength: 2, maxLength: 5 }).map((list) => list.map((label, i) => `${i + 1} ${label}`));

const question = fc.record({
  key: fc.constantFrom('question', 'prompt'),
  text: text(300),
  header: fc.option(fc.string({ unit: fc.constantFrom('x', 'ü', '字', '😀', '&', '<', '"'), minLength: 1, maxLength: 12 }), { nil: undefined }),
  labels: fc.option(labels, { nil: undefined }),
  rich: fc.array(fc.boolean(), { minLength: 5, maxLength: 5 }),
  recommended: fc.nat(9),
  multi: fc.constantFrom(undefined, 'multi_select', 'multiSelect'),
  allowOther: fc.constantFrom(undefined, true, false),
  style: fc.constantFrom(undefined, 'buttons', 'select'),
  chosen: fc.nat(4),
}).map(({ key, text: words, header, labels: list, rich, recommended, multi, allowOther, style, chosen }) => {
  const asked = { [key]: words, header, style };
  if (!list) return { ...asked, default: 'whatever you like' };
  const choice = list[chosen % list.length];
  return {
    ...asked,
    options: list.map((label, i) => (rich[i] || i === recommended ? { label, description: `about ${label}`, emoji: '✨', recommended: i === recommended } : label)),
    allow_other: allowOther,
    ...(multi ? { [multi]: true, default: [choice] } : { default: choice }),
  };
});

const ask = fc.record({
  questions: fc.array(question, { minLength: 1, maxLength: 4 }).map((list) => list.map((asked, i) => {
    const key = 'question' in asked ? 'question' : 'prompt';
    return { ...asked, [key]: `${i + 1}. ${asked[key]}` };
  })),
  timeout: fc.constantFrom(undefined, 60, 3600, 86_400),
  on_timeout: fc.constantFrom(undefined, 'fail', 'default', 'continue'),
  context: fc.option(fc.dictionary(fc.constantFrom('a', 'b', 'build', 'ключ'), small, { maxKeys: 3 }), { nil: undefined }),
  tool_call_id: fc.option(fc.string({ unit: fc.constantFrom('t', 'o', '_', '1'), minLength: 1, maxLength: 20 }), { nil: undefined }),
  agent: fc.constantFrom(undefined, 'approvals'),
  channels: fc.constantFrom(undefined, [], ['url'], ['url', 'url']),
}).map((body) => JSON.parse(JSON.stringify(body)));

// ---- What may be done to them

const deep = (depth) => JSON.parse('['.repeat(depth) + ']'.repeat(depth));
const nasty = fc.oneof(
  fc.constantFrom(null, true, false, 0, -1, 1, 1.5, 5, 60, 2 ** 31, 2 ** 53, -(2 ** 63), 1e30, 1.7976931348623157e308, 5e-324),
  fc.constantFrom('', ' ', '\u0000', 'a\u0000b', '\ud800', '\u202e', '😀', 'é', 'e\u0301', 'x'.repeat(13), 'x'.repeat(4001), 'x'.repeat(30_000), "' OR 1=1 --", '<!channel>', '../../etc/passwd', 'slack', 'slack:#ops', 'discord:7', 'email:a@b', 'url:x'),
  fc.constantFrom([], {}, [[]], [null], ['a'], ['a', 'a'], ['a', 'b', 'c', 'd', 'e', 'f'], { label: 'a' }, { a: { b: { c: {} } } }),
  fc.constantFrom(30, 62, 63, 64, 65, 66, 500).map(deep),
  fc.jsonValue({ maxDepth: 4 }),
  fc.string({ unit: 'binary', maxLength: 40 }),
);
const change = fc.record({
  kind: fc.constantFrom('drop', 'retype', 'add', 'rename', 'repeat'),
  where: fc.nat(1000),
  name: fc.constantFrom('surprise', 'Question', 'ANSWER', 'question_id', 'answers', 'answer', 'default', 'options', 'multiSelect', 'prompt', 'style', 'channels', '', 'a.b', '😀'),
  value: nasty,
});

function places(node, found = []) {
  if (node !== null && typeof node === 'object') {
    for (const key of Object.keys(node)) {
      found.push([node, key]);
      places(node[key], found);
    }
  }
  return found;
}

function apply(body, { kind, where, name, value }) {
  const changed = structuredClone(body);
  const all = places(changed);
  if (all.length === 0) return { [name]: value };
  const [parent, key] = all[where % all.length];
  if (kind === 'retype') parent[key] = value;
  else if (kind === 'drop') Array.isArray(parent) ? parent.splice(Number(key), 1) : delete parent[key];
  else if (kind === 'repeat') Array.isArray(parent) ? parent.push(structuredClone(parent[key])) : (parent[`${key}_`] = parent[key]);
  else if (Array.isArray(parent)) parent.push(value);
  else if (kind === 'add') parent[name] = value;
  else {
    parent[name] = parent[key];
    delete parent[key];
  }
  return changed;
}
const mutated = (valid) => fc.tuple(valid, fc.array(change, { minLength: 1, maxLength: 3 })).map(([body, changes]) => changes.reduce(apply, body));

const check = (numRuns, arbitrary, property) => fc.assert(fc.asyncProperty(arbitrary, property), {
  seed, numRuns, interruptAfterTimeLimit: 45_000, markInterruptAsFailure: true, includeErrorInReport: true,
});

// ---- A session that waits for an answer, made anew whenever a body got through to it

const labelled = { questions: [{ question: 'Which?', options: ['a', 'b'], allow_other: false }, { question: 'And these?', options: ['c', 'd'], multi_select: true }, { question: 'Why?' }] };
async function makeOpen() {
  const { json } = await send('/agent/ask', labelled);
  return { id: json.session_id, questions: json.questions.map(({ id }) => id) };
}
function kept() {
  let current;
  return { get: async () => (current ??= await makeOpen()), used: () => { current = undefined; } };
}

before(async () => {
  world = await startWorld({ agents: { echo, approvals: { runner: 'external', async_questions: true } } });
  closed = await startWorld({
    closed: true,
    agents: { approvals: { runner: 'external', async_questions: true } },
    settings: {
      slack: { bot_token: 'xoxb-proof', signing_secret: signingSecret, api_url: 'http://127.0.0.1:1/api' },
      discord: { bot_token: 'proof', public_key: discordKey.publicKey, api_url: 'http://127.0.0.1:1/api' },
      email: { smtp_url: 'smtp://127.0.0.1:1', smtp_tls: false, from: 'holdpoint@example.org', reply_to: 'reply@example.org', inbound_secret: inboundSecret },
    },
  });
  contract = new Contract((await world.request('GET', '/openapi.json')).json);
}, options);
after(async () => {
  await world?.stop();
  await closed?.stop();
}, options);

test('a valid ask is always accepted', options, async (t) => {
  t.diagnostic(`seed ${seed}`);
  await check(300, ask, async (body) => {
    contract.assertFits(contract.requestSchema('ask'), body, 'the generated ask');
    const response = await send('/agent/ask', body);
    assert.equal(response.status, 202, response.text);
    assert.equal(response.json.questions.length, body.questions.length);
    assert.deepEqual(response.json.questions.map((asked) => asked.question), body.questions.map((asked) => asked.question ?? asked.prompt));
  });
});

test('a changed ask is refused by name or was still valid', options, () => check(550, mutated(ask), async (body) => {
  assertAllowed('ask', body, await send('/agent/ask', body));
}));

test('a changed answer is refused or was still valid', options, () => {
  const session = kept();
  const answer = fc.record({
    shape: fc.nat(4), picks: fc.array(fc.constantFrom('a', 'b', 'c', 'd', 'because', ''), { maxLength: 3 }), changes: fc.array(change, { maxLength: 2 }),
  });
  return check(400, answer, async ({ shape, picks, changes }) => {
    const { id, questions: [first, second, third] } = await session.get();
    const valid = [
      { question_id: first, answer: picks[0] ?? 'a' },
      { question_id: second, answer: picks, answered_by: 'ana@example.org' },
      { answer: picks[0] ?? 'b' },
      { answers: { [first]: 'a', [third]: picks.join(' ') } },
      { answers: { 'Which?': 'b', 'And these?': picks }, answered_by: 'ana@example.org' },
    ][shape];
    const body = changes.reduce(apply, valid);
    const response = await send(`/agent/answer/${id}`, body);
    assertAllowed('answer', body, response);
    if (response.status === 200 || response.status === 409) session.used();
  });
});

test('a changed message is refused or was still valid', options, () => {
  const session = kept();
  return check(250, mutated(fc.record({ message: small })), async (body) => {
    const { id } = await session.get();
    assertAllowed('messageSession', body, await send(`/agent/session/${id}/message`, body));
  });
});

test('a changed cancel is refused or was still valid', options, () => {
  const session = kept();
  return check(200, mutated(fc.record({ reason: text(40) }, { requiredKeys: [] })), async (body) => {
    const { id } = await session.get();
    const response = await send(`/agent/session/${id}/cancel`, body);
    assertAllowed('cancelSession', body, response);
    if (response.status === 200) session.used();
  });
});

test('a webhook takes every object and refuses the rest', options, () => check(300, fc.oneof(fc.dictionary(text(10), nasty, { maxKeys: 4 }), nasty), async (body) => {
  assertAllowed('triggerAgent', body, await send('/agent/webhook/echo', body));
}));

test('a changed key, user or link is refused or was still valid', options, async () => {
  const as = { at: closed, headers: await closed.key('admin') };
  const { json: { questions: [{ id }] } } = await send('/agent/ask', labelled, { at: closed, headers: await closed.key('questions:ask') });
  const scope = fc.constantFrom('sessions:create', 'sessions:read', 'questions:ask', 'questions:read', 'questions:answer', 'admin', 'webhook:a', 'webhook:a b', 'webhook:', 'Admin', '*');
  const key = fc.record({ name: text(70), scopes: fc.array(scope, { minLength: 1, maxLength: 3 }), expires_in_days: fc.constantFrom(1, 90, 3650, 3651) }, { requiredKeys: ['name', 'scopes'] });
  // Without a password: to hash one takes a fifth of a second.
  const user = fc.record({
    name: fc.oneof(fc.string({ unit: fc.constantFrom(...'abcdEFGH1234@.+-_'), minLength: 6, maxLength: 12 }), fc.string({ unit: fc.constantFrom('a', ' ', '/', 'ü'), maxLength: 4 })),
    role: fc.constantFrom('viewer', 'answerer', 'admin', 'root'),
  });
  const cases = { createKey: ['/agent/keys', key], addUser: ['/agent/users', user], makeLink: [`/agent/questions/${id}/links`, fc.record({ recipient: text(210) })] };
  for (const [operationId, [target, valid]] of Object.entries(cases)) {
    const taken = { yes: 0, no: 0 };
    await check(200, fc.oneof(valid, mutated(valid)), async (body) => {
      const response = await send(target, body, as);
      taken[response.status === 201 ? 'yes' : 'no'] += 1;
      assertAllowed(operationId, body, response);
    });
    assert.ok(taken.yes > 10 && taken.no > 10, `${operationId}: ${JSON.stringify(taken)}`);
  }
  // What got in must also come out again.
  for (const target of ['/agent/keys', '/agent/users', '/agent/audit?limit=1000']) contract.check(await closed.request('GET', target, { headers: as.headers }));
  assert.equal((await closed.request('GET', '/agent/audit/verify', { headers: as.headers })).json.ok, true);
});

test('whatever a platform or a mail provider signs is read or refused', options, async () => {
  const ask = async () => (await send('/agent/ask', labelled, { at: closed, headers: await closed.key('questions:ask') })).json.questions.map(({ id }) => id);
  const [one, several, open] = await ask();
  const id = fc.constantFrom(one, several, open, '019a8b3c-0000-7000-8000-000000000000', '', 'x:y');
  const place = fc.constantFrom('0', '1', '2', '-1', '1.5', '', '99999999999999999999', 'x');
  const user = fc.constantFrom({ id: 'U0ANA', username: 'ana' }, { id: '7', name: '<!channel>' }, { id: '' }, {}, null);
  const state = fc.tuple(id, fc.array(place, { maxLength: 3 }), text(40)).map(([question, places, own]) => ({
    values: { [`hp:${question}:own`]: { own: { value: own } }, [`hp:${question}:1`]: { tick: { selected_options: places.map((value) => ({ value })) } } },
  }));
  const slack = fc.oneof(
    fc.record({ who: user, question: id, what: fc.oneof(place.map((value) => `pick:${value}`), fc.constantFrom('submit', 'choose', 'other', 'cancel', '')), state })
      .map(({ who, question, what, state: said }) => ({ type: 'block_actions', user: who, state: said, actions: [{ block_id: `hp:${question}:0`, action_id: what, selected_option: { value: '1' } }] })),
    fc.record({ who: user, question: id, state }).map(({ who, question, state: said }) => ({ type: 'view_submission', user: who, view: { callback_id: 'hp:form', private_metadata: question, state: said } })),
  );
  const discord = fc.record({ type: fc.constantFrom(1, 3, 5, 2, 0), who: user, question: id, what: fc.oneof(place.map((value) => `o:${value}`), fc.constantFrom('s', 'f', 'c', 'y', 'm', '')), values: fc.array(place, { maxLength: 3 }), own: text(40) })
    .map(({ type, who, question, what, values, own }) => ({ type, member: { user: who }, data: { custom_id: `hp:${question}:${what}`, values, components: [{ type: 18, component: { custom_id: 't', value: own } }] } }));
  const words = fc.oneof(text(60), fc.constantFrom('yes', '> quoted', 'reply+x@example.org, a@b', '"a" <ana@example.org>', '=?utf-8?b?AA==?='));
  const mail = fc.oneof(
    fc.record({ from: words, to: words, text: words, subject: words, headers: fc.dictionary(fc.constantFrom('Auto-Submitted', 'From', 'X'), words) }, { requiredKeys: [] }),
    fc.tuple(words, words).map(([head, body]) => ({ raw: `From: ${head}\r\nTo: ${body}\r\nContent-Type: multipart/mixed; boundary=${head}\r\n\r\n--${head}\r\n${body}` })),
  );
  const bearer = { authorization: `Bearer ${inboundSecret}` };
  const cases = {
    slackInteraction: ['/slack/interactions', slack, (body) => ({ body: interactionBody(body), headers: signSlack(signingSecret, interactionBody(body)) })],
    discordInteraction: ['/discord/interactions', discord, (body) => ({ body: JSON.stringify(body), headers: discordKey.sign(JSON.stringify(body)) })],
    inboundMail: ['/email/inbound', mail, (body) => ({ body: JSON.stringify(body), headers: bearer })],
  };
  for (const [operationId, [target, valid, sign]] of Object.entries(cases)) {
    const seen = {};
    await check(200, fc.oneof(valid, mutated(valid)), async (body) => {
      const response = await closed.request('POST', target, sign(body));
      assert.ok([200, 400, 422].includes(response.status), `${operationId} ${JSON.stringify(body)} → ${response.status} ${response.text}`);
      contract.check(response);
      if (response.status !== 200) assert.ok(response.json.error.field, response.text);
      seen[response.status] = (seen[response.status] ?? 0) + 1;
    });
    assert.ok(seen[200] > 10 && seen[422] > 0, `${operationId}: ${JSON.stringify(seen)}`);
  }
  contract.check(await closed.request('GET', '/agent/questions', { headers: await closed.key('questions:read') }));
});

test('bytes that are not JSON are refused', options, async () => {
  const session = await makeOpen();
  const targets = ['/agent/ask', `/agent/answer/${session.id}`, `/agent/session/${session.id}/message`, `/agent/session/${session.id}/cancel`, '/agent/webhook/echo'];
  const valid = '{"questions":[{"question":"Which?","options":["a","b"]}],"timeout":60}';
  const broken = fc.oneof(
    fc.nat(valid.length - 2).map((length) => Buffer.from(valid.slice(0, length + 1))),
    fc.tuple(fc.nat(valid.length - 1), fc.constantFrom(0x00, 0x80, 0xc0, 0xed, 0xff)).map(([at, byte]) => {
      const bytes = Buffer.from(valid);
      bytes[at] = byte;
      return bytes;
    }),
    fc.constantFrom(
      '\ufeff{', 'null', '"{}"', '0', '[{}]', '{"a":1,}', "{'a':1}", '{a:1}', '{"a":1e400}', '{"a":-1e400}', '{"a":01}', '{"a":+1}', '{"a":NaN}', '{"a":"\t"}', '{"a":"\\x"}',
      '{"a":"\\ud800"}', '{"a":"\\udc00\\ud800"}', '{} {}', '{}x', '/**/{}',
    ).map((body) => Buffer.from(body)),
    fc.constantFrom(66, 1_000, 90_000).chain((depth) => fc.constantFrom('[', '{"a":').map((open) => Buffer.from((open.repeat(depth)).slice(0, maxBodyBytes - 10)))),
    fc.constantFrom(66, 1_000, 90_000).map((depth) => Buffer.from(`{"a":${'['.repeat(depth)}${']'.repeat(depth)}}`)),
    fc.uint8Array({ minLength: 1, maxLength: 200 }).map((bytes) => Buffer.from([0xff, ...bytes])),
  );
  await check(250, fc.tuple(fc.constantFrom(...targets), broken), async ([target, bytes]) => {
    const { status, text: got } = await send(target, bytes);
    assert.equal(status, 400, got);
  });
});

test('the server is none the worse for it', options, async (t) => {
  assert.equal((await world.request('GET', '/readyz')).status, 200);
  const { json } = await send('/agent/ask', labelled);
  const answers = { 'Which?': 'a', 'And these?': ['c'], 'Why?': 'because' };
  assert.equal((await send(`/agent/answer/${json.session_id}`, { answers })).json.status, 'resumed');
  const session = contract.check(await world.request('GET', `/agent/session/${json.session_id}?wait=10&until=finished`)).json;
  assert.deepEqual(session.result.answers, answers);
  // What got in must also come out again, whatever text it holds.
  for (const list of ['questions', 'sessions']) {
    let cursor = '';
    do {
      const page = contract.check(await world.request('GET', `/agent/${list}?limit=500${cursor}`)).json;
      cursor = page.next_cursor === null ? '' : `&cursor=${encodeURIComponent(page.next_cursor)}`;
    } while (cursor);
  }
  t.diagnostic(Object.entries(statuses).map(([status, n]) => `${n} × ${status}`).join(', '));
});
