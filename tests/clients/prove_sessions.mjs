// The whole life of sessions, on an open server and again on a closed one.
import assert from 'node:assert/strict';
import { after, before, describe, test as case_ } from 'node:test';
import { asksAnyway, deployApproval, echo, failsOnce, givesUp, listens, poemStyles, splits, writePoem } from './agents.mjs';
import { eventually, gate, maxBodyBytes, startReceiver } from './harness.mjs';
import { Proof, nobody, options } from './proof.mjs';

export const proveSessions = ({ closed }) => describe(`sessions, ${closed ? 'closed' : 'open'}`, () => {
  let proof;
  let receiver;
  let contract;
  const slow = gate();
  const late = gate();
  const test = (name, ...rest) => case_(`${closed ? 'closed' : 'open'}: ${name}`, ...rest);
  const get = (...call) => proof.get(...call);
  const post = (...call) => proof.post(...call);
  const refused = (...call) => proof.refused(...call);
  const settled = (id) => proof.settled(id);
  const finished = (id) => proof.finished(id);
  const trigger = (...call) => proof.trigger(...call);
  const parked = (...call) => proof.parked(...call);

  // An answer to a question of a finished session that ended without one.
  async function refusedLate(session, question, outcome) {
    await refused(404, `/agent/answer/${session}`, { question_id: question, answer: 'yes' }, { code: 'session_finished' });
    assert.equal((await get(200, `/agent/questions/${question}`)).status, outcome);
  }

  async function failed() {
    const session = await settled(await trigger('fails-once'));
    assert.equal(session.status, 'failed');
    return session;
  }

  // All the pages of a list, one item each.
  async function walk(key, target) {
    const items = [];
    let cursor = '';
    for (let pages = 0; pages < 200; pages += 1) {
      const page = await get(200, `${target}${target.includes('?') ? '&' : '?'}limit=1${cursor}`);
      assert.equal(page[key].length, 1, 'a cursor led to an empty page');
      items.push(...page[key]);
      if (page.next_cursor === null) return items;
      cursor = `&cursor=${encodeURIComponent(page.next_cursor)}`;
    }
    throw new Error(`${target} has no end`);
  }

  before(async () => {
    receiver = await startReceiver(({ path: hook }) => ({ status: hook === '/broken' ? 500 : 204 }));
    proof = await Proof.start({
      closed,
      agents: {
        'write-poem': { ...writePoem, question_callback: `${receiver.url}/hook` },
        'deploy-approval': deployApproval,
        'fails-once': failsOnce(),
        'broken-callback': { ...listens, question_callback: `${receiver.url}/broken` },
        listens,
        'asks-anyway': asksAnyway,
        echo,
        splits,
        slow: { turn: async () => { await slow.passed; return { result: 'woken' }; } },
        approvals: { runner: 'external', async_questions: true },
        tells: { runner: 'external', question_callback: `${receiver.url}/card`, callback_events: ['card_posted'] },
        'gives-up': givesUp(late),
      },
    });
    contract = proof.contract;
  }, options);

  after(async () => {
    slow.open();
    late.open();
    await proof?.stop();
    await receiver?.close();
  }, options);

  test('health, readiness and metrics answer', options, async () => {
    await get(200, '/healthz');
    await get(200, '/readyz');
    const { text } = await proof.send(200, 'GET', '/metrics');
    const sample = /^[a-zA-Z_:][a-zA-Z0-9_:]*(\{.*\})? (NaN|[+-]Inf|[-+0-9.eE]+)( \d+)?$/;
    const lines = text.split('\n').filter((line) => line && !line.startsWith('#'));
    assert.ok(lines.length > 0);
    for (const line of lines) assert.match(line, sample);
  });

  test('a poem goes from its trigger over a question to its result', options, async () => {
    const payload = contract.example('triggerAgent', 'poem');
    const key = { 'Idempotency-Key': 'poem-1' };
    const started = await post(202, '/agent/webhook/write-poem', payload, { headers: key });
    assert.equal(started.status, 'running');
    assert.equal(started.duplicate, undefined);
    const id = started.session_id;

    const session = await settled(id);
    assert.equal(session.status, 'pending_input');
    assert.equal(session.questions_asked, 1);
    const [question] = session.questions;
    assert.equal(question.question, 'What style would you prefer?');
    assert.deepEqual(question.options, poemStyles);
    assert.equal(question.style, 'select');
    assert.equal(question.context.original_topic, 'love');

    const again = await post(202, '/agent/webhook/write-poem', payload, { headers: key });
    assert.deepEqual(again, { ok: true, session_id: id, status: 'pending_input', duplicate: true });

    const { questions } = await get(200, `/agent/questions?status=pending&agent=write-poem&session=${id}`);
    assert.deepEqual(questions, [question]);
    assert.deepEqual(await get(200, `/agent/questions/${question.id}`), question);

    const target = `/agent/answer/${id}`;
    for (const [body, field] of [
      [{ answer: '' }, 'answer'],
      [{ answer: ' \n' }, 'answer'],
      [{ answer: [] }, 'answer'],
      [{ answer: [''] }, 'answer'],
      [{ answer: ['haiku', 'sonnet'] }, 'answer'],
      [{ answer: 7 }, 'answer'],
      [{ answer: null }, 'answer'],
      [{ answer: 'x'.repeat(10_001) }, 'answer'],
      [{ answer: 'hai\u0000ku' }, 'answer'],
      [{}, 'answer'],
      [{ answr: 'haiku' }, 'answr'],
      [{ answer: 'haiku', answers: { [question.id]: 'haiku' } }, 'answers'],
      [{ answers: {} }, 'answers'],
      [{ answers: { [question.id]: 7 } }, `answers.${question.id}`],
      [{ answers: { [question.id]: 'haiku', [question.question]: 'haiku' } }, `answers.${question.question}`],
      [{ answers: { 'What else?': 'haiku' } }, 'answers.What else?'],
      [{ answers: { [nobody]: 'haiku' } }, `answers.${nobody}`],
      [{ question_id: nobody, answer: 'haiku' }, 'question_id'],
      [{ question_id: 'nonsense', answer: 'haiku' }, 'question_id'],
      [{ question_id: question.question, answer: 'haiku' }, 'question_id'],
      [{ question_id: '', answer: 'haiku' }, 'question_id'],
      [{ answer: 'haiku', answered_by: '' }, 'answered_by'],
      [{ answer: 'haiku', answered_by: 'x'.repeat(201) }, 'answered_by'],
      ['{"answer":"haiku","answer":"sonnet"}', 'answer'],
      [`{"answers":{"${question.id}":"haiku","${question.id}":"sonnet"}}`, `answers.${question.id}`],
      [{ answer: 'haiku', body: 1 }, 'body'],
    ]) await refused(422, target, body, { field });
    await refused(400, target, '{"answer":"haiku","\\u0000":1}');
    await refused(404, `/agent/answer/${nobody}`, { answer: 'haiku' }, { code: 'unknown_session' });
    assert.deepEqual(await get(200, `/agent/questions/${question.id}`), question, 'a refused answer left a mark');

    const answer = { ...contract.example('answer', 'named'), question_id: question.id };
    assert.deepEqual(await post(200, target, answer), { ok: true, status: 'resumed', session_id: id });
    assert.deepEqual(await post(200, target, answer), { ok: true, status: 'already_answered', session_id: id });
    const conflict = await post(409, target, { ...answer, answer: 'sonnet', answered_by: 'bob@example.org' });
    assert.equal(conflict.error.code, 'already_answered');
    assert.deepEqual([conflict.question_id, conflict.outcome, conflict.answer, conflict.answered_by], [question.id, 'answered', 'haiku', 'ana@example.org']);

    const done = await finished(id);
    assert.equal(done.status, 'completed');
    assert.deepEqual(done.result, { poem_path: 'poem/love-haiku.md' });
    assert.deepEqual(done.questions, []);
    const after = await get(200, `/agent/questions/${question.id}?wait=1`);
    assert.deepEqual([after.status, after.answer, after.selected, after.index, after.text], ['answered', 'haiku', ['haiku'], [3], null]);
    assert.equal(after.answered_at, conflict.answered_at);

    // Finished, and still the first answer is the one that counts.
    assert.equal((await post(200, target, answer)).status, 'already_answered');
    await post(409, target, { question_id: question.id, answer: 'sonnet' });
    await refused(422, target, { question_id: question.id, answer: '' }, { field: 'answer' });
    await refused(404, target, { question_id: nobody, answer: 'haiku' }, { code: 'session_finished' });
  });

  test("a person's own words count where they are allowed", options, async () => {
    const { id, questions: [question] } = await parked('write-poem', { topic: 'rain' });
    await post(200, `/agent/answer/${id}`, { answer: 'a limerick' });
    const { selected, index, text, answer } = await get(200, `/agent/questions/${question.id}`);
    assert.deepEqual({ selected, index, text, answer }, { selected: [], index: [], text: 'a limerick', answer: 'a limerick' });
    assert.deepEqual((await finished(id)).result, { poem_path: 'poem/rain-a limerick.md' });
  });

  test('a batch resumes when its last question is settled', options, async () => {
    const { id, questions } = await parked('deploy-approval');
    const by = Object.fromEntries(questions.map((question) => [question.question, question]));
    const environment = by['Which environment?'];
    const checks = by['Which checks?'];
    const remarks = by['Anything to add?'];
    assert.equal(checks.multi_select, true);
    assert.deepEqual(remarks.options, []);

    const target = `/agent/answer/${id}`;
    await refused(422, target, { answer: 'staging' }, { field: 'question_id' });  // Which of the three?
    await refused(422, target, { question_id: environment.id, answer: 'the moon' }, { field: 'answer' });
    await refused(422, target, { question_id: checks.id, answer: ['unit', 'unit'] }, { field: 'answer' });
    await refused(422, target, { answers: { [environment.id]: 'staging', 'Which checks?': ['none'] } }, { field: 'answers.Which checks?' });
    assert.equal((await settled(id)).questions.length, 3, 'a refused batch was stored in part');

    assert.deepEqual(await post(200, target, { question_id: environment.id, answer: 'staging' }),
      { ok: true, status: 'pending_input', session_id: id, remaining: 2 });
    assert.equal((await post(200, target, { question_id: environment.id, answer: 'staging' })).status, 'already_answered');
    assert.deepEqual((await settled(id)).questions.map((question) => question.id).sort(), [checks.id, remarks.id].sort());
    assert.equal((await post(200, target, { answers: { [checks.id]: ['unit', 'security'], 'Anything to add?': 'take care' } })).status, 'resumed');

    const { result } = await finished(id);
    assert.equal(result.tool_call_id, 'toolu_deploy');
    assert.equal(result.outcome, 'answered');
    assert.deepEqual(result.answers, { 'Which environment?': 'staging', 'Which checks?': ['unit', 'security'], 'Anything to add?': 'take care' });
    assert.deepEqual((await get(200, `/agent/questions/${checks.id}`)).answer, ['unit', 'security']);
  });

  test('an agent that lives elsewhere asks and reads its answer', options, async () => {
    const ask = contract.example('ask', 'deploy');
    const key = { 'Idempotency-Key': 'deploy-118' };
    const asked = await post(202, '/agent/ask', ask, { headers: key });
    assert.equal(asked.status, 'pending_input');
    const [question] = asked.questions;
    assert.equal(question.agent_name, 'external');
    assert.deepEqual(question.options, ['Deploy', 'Hold back']);
    assert.deepEqual(question.choices[0], { label: 'Deploy', description: 'Goes live at once', emoji: '🚀', recommended: true });
    assert.equal(question.default, 'Hold back');
    assert.equal(Date.parse(question.expires_at) - Date.parse(question.created_at), 900_000);
    assert.deepEqual(await post(202, '/agent/ask', ask, { headers: key }), { ...asked, duplicate: true });

    const held = get(200, `/agent/questions/${question.id}?wait=10`);
    const heldSession = finished(asked.session_id);
    await refused(422, `/agent/answer/${asked.session_id}`, { answer: 'Perhaps' }, { field: 'answer' });
    await post(200, `/agent/answer/${asked.session_id}`, { answer: 'Deploy' });
    assert.equal((await held).answer, 'Deploy');
    const session = await heldSession;
    assert.equal(session.status, 'completed');
    const { answers, tool_call_id: toolCall, answered, outcome, reason } = session.result;
    assert.deepEqual({ answers, toolCall, answered, outcome, reason },
      { answers: { 'Deploy build 118 to production?': 'Deploy' }, toolCall: 'toolu_01', answered: true, outcome: 'answered', reason: null });

    const least = await post(202, '/agent/ask', { ...contract.example('ask', 'freeText'), agent: 'approvals' });
    assert.equal(least.questions[0].agent_name, 'approvals');
    await refused(404, '/agent/ask', { ...ask, agent: 'nobody' }, { code: 'unknown_agent', field: 'agent' });
    await refused(422, '/agent/ask', { ...ask, agent: 'echo' }, { field: 'agent' });
    await refused(422, '/agent/webhook/approvals', {}, { field: 'agent' });
    await refused(409, `/agent/session/${least.session_id}/retry`, {}, { code: 'not_failed' });
  });

  test('the same ask joins the one that is open, and all who wait get its answer', options, async () => {
    const ask = { agent: 'approvals', questions: [{ question: 'Rotate the keys?', options: ['yes', 'no'] }], dedupe: true };
    const first = await post(202, '/agent/ask', { ...ask, idempotency_key: 'rotate-1', payload: { run: 7 } });
    assert.equal(first.duplicate, undefined);
    const second = await post(202, '/agent/ask', { ...ask, idempotency_key: 'rotate-2' });
    assert.deepEqual(second, { ...first, duplicate: true });
    const waits = [first, second].map(({ questions: [{ id }] }) => get(200, `/agent/questions/${id}?wait=10`));
    await post(200, `/agent/answer/${first.session_id}`, { answer: 'yes' });
    for (const seen of await Promise.all(waits)) assert.equal(seen.answer, 'yes');
    assert.deepEqual((await get(200, `/agent/session/${first.session_id}/record`)).payload, { run: 7 });
    assert.equal((await post(202, '/agent/ask', { ...ask, idempotency_key: 'rotate-2' })).session_id, first.session_id);
    const anew = await post(202, '/agent/ask', ask);
    assert.notEqual(anew.session_id, first.session_id);
    await refused(422, '/agent/ask', { ...ask, idempotency_key: 'a' }, { field: 'idempotency_key', headers: { 'Idempotency-Key': 'b' } });
  });

  test('people are told something, once for a key', options, async () => {
    const message = { ...contract.example('notify', 'deployed'), channels: [] };
    const told = await post(202, '/agent/notify', message, { headers: { 'Idempotency-Key': 'told-1' } });
    assert.deepEqual([told.status, told.channels], ['completed', []]);
    assert.deepEqual(await post(202, '/agent/notify', { ...message, idempotency_key: 'told-1' }), { ...told, duplicate: true });
    assert.equal((await finished(told.session_id)).status, 'completed');
    const { events } = await get(200, `/agent/session/${told.session_id}/events`);
    assert.deepEqual(events.map(({ type }) => type), ['session_started', 'card_posted', 'session_completed', 'trigger_repeated']);

    const heard = await post(202, '/agent/notify', { message: 'All done.', agent: 'tells' });
    assert.deepEqual(heard.channels, ['url']);
    const [callback] = await receiver.take('the card', ({ path: hook }) => hook === '/card');
    contract.assertNotice('card_posted', callback);
    assert.deepEqual(JSON.parse(callback.raw).card, { title: null, message: 'All done.' });

    for (const [body, field] of [[{}, 'message'], [{ message: ' ' }, 'message'], [{ message: 'x', title: 7 }, 'title'], [{ message: 'x', text: 'y' }, 'text'],
      [{ message: 'x', channels: ['slack:#ops'] }, 'channels[0]'], [{ message: 'x', agent: 'echo' }, 'agent']]) {
      await refused(422, '/agent/notify', body, { field });
    }
    await refused(400, '/agent/notify', '{');
    await refused(404, '/agent/notify', { message: 'x', agent: 'nobody' }, { code: 'unknown_agent', field: 'agent' });
    await refused(413, '/agent/notify', { message: 'x'.repeat(maxBodyBytes) });
    await refused(415, '/agent/notify', 'message=x', { type: 'text/plain' });
  });

  test('time runs out in each of the three ways', options, async () => {
    const base = { questions: [{ question: 'Still there?', options: ['yes', 'no'], default: 'no' }], timeout: 1 };
    const ends = { fail: ['failed', 'timed_out'], default: ['completed', 'defaulted'], continue: ['completed', 'timed_out'] };
    await Promise.all(Object.entries(ends).map(async ([onTimeout, [status, outcome]]) => {
      const { session_id: id, questions: [question] } = await post(202, '/agent/ask', { ...base, on_timeout: onTimeout });
      assert.equal((await get(200, `/agent/questions/${question.id}?wait=10`)).status, outcome);
      const session = await finished(id);
      assert.equal(session.status, status);
      const { answered, outcome: said, reason, answers } = session.result ?? {};
      if (onTimeout === 'fail') assert.match(session.error, /^timeout/);
      if (onTimeout === 'continue') assert.deepEqual([answered, said, reason, answers], [false, 'timed_out', 'timeout', {}]);
      if (onTimeout === 'default') assert.deepEqual([answered, said, reason, answers], [true, 'defaulted', 'timeout', { 'Still there?': 'no' }]);
      await refused(409, `/agent/session/${id}/retry`, {}, { code: 'not_failed' });  // Its agent runs elsewhere.
      await refusedLate(id, question.id, outcome);
    }));
  });

  test('an answer after the deadline is told how the question ended', options, async () => {
    const { id, questions: [question] } = await parked('gives-up');
    await get(200, `/agent/questions/${question.id}?wait=10`);
    const { error, outcome, answer } = await post(409, `/agent/answer/${id}`, { question_id: question.id, answer: 'me' });
    assert.deepEqual([error.code, outcome, answer], ['question_settled', 'timed_out', null]);
    late.open();
    assert.equal((await finished(id)).result, 'went on alone');
  });

  test('a session is cancelled once and stays so', options, async () => {
    const { id, questions: [question] } = await parked('listens');
    const gone = { ok: true, session_id: id, status: 'cancelled' };
    assert.deepEqual(await post(200, `/agent/session/${id}/cancel`, contract.example('cancelSession', 'reason')), gone);
    assert.deepEqual(await post(200, `/agent/session/${id}/cancel`), gone);
    const { status, error } = await finished(id);
    assert.deepEqual([status, error], ['cancelled', 'the user cancelled the question: no longer needed']);
    await refusedLate(id, question.id, 'cancelled');
    await refused(409, `/agent/session/${id}/message`, { message: 'hello?' }, { code: 'session_finished' });
    await refused(409, `/agent/session/${id}/retry`, undefined, { code: 'not_failed' });
    assert.ok((await get(200, `/agent/session/${id}/events`)).events.some(({ type, data }) => type === 'session_cancelled' && data.reason === error));

    const { id: done } = await finished(await trigger('echo'));
    await refused(409, `/agent/session/${done}/cancel`, {}, { code: 'session_finished' });
    await refused(404, `/agent/session/${nobody}/cancel`, {}, { code: 'unknown_session' });

    const running = await trigger('slow');
    await post(200, `/agent/session/${running}/cancel`, {});
    slow.open();
    assert.equal((await finished(running)).status, 'cancelled');
  });

  test('a failed session runs again', options, async () => {
    const { id, error } = await failed();
    assert.match(error, /the first try always fails/);
    assert.deepEqual(await post(202, `/agent/session/${id}/retry`), { ok: true, session_id: id, status: 'running' });
    assert.deepEqual((await finished(id)).result, { second: true });
    await refused(409, `/agent/session/${id}/retry`, {}, { code: 'not_failed' });
    await refused(404, `/agent/session/${nobody}/retry`, {}, { code: 'unknown_session' });
  });

  test('messages wait for the answer and arrive in order', options, async () => {
    const { id } = await parked('listens');
    const messages = [contract.example('messageSession', 'text').message, { nested: [1, null, 'ü'] }, null];
    const ids = [];
    for (const message of messages) {
      const queued = await post(202, `/agent/session/${id}/message`, { message });
      assert.equal(queued.status, 'pending_input');
      ids.push(queued.message_id);
    }
    assert.equal(new Set(ids).size, messages.length);
    await post(200, `/agent/answer/${id}`, { answer: 'yes' });
    const { result } = await finished(id);
    assert.deepEqual(result.messages, messages);
    await refused(404, `/agent/session/${nobody}/message`, { message: 1 }, { code: 'unknown_session' });
  });

  test('a session with a parent knows it and may not ask', options, async () => {
    const parent = await parked('listens');
    const { session_id: id } = await post(202, `/agent/webhook/asks-anyway?parent=${parent.id}`, {});
    const child = await finished(id);
    assert.equal(child.parent_id, parent.id);
    assert.equal(child.questions_asked, 0);
    assert.equal(child.status, 'completed', child.error);
    const { answered, outcome, reason } = child.result;
    assert.deepEqual([answered, outcome], [false, 'refused']);
    assert.match(reason, /sub-session/);
    await refused(422, `/agent/webhook/echo?parent=${nobody}`, {}, { field: 'parent' });
    await refused(422, `/agent/webhook/echo?parent=${id}`, {}, { field: 'parent' });  // It is finished.
    await refused(422, `/agent/webhook/echo?parent=${parent.id}&parent=${nobody}`, {}, { field: 'parent' });
  });

  test('a record shows what a session holds, and what the caller may do to it', options, async () => {
    const topic = { topic: 'seams', n: 1e15, deep: [{ '😀': null }] };
    const { id, questions: [question] } = await parked('write-poem', topic);
    const target = `/agent/session/${id}/record`;
    const empty = { id, payload: topic, state: { topic: 'seams' }, resume: null, messages: [], children: [] };
    const may = (cancel, retry, message) => ({ may_cancel: cancel, may_retry: retry, may_message: message });
    const as = closed ? await proof.world.key('sessions:create', 'sessions:read') : undefined;
    assert.deepEqual(await get(200, target), { ...empty, ...may(!closed, false, !closed) });  // A closed world's key only reads.
    assert.deepEqual(await get(200, target, { as }), { ...empty, ...may(true, false, true) });

    const { message_id: said } = await post(202, `/agent/session/${id}/message`, { message: { short: true } });
    const { session_id: child } = await post(202, `/agent/webhook/echo?parent=${id}`, {});
    await finished(child);
    const waiting = await get(200, target);
    assert.deepEqual(waiting.messages.map(({ id: name, body, turn }) => [name, body, turn]), [[said, { short: true }, null]]);
    assert.deepEqual(waiting.children.map(({ id: name, agent_name: agent, status }) => [name, agent, status]), [[child, 'echo', 'completed']]);

    await post(200, `/agent/answer/${id}`, { question_id: question.id, answer: 'haiku' });
    await finished(id);
    const ended = await get(200, target, { as });
    assert.equal(ended.messages[0].turn, 2);
    assert.deepEqual([ended.may_cancel, ended.may_retry, ended.may_message], [false, false, false]);
    const broken = await get(200, `/agent/session/${(await failed()).id}/record`, { as });
    assert.deepEqual([broken.may_cancel, broken.may_retry, broken.may_message], [false, true, false]);
    if (!closed) return;
    const answerer = await proof.world.key('questions:answer', 'sessions:read');
    const { id: open } = await parked('listens');
    const { may_cancel: cancel, may_retry: retry, may_message: message } = await get(200, `/agent/session/${open}/record`, { as: answerer });
    assert.deepEqual([cancel, retry, message], [true, false, false]);
  });

  test('a session starts others, waits for them, and is told how each ended', options, async () => {
    const starts = [{ agent: 'echo', payload: { n: 1 } }, { agent: 'fails-once' }, { agent: 'echo', payload: { n: 2 } }];
    const id = await trigger('splits', { starts });
    const { result, usage, turn } = await finished(id);
    assert.deepEqual([result.tool_call_id, usage, turn], ['toolu_split', null, 2]);
    assert.deepEqual(result.agents.map(({ agent, status, result: brought, error }) => [agent, status, brought, error]), [
      ['echo', 'completed', { n: 1 }, null], ['fails-once', 'failed', null, 'the first try always fails'], ['echo', 'completed', { n: 2 }, null],
    ]);
    const { children } = await get(200, `/agent/session/${id}/record`);
    assert.deepEqual(children.map(({ id: child }) => child), result.agents.map(({ session_id: child }) => child));
    assert.equal((await get(200, `/agent/session/${children[0].id}`)).parent_id, id);
    const { events } = await get(200, `/agent/session/${id}/events`);
    const told = (type) => events.filter((event) => event.type === type).map(({ data }) => data);
    assert.deepEqual(told('agents_spawned'), [{ turn: 1, count: 3, agents: 'echo, fails-once, echo' }]);
    assert.deepEqual(told('sub_session_ended').map(({ sub_session: child, agent, status }) => [child, agent, status]).sort(),
      result.agents.map(({ session_id: child, agent, status }) => [child, agent, status]).sort());
    assert.deepEqual(told('turn_started').map(({ reason }) => reason), ['start', 'agents']);

    const refusal = await finished(await trigger('splits', { starts: [{ agent: 'listens' }] }));
    assert.match(refusal.result.refused.reason, /may not start "listens": its sub_agents do not list it/);
    const { agents } = await get(200, '/agent/agents');
    assert.deepEqual(agents.find(({ name }) => name === 'splits').sub_agents, ['echo', 'fails-once']);
  });

  test('webhooks take any object and nothing else', options, async () => {
    const payload = { 'ключ': ['😀', 1e15, 0.1, null, { deep: {} }], '': '' };
    assert.deepEqual((await finished(await trigger('echo', payload))).result, payload);
    const { session_id: empty } = await post(202, '/agent/webhook/echo');
    assert.deepEqual((await finished(empty)).result, {});
    for (const body of ['[1]', '"text"', '7', 'null', '{', '{"a":1}}', '{"a":NaN}']) await refused(400, '/agent/webhook/echo', body);
    await refused(422, '/agent/webhook/echo', '{"a":[0,{"b":"\\u0000"}]}', { field: 'a[1].b' });
    for (const agent of ['nobody', 'ECHO', 'echo.md', 'gr%C3%BC%C3%9Fe', '%F0%9F%98%80', '%ff%fe', '%00', 'x'.repeat(3000)]) {
      await refused(404, `/agent/webhook/${agent}`, {}, { code: 'unknown_agent', field: 'agent' });
    }
    for (const key of ['k'.repeat(256), 'schl\u00fcssel']) {
      await refused(422, '/agent/webhook/echo', {}, { field: 'Idempotency-Key', headers: { 'Idempotency-Key': key } });
    }
    for (const header of ['webhook-id', 'X-GitHub-Delivery']) {
      const first = await post(202, '/agent/webhook/echo', {}, { headers: { [header]: 'delivery-7' } });
      const second = await post(202, '/agent/webhook/echo', {}, { headers: { [header]: 'delivery-7' } });
      assert.equal(second.session_id, first.session_id, header);
      assert.equal(second.duplicate, true);
    }
  });

  test('deliveries are listed, and sent again when asked', options, async () => {
    const { id } = await parked('write-poem', { topic: 'post' });
    const mine = `/agent/deliveries?session=${id}`;
    const delivery = await eventually('the callback to be delivered', async () => {
      const [found] = (await get(200, `${mine}&status=delivered`)).deliveries;
      return found;
    });
    assert.deepEqual([delivery.event, delivery.destination, delivery.attempts, delivery.last_status], ['question_pending', `${receiver.url}/hook`, 1, 204]);
    const target = `/agent/deliveries/${delivery.id}/redeliver`;
    assert.deepEqual(await post(202, target), { ok: true, delivery_id: delivery.id, status: 'pending' });
    await receiver.take('the repeat of the callback', ({ headers }) => headers['webhook-id'] === delivery.id, 2);
    await eventually('the repeat to be noted', async () => (await get(200, mine)).deliveries[0].status === 'delivered');
    await refused(404, `/agent/deliveries/${nobody}/redeliver`, {}, { code: 'unknown_delivery' });

    const stuck = await parked('broken-callback');
    const pending = await eventually('the first attempt to fail', async () => {
      const [found] = (await get(200, `/agent/deliveries?status=pending&session=${stuck.id}`)).deliveries;
      return found?.last_status ? found : undefined;
    });
    assert.equal(pending.last_status, 500);
    assert.ok(Date.parse(pending.next_attempt_at) > Date.parse(pending.created_at));
    await refused(409, `/agent/deliveries/${pending.id}/redeliver`, {}, { code: 'not_settled' });
  });

  test('the agents are listed by name, without their secrets', options, async () => {
    const { agents } = await get(200, '/agent/agents');
    const names = agents.map(({ name }) => name);
    assert.deepEqual(names, [...names].sort());
    const [poem, approvals] = ['write-poem', 'approvals'].map((wanted) => agents.find(({ name }) => name === wanted));
    const mayAnswer = !closed;  // The key of a closed world may only look.
    assert.deepEqual(poem, {
      name: 'write-poem', runner: 'http', about: '', async_questions: true, model: null, tools: [], mcp_servers: [], sub_agents: [],
      channels: [], callback: true, answerers: [], allow_cancel: true, question_timeout: 3600, on_timeout: 'fail', webhook_verify: 'none', may_answer: mayAnswer, named: false, may_start: !closed,
    });
    assert.deepEqual([approvals.runner, approvals.callback, approvals.may_start], ['external', false, false]);
    assert.ok(!JSON.stringify(agents).includes(receiver.url), 'the list tells the URL of a callback');
    if (!closed) return;
    const seen = async (...scopes) => {
      const as = await proof.world.key(...scopes);
      return (await get(200, '/agent/agents', { as })).agents.find(({ name }) => name === 'write-poem');
    };
    const may = ({ may_answer: answer, may_start: start }) => [answer, start];
    assert.deepEqual(may(await seen('questions:answer', 'questions:read')), [true, false]);
    assert.deepEqual(may(await seen('sessions:create', 'sessions:read')), [false, true]);
    assert.deepEqual(may(await seen('webhook:write-poem', 'questions:read')), [false, true]);
    assert.deepEqual(may(await seen('webhook:echo', 'questions:read')), [false, false]);
  });

  test('operations tell what was done since', options, async () => {
    const before = await get(200, '/agent/operations');
    const { id, questions: [question] } = await parked('listens');
    await post(200, `/agent/answer/${id}`, { question_id: question.id, answer: 'yes' });
    await finished(id);
    await trigger('broken-callback').then(settled);
    const broken = await eventually('a delivery has failed', async () => {
      const report = await get(200, '/agent/operations');
      return report.channels[0].retrying > before.channels[0].retrying && report;
    });
    assert.equal(broken.sessions.completed, before.sessions.completed + 1);
    assert.equal(broken.questions.answered, before.questions.answered + 1);
    const agent = ({ agents }) => agents.find(({ name }) => name === 'listens') ?? { sessions: 0, asked: 0, questions: 0, answered: 0 };
    for (const figure of ['sessions', 'asked', 'questions', 'answered']) assert.equal(agent(broken)[figure], agent(before)[figure] + 1, figure);
    assert.equal(agent(broken).times.reduce((sum, count) => sum + count), agent(broken).answered);
    assert.ok(agent(broken).median_seconds >= 0 && agent(broken).median_seconds <= agent(broken).p95_seconds);
    assert.deepEqual(broken.agents.map(({ name }) => name), broken.agents.map(({ name }) => name).sort());
    assert.deepEqual(broken.channels.map(({ name, set_up }) => [name, set_up]), [['url', true], ['slack', false], ['discord', false], ['email', false]]);
    assert.equal(broken.channels[0].last_error, 'HTTP 500');
    assert.deepEqual(broken.nodes.map(({ live, self, version }) => [live, self, version]), [[true, true, broken.version]]);
  });

  test('lists give everything once, newest first, page by page', options, async () => {
    for (let i = 0; i < 3; i += 1) await post(202, '/agent/ask', { questions: [{ question: `Question ${i}?` }], agent: 'approvals' });
    for (const [key, target] of [
      ['questions', '/agent/questions?agent=approvals'], ['sessions', '/agent/sessions?agent=approvals'], ['deliveries', '/agent/deliveries'],
    ]) {
      const pages = await walk(key, target);
      const whole = (await get(200, `${target}${target.includes('?') ? '&' : '?'}limit=500`))[key];
      assert.ok(whole.length > 1, target);
      assert.equal((await get(200, `${target}${target.includes('?') ? '&' : '?'}limit=${whole.length}`)).next_cursor, null, target);
      assert.deepEqual(pages.map(({ id }) => id), whole.map(({ id }) => id), target);
      const times = whole.map(({ created_at: at }) => at);
      assert.deepEqual(times, [...times].sort().reverse(), `${target} is not newest first`);
    }
    const urgent = await walk('questions', '/agent/questions?status=pending&order=urgent');
    const pending = (await get(200, '/agent/questions?status=pending&order=newest&limit=500')).questions;
    const rank = ({ expires_at: at, id }) => `${at} ${id}`;
    assert.deepEqual(urgent.map(rank), pending.map(rank).sort());
    assert.deepEqual((await get(200, '/agent/questions?status=pending&order=urgent&limit=500')).questions, urgent);
    await refused(422, `/agent/questions?status=pending&order=urgent&cursor=${nobody}`, undefined, { method: 'GET', field: 'cursor' });
    for (const status of ['running', 'pending_input', 'completed', 'failed', 'cancelled']) {
      const { sessions } = await get(200, `/agent/sessions?status=${status}`);
      assert.ok(sessions.every((session) => session.status === status));
    }
    for (const status of ['pending', 'answered', 'timed_out', 'defaulted', 'cancelled']) {
      const { questions } = await get(200, `/agent/questions?status=${status}`);
      assert.ok(questions.length > 0, `no question is ${status}`);
      assert.ok(questions.every((question) => question.status === status));
    }
  });

  test("a session's history is the same as a page and as a stream", options, async () => {
    const id = await trigger('echo');
    await finished(id);
    const target = `/agent/session/${id}/events`;
    const { events } = await get(200, target);
    assert.ok(events.length >= 2, 'a session that ran has a history');
    assert.deepEqual(events.map(({ seq }) => seq), events.map(({ seq }) => seq).sort((a, b) => a - b));
    assert.ok(events.every((event) => event.session_id === id));
    assert.deepEqual((await get(200, `${target}?after=${events[0].seq}`)).events, events.slice(1));
    const page = await get(200, `${target}?limit=1`);
    assert.deepEqual(page, { events: events.slice(0, 1), next_cursor: String(events[0].seq) });
    assert.equal((await get(200, `${target}?limit=${events.length}`)).next_cursor, null);

    const stream = await proof.stream(target);
    try {
      for (const event of events) {
        const frame = await stream.next();
        contract.assertNamed('StateChange', frame.data);
        assert.deepEqual(frame, { id: String(event.seq), event: 'state_change', data: event });
      }
    } finally {
      stream.close();
    }
  });

  test('the stream of everything resumes without a gap or a repeat', options, async () => {
    const first = await proof.stream('/agent/events');
    const id = await trigger('echo');
    await finished(id);
    const { events } = await get(200, `/agent/session/${id}/events`);
    const take = async (stream, wanted) => {
      const got = [];
      while (got.length < wanted.length) {
        const frame = await stream.next();
        assert.equal(frame.event, 'state_change');
        contract.assertNamed('StateChange', frame.data);
        assert.equal(frame.id, String(frame.data.seq));
        if (frame.data.session_id === id) got.push(frame.data);
      }
      assert.deepEqual(got, wanted);
    };
    await take(first, events);
    first.close();
    const resumed = await proof.stream('/agent/events', { 'last-event-id': String(events[0].seq) });
    await take(resumed, events.slice(1));
    resumed.close();
    for (const lastSeen of ['yesterday', '-1', '1.5', '99999999999999999999']) {
      await refused(422, '/agent/events', undefined, { method: 'GET', field: 'Last-Event-ID', headers: { 'last-event-id': lastSeen } });
    }
  });

  test('a stream of some types hears of nothing else, and goes on where it broke off', options, async () => {
    const wanted = ['session_started', 'question_asked', 'question_answered'];
    const first = await proof.stream(`/agent/events?types=${wanted.join()}`);
    const take = async (stream, id, types) => {
      for (const type of types) {
        const { data } = await stream.next();
        contract.assertNamed('StateChange', data);
        assert.deepEqual([data.session_id, data.type], [id, type]);
      }
    };
    const { id, questions: [question] } = await parked('listens');
    await take(first, id, ['session_started', 'question_asked']);
    first.close();
    await post(200, `/agent/answer/${id}`, { question_id: question.id, answer: 'yes' });
    await finished(id);
    const { events } = await get(200, `/agent/session/${id}/events`);
    const resumed = await proof.stream('/agent/events?types=session_completed', { 'last-event-id': String(events[0].seq) });
    await take(resumed, id, ['session_completed']);
    resumed.close();
    for (const type of contract.document.components.schemas.StateChangeType.enum) {
      (await proof.stream(`/agent/events?types=${type}`)).close();
    }
  });

  test('a stream that knows more than there is hears what comes next', options, async () => {
    // As after a database was replaced by an older one.
    const ahead = await proof.stream('/agent/events', { 'last-event-id': '999999999' });
    try {
      const id = await trigger('echo');
      assert.equal((await ahead.next()).data.session_id, id);
    } finally {
      ahead.close();
    }
  });

  test('an ask that breaks a rule is refused by name, and nothing is stored', options, async () => {
    const question = { question: 'Which?', options: ['a', 'b'] };
    const one = (change) => ({ questions: [{ ...question, ...change }] });
    const before = (await get(200, '/agent/sessions?limit=500')).sessions.length;
    const nested = (depth) => `{"questions":[{"question":"Which?"}],"context":{"a":${'['.repeat(depth)}${']'.repeat(depth)}}}`;
    const unreadable = [
      '',
      ' \n',
      '{"questions":',
      '[]',
      '"Which?"',
      nested(70),
      nested(100_000 - 100),
      Buffer.concat([Buffer.from('{"questions":[{"question":"'), Buffer.from([0xc3, 0x28]), Buffer.from('"}]}')]),
      '{"questions":[{"question":"\\ud800"}]}',
      '{"questions":[{"question":"Which?"}],"timeout":1e400}',
    ];
    const broken = [
      [{}, 'questions'],
      [{ questions: [] }, 'questions'],
      [{ questions: Array.from('abcde', (letter) => ({ question: letter })) }, 'questions'],
      [{ questions: 'Which?' }, 'questions'],
      [{ questions: ['Which?'] }, 'questions[0]'],
      [{ questions: [question, question] }, 'questions[1].question'],
      [{ questions: [question], colour: 'red' }, 'colour'],
      [{ questions: [question], timeout: 0 }, 'timeout'],
      [{ questions: [question], timeout: -1 }, 'timeout'],
      [{ questions: [question], timeout: 86_401 }, 'timeout'],
      [{ questions: [question], timeout: 2 ** 63 }, 'timeout'],
      [{ questions: [question], timeout: 1.5 }, 'timeout'],
      [{ questions: [question], timeout: '60' }, 'timeout'],
      [{ questions: [question], on_timeout: 'shrug' }, 'on_timeout'],
      [{ questions: [question], on_timeout: 'default' }, 'questions[0].default'],
      [{ questions: [question], context: 'none' }, 'context'],
      [{ questions: [question], context: { a: 'x'.repeat(65_536) } }, 'context'],
      [{ questions: [question], tool_call_id: 7 }, 'tool_call_id'],
      [{ questions: [question], tool_call_id: 'x'.repeat(201) }, 'tool_call_id'],
      [{ questions: [question], agent: 7 }, 'agent'],
      [{ questions: [question], idempotency_key: '' }, 'idempotency_key'],
      [{ questions: [question], idempotency_key: 'ü' }, 'idempotency_key'],
      [{ questions: [question], dedupe: 'yes' }, 'dedupe'],
      [{ questions: [question], payload: [] }, 'payload'],
      [{ questions: [question], channels: 'slack' }, 'channels'],
      [{ questions: [question], channels: [7] }, 'channels[0]'],
      [{ questions: [question], channels: ['url', 'fax'] }, 'channels[1]'],
      [{ questions: [question], channels: ['slack:'] }, 'channels[0]'],
      [{ questions: [question], channels: ['slack:#ops, #dev'] }, 'channels[0]'],
      [{ questions: [question], channels: ['discord:#ops'] }, 'channels[0]'],
      [{ questions: [question], channels: ['email:ana'] }, 'channels[0]'],
      [{ questions: [question], channels: ['email:ana@example.org\r\nBcc: eve@example.org'] }, 'channels[0]'],
      [{ questions: [question], channels: ['url', 'slack:#ops'] }, 'channels[1]'],  // None of these is set up.
      [{ questions: [question], channels: ['discord:80351110224678912'] }, 'channels[0]'],
      [{ questions: [question], channels: ['email:ana@example.org'] }, 'channels[0]'],
      [one({ question: '' }), 'questions[0].question'],
      [one({ question: 'x'.repeat(4001) }), 'questions[0].question'],
      [one({ question: undefined }), 'questions[0].question'],
      [one({ question: 'a\u0000b' }), 'questions[0].question'],
      [one({ prompt: 'Which?' }), 'questions[0].prompt'],
      [one({ header: 'x'.repeat(13) }), 'questions[0].header'],
      [one({ options: ['a'] }), 'questions[0].options'],
      [one({ options: Array.from('abcdef') }), 'questions[0].options'],
      [one({ options: ['a', 'a'] }), 'questions[0].options[1]'],
      [one({ options: ['a', ''] }), 'questions[0].options[1]'],
      [one({ options: ['a', 'x'.repeat(201)] }), 'questions[0].options[1]'],
      [one({ options: ['a', 7] }), 'questions[0].options[1]'],
      [one({ options: ['a', {}] }), 'questions[0].options[1].label'],
      [one({ options: ['a', { label: 'b', color: 'red' }] }), 'questions[0].options[1].color'],
      [one({ options: ['a', { label: 'b', description: 'x'.repeat(1001) }] }), 'questions[0].options[1].description'],
      [one({ options: ['a', { label: 'b', emoji: 'x'.repeat(17) }] }), 'questions[0].options[1].emoji'],
      [one({ options: [{ label: 'a', recommended: true }, { label: 'b', recommended: true }] }), 'questions[0].options'],
      [one({ multi_select: 'yes' }), 'questions[0].multi_select'],
      [one({ multi_select: true, multiSelect: true }), 'questions[0].multiSelect'],
      [one({ options: [], allow_other: false }), 'questions[0].allow_other'],
      [one({ allow_other: false, default: 'c' }), 'questions[0].default'],
      [one({ default: ['a', 'b'] }), 'questions[0].default'],
      [one({ default: '' }), 'questions[0].default'],
      [one({ style: 'carousel' }), 'questions[0].style'],
      [one({ urgent: true }), 'questions[0].urgent'],
      [one({ 'a\u0000': 1 }), 'questions[0]'],
      ['{"questions":[{"question":"Which?","question":"What?"}]}', 'questions[0].question'],
    ];
    // What cannot be read at all is a 400, what can be read but breaks a rule a 422.
    for (const body of unreadable) await refused(400, '/agent/ask', body);
    for (const [body, field] of broken) await refused(422, '/agent/ask', body, { field });
    assert.equal((await get(200, '/agent/sessions?limit=500')).sessions.length, before);
    await post(202, '/agent/ask', one({ options: Array.from('abcde'), header: '😀'.repeat(12) }));
  });

  test('each call refuses what it does not take, and changes nothing', options, async () => {
    const broken = await failed();
    const { id } = await parked('write-poem', { topic: 'order' });
    const before = await settled(id);
    const delivery = await eventually('a delivered callback', async () => (await get(200, `/agent/deliveries?session=${id}&status=delivered`)).deliveries[0]);
    const values = { agent: 'echo', session: id, delivery: delivery.id, question: before.questions[0].id, key: '0'.repeat(16), user: 'nobody' };
    for (const { path: template, requestBody, operationId, tags } of contract.operations()) {
      // What others call as they always did has rules of its own.
      if (!requestBody?.content['application/json'] || ['Channels', 'HumanLayer', 'MCP'].some((tag) => tags.includes(tag))) continue;
      const target = template.replace(/\{(\w+)\}/g, (_, name) => (operationId === 'retrySession' ? broken.id : values[name]));
      await refused(413, target, `{"a":"${'x'.repeat(maxBodyBytes)}"}`);
      await refused(415, target, 'answer=haiku', { type: 'application/x-www-form-urlencoded' });
      await refused(415, target, '<answer>haiku</answer>', { type: 'text/xml' });
      await refused(400, target, '{"answer": haiku}');
      await refused(400, target, '[]');
      await refused(400, target, `{"a":${'['.repeat(70)}${']'.repeat(70)}}`);
      await refused(422, `${target}?surprise=true`, {}, { field: 'surprise' });
      if (operationId !== 'triggerAgent') await refused(422, target, { surprise: true }, { field: 'surprise' });
    }
    for (const reason of [7, '', ' ', 'x'.repeat(1001), 'a\u0000b']) await refused(422, `/agent/session/${id}/cancel`, { reason }, { field: 'reason' });
    await refused(422, `/agent/session/${id}/message`, {}, { field: 'message' });
    await refused(400, `/agent/session/${id}/message`, '');
    assert.deepEqual(await settled(id), before);
    assert.equal((await settled(broken.id)).status, 'failed');
    assert.equal((await get(200, `/agent/deliveries?session=${id}`)).deliveries[0].status, 'delivered');
  });

  test('reads refuse parameters that make no sense', options, async () => {
    const { id, questions: [question] } = await parked('listens');
    for (const [target, wrong] of [
      ['/agent/questions', ['status=open', 'status=PENDING', 'limit=0', 'limit=501', 'limit=many', 'limit=1.5', 'cursor=nonsense', 'colour=red', 'order=oldest', 'order=urgent', 'order=urgent&status=answered']],
      [`/agent/questions/${question.id}`, ['wait=56', 'wait=-1', 'wait=soon', 'wait=0x5', 'wait=99999999999999999999', 'wait=1&wait=2', 'WAIT=1']],
      ['/agent/sessions', ['status=open', 'limit=0', 'cursor=nonsense', 'session=any']],
      [`/agent/session/${id}`, ['wait=56', 'until=later', 'wait=1&wait=2']],
      [`/agent/session/${id}/events`, ['after=first', 'after=-1', 'limit=0', 'cursor=1']],
      [`/agent/session/${id}/record`, ['limit=1']],
      ['/agent/events', ['after=1', 'types=question_asked,', 'types=question_lost', 'types=question_asked,%20turn_failed', 'types=turn_failed&types=turn_started']],
      ['/agent/deliveries', ['status=lost', 'limit=0', 'cursor=nonsense']],
      ['/agent/operations', ['limit=1', 'agent=echo']],
      ['/agent/audit', ['after=first', 'after=-1', 'limit=0', 'limit=1001', 'cursor=1']],
      ['/agent/audit/verify', ['after=1', 'expect=a&expect=b']],
      ['/agent/keys', ['status=live']],
      ['/agent/users', ['role=admin']],
      ['/agent/me', ['csrf=1']],
      ['/agent/agents', ['name=echo']],
    ]) {
      for (const query of wrong) await refused(422, `${target}?${query}`, undefined, { method: 'GET', field: query.split('=')[0] });
    }
    for (const unknown of [nobody, 'nonsense', '%27%20OR%201=1', '%00', '%ff', 'x'.repeat(3000)]) {
      await refused(404, `/agent/questions/${unknown}`, undefined, { method: 'GET', code: 'unknown_question' });
      for (const rest of ['', '/events', '/record']) await refused(404, `/agent/session/${unknown}${rest}`, undefined, { method: 'GET', code: 'unknown_session' });
    }
    assert.deepEqual((await get(200, `/agent/questions?session=${nobody}`)).questions, []);
  });

  test('ids may be written in capitals', options, async () => {
    const { id, questions: [question] } = await parked('listens');
    assert.equal((await get(200, `/agent/session/${id.toUpperCase()}`)).id, id);
    assert.equal((await get(200, `/agent/questions/${question.id.toUpperCase()}`)).id, question.id);
    await post(200, `/agent/answer/${id.toUpperCase()}`, { question_id: question.id, answer: 'yes' });
  });
});
