// HumanLayer's own SDK, unmodified, against our server: it has the two variables of its environment and nothing else. Its
// rules are that it polls every 3 s for ever, and that whatever goes wrong is thrown to whoever called it: no call is tried
// again by itself. Cases run side by side, since each waits for a poll.
import assert from 'node:assert/strict';
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { CloudHumanLayerBackend, HumanLayer, HumanLayerCloudConnection, humanlayer } from 'humanlayer';
import { eventually, startReceiver, startWorld } from './harness.mjs';
import { complaints } from './schemas.mjs';

const options = { timeout: 90_000 };
const base = (world) => `${world.address()}/humanlayer/v1`;
const bare = async (key) => (await key).authorization.replace('Bearer ', '');

// The SDK as its users have it. Its environment is read when it is made, so that every world can have its own.
async function sdk(world, params) {
  process.env.HUMANLAYER_API_KEY = await bare(world.key('questions:ask'));
  process.env.HUMANLAYER_API_BASE = base(world);
  return humanlayer(params);
}

// What a person does about the calls: `answer` over our API, as an inbox or a chat does it; `respond` over HumanLayer's.
function people(world) {
  const questions = async (query = '&status=pending') => {
    const { json } = await world.request('GET', `/agent/questions?agent=humanlayer&limit=500${query}`, { headers: await world.key('questions:read') });
    return json.questions;
  };
  const find = (what, fits) => eventually(what, async () => (await questions()).find(fits));
  const answer = async ({ session_id: session }, text, by) => {
    const { status, text: said } = await world.request('POST', `/agent/answer/${session}`, { body: { answer: text, answered_by: by }, headers: await world.key('questions:answer') });
    assert.equal(status, 200, said);
  };
  return {
    questions,
    find,
    answer,
    // Answers the question that begins so; with a function, after a look at it.
    decide: async (start, text, by) => {
      const question = await find(start, (pending) => pending.question.startsWith(start));
      await answer(question, typeof text === 'function' ? text(question) : text, by);
      return question;
    },
    // A backend of the SDK's that may answer and nothing else.
    responder: async () => new CloudHumanLayerBackend(new HumanLayerCloudConnection(await bare(world.key('questions:answer')), base(world))),
  };
}

const rejectOptions = [{ name: 'risky', title: 'Too risky', prompt_fill: 'This is too risky now' }, { name: 'later' }];

describe('humanlayer', { concurrency: true }, () => {
  let world;
  let staff;
  before(async () => {
    world = await startWorld({ closed: true });
    staff = people(world);
  }, options);
  after(() => world?.stop(), options);

  test('a function runs once it is approved, once', options, async () => {
    const hl = await sdk(world);
    let runs = 0;
    async function multiply({ x, y }) { runs += 1; return x * y; }
    const result = hl.requireApproval()(multiply)({ x: 6, y: 7 });
    const question = await staff.decide('Approve multiply?', 'Approve');
    assert.match(question.question, /\nx: 6\ny: 7\n/);
    assert.deepEqual(question.options, ['Approve', 'Reject']);
    assert.equal(await result, 42);
    assert.equal(runs, 1);
  });

  test('a function that is rejected in own words does not run, and the words are the comment', options, async () => {
    const hl = await sdk(world);
    const result = hl.requireApproval()(async function erase() { assert.fail('it ran'); })();
    await staff.decide('Approve erase?', 'keep it until May');
    assert.equal(await result, 'User denied function erase with comment: keep it until May');
  });

  test('a rejection without a word says who rejected', options, async () => {
    const hl = await sdk(world);
    const result = hl.requireApproval()(async function wipe() { assert.fail('it ran'); })({});
    await staff.decide('Approve wipe?', 'Reject', 'ana@example.org');
    assert.equal(await result, 'User denied function wipe with comment: rejected by ana@example.org');
  });

  test('a rejection by option says which, in the option\'s words or the person\'s', options, async () => {
    const hl = await sdk(world);
    const approve = (fn) => hl.fetchHumanApproval({ spec: { fn, kwargs: { n: 1 }, reject_options: rejectOptions } });
    const outcomes = Promise.all(['by_option', 'by_both', 'with_comment'].map(approve));
    await staff.decide('Approve by_option?', ({ options: [, , risky] }) => risky);
    await staff.decide('Approve by_both?', 'Too risky: not on a Friday', 'ana');
    await staff.decide('Approve with_comment?', 'Approve: fine by me', 'ana');
    assert.deepEqual((await outcomes).map(({ approved, comment, reject_option_name: option }) => [approved, comment, option]), [
      [false, 'This is too risky now', 'risky'], [false, 'not on a Friday', 'risky'], [true, 'fine by me', null],
    ]);
  });

  test('a person is a tool, and free text is what it gives', options, async () => {
    const hl = await sdk(world);
    const result = hl.humanAsTool()({ message: 'What shall the release be called?' });
    await staff.decide('What shall the release be called?', 'Quiet Harbour');
    assert.equal(await result, 'Quiet Harbour');
  });

  test('a contact with options gives the option, also by name, or own words', options, async () => {
    const hl = await sdk(world);
    const spec = (msg) => ({ msg, subject: 'Planning', response_options: [{ name: 'mon', title: 'Monday', description: 'if it is dry' }, { name: 'tue', prompt_fill: 'Tuesday it is' }] });
    const results = Promise.all(['Picked?', 'Filled?', 'Free?'].map((msg) => hl.fetchHumanResponse({ spec: spec(msg) })));
    await staff.decide('Planning\n\nPicked?', 'Monday');
    await staff.decide('Planning\n\nFilled?', 'tue');
    await staff.decide('Planning\n\nFree?', 'never');
    assert.deepEqual(await results, ['Monday', 'Tuesday it is', 'never']);
    const made = await hl.createHumanContact({ spec: spec('Named?') });
    await staff.decide('Planning\n\nNamed?', 'Monday: after lunch');
    const { status } = await hl.getHumanContact(made.call_id);
    assert.deepEqual([status.response, status.response_option_name], ['after lunch', 'mon']);
  });

  test('what the SDK gets fits its own types', options, async () => {
    const hl = await sdk(world);
    const call = await hl.createFunctionCall({ spec: { fn: 'typed', kwargs: { deep: { list: [1, 'ü', null] } }, reject_options: rejectOptions, state: { step: 3 } } });
    const contact = await hl.createHumanContact({ spec: { msg: 'Typed?', response_options: rejectOptions, state: {} } });
    const fit = (type, value) => assert.deepEqual(complaints('humanlayer', type, value), []);
    fit('FunctionCallSeen', call);
    fit('HumanContactSeen', contact);
    assert.equal(call.status.approved, null);
    assert.deepEqual([contact.status.response, contact.status.responded_at], [null, null]);
    assert.deepEqual(call.spec.kwargs, { deep: { list: [1, 'ü', null] } });
    assert.deepEqual(call.spec.state, { step: 3 });
    await staff.decide('Approve typed?', 'later');
    await staff.decide('Typed?', 'later');
    fit('FunctionCallSeen', await hl.getFunctionCall(call.call_id));
    fit('HumanContactSeen', await hl.getHumanContact(contact.call_id));
    assert.notDeepEqual(complaints('humanlayer', 'FunctionCallSeen', { ...call, status: { ...call.status, approved: 'no' } }), []);
  });

  test('the SDK itself responds, with a key that may answer: once, and never with one that asks', options, async () => {
    const hl = await sdk(world);
    const desk = await staff.responder();
    const call = await hl.createFunctionCall({ spec: { fn: 'responded', kwargs: {}, reject_options: rejectOptions } });
    const contact = await hl.createHumanContact({ spec: { msg: 'Responded?' } });
    const both = { approved: false, comment: 'no', reject_option_name: 'later' };
    await assert.rejects(hl.backend.functions().respond(call.call_id, { approved: true }), /403.*questions:answer/);
    await assert.rejects(desk.functions().get(call.call_id), /403.*questions:ask/);
    const given = await desk.functions().respond(call.call_id, both);
    assert.deepEqual(await desk.functions().respond(call.call_id, both), given);
    await assert.rejects(desk.functions().respond(call.call_id, { approved: true }), /409.*"answer":"later: no"/);
    await desk.contacts().respond(contact.call_id, { response: 'yes' });
    const { status } = await hl.getFunctionCall(call.call_id);
    assert.deepEqual([status.approved, status.comment, status.reject_option_name], [false, 'no', 'later']);
    assert.equal((await hl.getHumanContact(contact.call_id)).status.response, 'yes');
    await assert.rejects(desk.functions().respond('call-nowhere', both), /404.*unknown_call/);
  });

  test('what waits is listed for a key that may look', options, async () => {
    const hl = await sdk(world);
    const call = await hl.createFunctionCall({ spec: { fn: 'listed', kwargs: {} } });
    const list = async (kind) => (await world.request('GET', `/humanlayer/v1/agent/${kind}/pending`, { headers: await world.key('questions:read') })).json;
    const waits = async () => (await list('function_calls')).some(({ call_id: id }) => id === call.call_id);
    assert.ok(await waits());
    assert.ok(!(await list('human_contacts')).some(({ call_id: id }) => id === call.call_id));
    await staff.decide('Approve listed?', 'Reject');
    assert.ok(!(await waits()));
  });

  test('a wrong key, a key for something else, and what is wrong with a call are thrown, with the reason', options, async () => {
    const spec = { fn: 'refused', kwargs: {} };
    const as = (apiKey) => new HumanLayer({ apiKey, apiBaseUrl: base(world) });
    await assert.rejects(as(`hp_${'0'.repeat(16)}_${'x'.repeat(43)}`).createFunctionCall({ spec }), /function_calls 401: \{"ok":false/);
    await assert.rejects(as(await bare(world.key('questions:read'))).createFunctionCall({ spec }), /403.*lacks the scope questions:ask/);
    const hl = await sdk(world);
    const refused = (more, why) => assert.rejects(hl.createFunctionCall({ spec: { ...spec, ...more } }), why);
    await refused({ kwargs: 'text' }, /422.*spec\.kwargs/);
    await refused({ reject_options: Array.from({ length: 4 }, (_, i) => ({ name: `${i}` })) }, /422.*spec\.reject_options.*\[limits\] max_options/);
    await refused({ channel: { slack: { channel_or_user_id: 'C1' } } }, /422.*spec\.channel\.slack.*\[slack\] bot_token/);
    await refused({ channel: { email: { address: 'ana@example.org' } } }, /422.*spec\.channel\.email.*\[email\] smtp_url/);
    await assert.rejects(hl.getFunctionCall('call-nowhere'), /404.*unknown_call/);
    await assert.rejects(hl.escalateEmailFunctionCall('call-nowhere', { escalation_msg: 'hurry' }), /501.*not_offered/);
    const twice = (kwargs) => new HumanLayer({ genid: () => 'the-same-id', runId: 'run' }).createFunctionCall({ spec: { fn: 'reused', kwargs } });
    assert.deepEqual(await twice({ n: 1 }), await twice({ n: 1 }));
    await assert.rejects(twice({ n: 2 }), /409.*call_id_taken/);
    await staff.decide('Approve reused?', 'Reject');
    assert.deepEqual((await staff.questions('')).filter(({ question }) => /refused/.test(question)), []);
  });
});

test('without a key the SDK does not call anybody', options, () => {
  assert.throws(() => HumanLayer.cloud(), /HUMANLAYER_API_KEY is required/);
});

describe('humanlayer, worlds of their own', { concurrency: true }, () => {
  const shuffled = (list) => list.map((item) => [Math.random(), item]).sort(([a], [b]) => a - b).map(([, item]) => item);
  const n = 50;
  // Fifty of them, each with its own answer; `ask(i)` waits for it. Half are approvals, half contacts.
  const askers = (hl) => Array.from({ length: n }, (_, i) => async () => (i % 2
    ? hl(i).humanAsTool()({ message: `Number ${i}?` })
    : hl(i).requireApproval()(async function step({ i: mine }) { return `ran ${mine}`; })({ i })));
  const numberOf = ({ question }) => Number(/(?:Number|\ni:) (\d+)/.exec(question)[1]);
  const said = (i) => (i % 2 ? `answer ${i}` : i % 4 ? 'Approve' : `no to ${i}`);
  const expected = Array.from({ length: n }, (_, i) => (i % 2 ? `answer ${i}` : i % 4 ? `ran ${i}` : `User denied function step with comment: no to ${i}`));

  test('fifty at once get each their own answer, in whatever order those come', options, async () => {
    const world = await startWorld({ closed: true });
    try {
      const staff = people(world);
      const hl = await sdk(world);
      const results = Promise.all(askers(() => hl).map((ask) => ask()));
      const questions = await eventually('fifty questions', async () => {
        const pending = await staff.questions();
        return pending.length === n && pending;
      });
      for (const question of shuffled(questions)) await staff.answer(question, said(numberOf(question)));
      assert.deepEqual(await results, expected);
      assert.equal((await staff.questions('')).length, n);
    } finally {
      await world.stop();
    }
  });

  // A refused connection is thrown to the caller, who asks again under the same id, as the SDK leaves it to them.
  test('the server is killed twice while fifty wait: nothing is lost, and nobody is asked twice', options, async () => {
    const world = await startWorld({ closed: true });
    try {
      const staff = people(world);
      // From now on at the same place.
      const file = path.join(world.folder, 'settings.toml');
      writeFileSync(file, readFileSync(file, 'utf8').replace('127.0.0.1:0"', `${new URL(world.address()).host}"`));
      let thrown = 0;
      const persist = async (ask) => {
        for (;;) {
          try {
            return await ask();
          } catch (error) {
            assert.ok(error instanceof TypeError, error);  // What fetch throws where nobody listens.
            thrown += 1;
            await sleep(100);
          }
        }
      };
      const each = await Promise.all(Array.from({ length: n }, (_, i) => sdk(world, { runId: 'run', genid: () => `call-${i}` })));
      const results = Promise.all(askers((i) => each[i]).map(persist));
      const restart = async () => {
        await world.crash();
        await eventually('somebody to find the server gone', () => thrown > 0);
        await world.restart();
      };
      await eventually('some questions', async () => (await staff.questions()).length > 0);
      await restart();
      const questions = await eventually('fifty questions', async () => {
        const pending = await staff.questions();
        return pending.length === n && pending;
      });
      const order = shuffled(questions);
      for (const question of order.slice(0, n / 2)) await staff.answer(question, said(numberOf(question)));
      thrown = 0;
      await restart();
      for (const question of order.slice(n / 2)) await staff.answer(question, said(numberOf(question)));
      assert.deepEqual(await results, expected);
      assert.equal((await staff.questions('')).length, n);
    } finally {
      await world.stop();
    }
  });

  test('what nobody answers in time is a rejection, or a response, that says so', options, async () => {
    const world = await startWorld({ closed: true, agents: { humanlayer: { runner: 'external', async_questions: true, question_timeout: 1, on_timeout: 'continue' } } });
    try {
      const hl = await sdk(world);
      const [approval, response] = await Promise.all([
        hl.fetchHumanApproval({ spec: { fn: 'late', kwargs: {} } }), hl.humanAsTool()({ message: 'Anybody?' }),
      ]);
      assert.equal(approval.approved, false);
      assert.match(approval.comment, /^Nobody answered in time: the question expired at \d{4}-.*Z\.$/);
      assert.match(response, /^Nobody answered in time/);
    } finally {
      await world.stop();
    }
  });

  test('a Slack channel is where the question goes, by our own token: the client\'s is neither sent on, echoed nor kept', options, async () => {
    const token = 'xoxb-of-the-client-4711';
    const platform = await startReceiver(() => ({ status: 200, headers: { 'content-type': 'application/json' }, body: JSON.stringify({ ok: true, channel: 'C0CLIENT', ts: '1794796200.000100' }) }));
    const world = await startWorld({ closed: true, settings: { slack: { bot_token: 'xoxb-ours', signing_secret: '8f742231b10e8888abcd99yyyzzz85a5', api_url: `${platform.url}/slack` } } });
    try {
      const staff = people(world);
      const contactChannel = { slack: { channel_or_user_id: 'C0CLIENT', context_about_channel_or_user: 'the team', bot_token: token }, any_of: [{ slack: { bot_token: token } }] };
      const hl = await sdk(world, { contactChannel });
      const call = await hl.createFunctionCall({ spec: { fn: 'notify', kwargs: {} } });
      assert.deepEqual(call.spec.channel, { slack: { channel_or_user_id: 'C0CLIENT', context_about_channel_or_user: 'the team' }, any_of: [{ slack: {} }] });
      const [post] = await platform.take('the message', ({ path: at }) => at.endsWith('/chat.postMessage'));
      assert.match(post.raw, /C0CLIENT/);
      assert.equal(post.headers.authorization, 'Bearer xoxb-ours');
      await staff.decide('Approve notify?', 'Approve');
      assert.equal((await hl.getFunctionCall(call.call_id)).status.approved, true);
      const kept = readdirSync(world.folder).filter((name) => name.startsWith('holdpoint.db'));
      assert.ok(kept.length > 0);
      const everywhere = [...kept.map((name) => readFileSync(path.join(world.folder, name), 'latin1')), ...world.log, ...platform.callbacks.map(({ raw }) => raw)];
      assert.ok(everywhere.some((text) => text.includes('C0CLIENT')));
      assert.ok(!everywhere.some((text) => text.includes(token)));
    } finally {
      await world.stop();
      await platform.close();
    }
  });

  test('a mail address that asks may not add is refused, with the setting that would let them', options, async () => {
    const world = await startWorld({ closed: true, settings: { email: { smtp_url: 'smtp://127.0.0.1:1', smtp_tls: false, from: 'holdpoint@example.org', asks_may_add: ['example.org'] } } });
    try {
      const hl = await sdk(world);
      const to = (address) => hl.createFunctionCall({ spec: { fn: 'mail', kwargs: {}, channel: { email: { address, experimental_subject_line: 'x' } } } });
      await assert.rejects(to('eve@evil.example'), /422.*spec\.channel\.email\.address.*\[email\] asks_may_add/);
      assert.equal((await to('ana@example.org')).status.approved, null);
      assert.deepEqual((await people(world).questions()).map(({ channels }) => channels), [['email']]);
    } finally {
      await world.stop();
    }
  });
});
