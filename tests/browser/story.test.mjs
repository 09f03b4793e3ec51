// A session's story as rows and as a strip, from what real sessions told: stories.json, written by capture_stories.mjs.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { story } from '../../src/web/story.js';
import { deliveriesText, deliveryText, stepText, stepsText, subText } from '../../src/web/story_words.js';
import { inWords, layOut, marks, stretches } from '../../src/web/strip.js';
import { dollars } from '../../src/web/usage_words.js';

const stories = JSON.parse(readFileSync(new URL('stories.json', import.meta.url), 'utf8'));
const rowsOf = (name, more = {}) => story({ ...stories[name], ...more });
// Times differ from one capture to the next.
const timeless = (text) => text.replace(/\d+(\.\d)? (ms|s)\b/g, 'T').replace(/127\.0\.0\.1:\d+/, 'HOST');
const told = (name, more) => rowsOf(name, more).map(({ kind, text, quote }) => timeless(`${kind}: ${text}${quote ? ` ${quote}` : ''}`));

test('a session with one question reads from its trigger to its result, with who answered what and where', () => {
  assert.deepEqual(told('poem'), [
    'start: write-poem was started',
    'turn: Turn 1 began and asked 1 question',
    'ask: Asked: What style would you prefer?',
    'answer: ana answered through the API after T “haiku”',
    'turn: Turn 2 took up the answer and gave the result',
    'end: Completed',
  ]);
  const rows = rowsOf('poem');
  assert.deepEqual(rows.filter(({ took }) => took > 0).map(({ kind }) => kind), ['turn', 'ask', 'turn']);
  assert.deepEqual(rows[4].output, ['writing about love as haiku']);
});

test('a question that waits is an open ask, and its row keeps its key when it is answered', () => {
  const [, , open] = rowsOf('waiting');
  assert.equal(open.over, false);
  assert.equal(open.tone, 'warn');
  const [, , over] = rowsOf('poem');
  assert.equal(over.over, true);
  assert.equal(over.key, open.key);
});

test('questions asked together are one row, and each answer names its question', () => {
  assert.deepEqual(told('batch').slice(2, 6), [
    'ask: Asked 3 questions',
    'answer: ana answered Environment through the API after T “staging”',
    'answer: ben answered Checks through the API after T “unit tests”, “load test”',
    'answer: ana answered Note through the API after T “after lunch”',
  ]);
  assert.deepEqual(rowsOf('batch')[2].questions.map(({ header, status }) => `${header} ${status}`),
    ['Environment answered', 'Checks answered', 'Note answered']);
});

test('a turn that was tried again is one row with all its attempts, their reasons and waits', () => {
  assert.deepEqual(told('flaky'), ['start: flaky was started', 'turn: Turn 1 began and gave the result', 'end: Completed']);
  const { attempts } = rowsOf('flaky')[1];
  assert.deepEqual(attempts.map(({ number, outcome, reason }) => [number, outcome, reason]),
    [[1, 'failed', 'the index is locked'], [2, 'failed', 'the index is locked'], [3, 'completed', '']]);
  assert.ok(attempts[0].retryIn > 0 && attempts[1].retryIn > attempts[0].retryIn);
});

test('a failure for good is told once, and a retry begins a new row for the same turn', () => {
  assert.deepEqual(told('retried'), [
    'start: broken was started',
    'turn: Turn 1 began and failed',
    'end: Failed',
    'retry: Turn 1 was tried again by hand',
    'turn: Turn 1 began and gave the result',
    'end: Completed',
  ]);
  const [, turn, end] = rowsOf('failed');
  assert.deepEqual([turn.lines, end.lines, turn.tone, end.tone], [['no such table'], [], 'bad', 'bad']);
});

test('a cancelled session says why', () => {
  assert.deepEqual(told('cancelled'), [
    'start: caller was started', 'ask: Asked: Restart the importer?', 'cancel: The question was called off after T', 'end: Cancelled',
  ]);
  assert.deepEqual(rowsOf('cancelled').at(-1).lines, ['the user cancelled the question: not needed any more']);
});

test('a deadline that passed tells what followed: the end, or the default', () => {
  assert.deepEqual(told('timed_out').slice(-2), ['expiry: Nobody answered in time (T)', 'end: Failed']);
  assert.deepEqual(told('defaulted').slice(-3), [
    'expiry: Nobody answered in time (T); the default counts “No”', 'turn: Turn 2 took up the answer and gave the result', 'end: Completed',
  ]);
});

test('a message shows with its text, and the turn that it kept from ending', () => {
  const { data } = stories.message.events.find(({ type }) => type === 'message_queued');
  const messages = [{ id: data.message, body: 'hurry up', turn: 2 }];
  assert.deepEqual(told('message', { messages }), [
    'start: listening was started',
    'turn: Turn 1 began and had a result, but a message came first',
    'message: A message was sent to the agent',
    'turn: Turn 2 read a message and wants another turn',
    'turn: Turn 3 carried on and gave the result',
    'end: Completed',
  ]);
  assert.equal(rowsOf('message', { messages })[2].body, 'hurry up');
  assert.deepEqual(rowsOf('message', { messages: [{ ...messages[0], turn: null }] })[2].lines, ['It waits for the next turn.']);
});

test('a sub-session names its parent, and an ask that was refused says why', () => {
  const rows = rowsOf('sub_session');
  assert.equal(rows[0].parent, stories.sub_session.session.parent_id);
  assert.deepEqual(told('sub_session').slice(0, 3), [
    'start: asking was started by another session', 'turn: Turn 1 began and asked for what it may not have', 'turn: Turn 2 was told that it may not and gave the result',
  ]);
  assert.deepEqual(rows[1].lines, ['a sub-session may not ask people; leave the question to its parent']);
});

// Events a second apart, from `[type, data]`.
const eventsOf = (all) => all.map(([type, data = {}], seq) => ({ seq, type, at: new Date(seq * 1000).toISOString(), data }));
const replied = (turn, calls, more = {}) => ['model_replied',
  { turn, model: 'anthropic/sonnet', stop_reason: calls ? 'tool_use' : 'end_turn', tool_calls: calls, input_tokens: 1200, output_tokens: 300, took_ms: 900, ...more }];
const ran = (turn, tool, outcome = 'done') => ['tool_ran', { turn, tool, tool_call_id: 'toolu_1', outcome, took_ms: 80 }];
const began = (turn, attempt, reason) => ['turn_started', { turn, attempt, reason }];

test('what a model agent does in a turn stands in that turn, step by step and as a sum', () => {
  const events = eventsOf([
    ['session_started', { agent: 'triage' }], began(1, 1, 'start'), replied(1, 2), ran(1, 'get_issue'), ran(1, 'add_label', 'error'),
    ['turn_failed', { turn: 1, attempt: 1, reason: 'HTTP 429', retry_in_ms: 500 }], began(1, 1, 'start'), replied(1, 0), ['session_completed'],
  ]);
  const rows = story({ session: { status: 'completed' }, events });
  assert.deepEqual(rows.map(({ kind, text }) => `${kind}: ${text}`),
    ['start: triage was started', 'turn: Turn 1 began and gave the result', 'end: Completed']);
  assert.deepEqual(rows[1].steps.map(stepText), [
    'The model replied, asked for 2 tools (1,200 tokens in, 300 out)', 'get_issue ran', 'add_label failed', 'The model replied (1,200 tokens in, 300 out)',
  ]);
  assert.equal(stepsText(rows[1].steps), '2 replies of anthropic/sonnet · 2 tools ran, 1 failed · 2,400 tokens in, 600 out');
  assert.deepEqual(rows[1].attempts.map(({ outcome }) => outcome), ['failed', 'completed']);
});

test('a card is told with what it says and where it went, and an ask that was joined says so', () => {
  const id = '00000000-07d0-7000-8000-000000000001';  // Owed two seconds in.
  const events = eventsOf([
    ['session_started', { agent: 'external' }], ['card_posted', { agent: 'external', channels: 'slack' }], ['session_completed'],
    ['delivery_sent', { delivery: id, notice: 'card_posted', channel: 'slack', host: 'slack.com', attempt: 1, status: 200 }],
  ]);
  const rows = story({ session: { status: 'completed' }, events, payload: { title: 'Build 118', message: 'All green.' } });
  assert.deepEqual(rows.map(({ kind, text }) => `${kind}: ${text}`), ['start: external was started', 'card: external told people: Build 118', 'end: Completed']);
  assert.deepEqual([rows[1].body, rows[1].lines, rows[1].deliveries.map(({ status }) => status)], ['All green.', [], ['sent']]);
  const [, alone] = story({ session: { status: 'completed' }, events: eventsOf([['session_started', { agent: 'a' }], ['card_posted', { agent: 'a', channels: '' }]]) });
  assert.deepEqual([alone.text, alone.lines], ['a told people something', ['It was sent to nobody; it stands here.']]);
  const [joined] = story({ session: { status: 'pending_input' }, events: eventsOf([['ask_joined', { agent: 'a' }]]) });
  assert.equal(joined.text, 'The same was asked again; it joined this one');
});

test('why a model stopped is told where it matters', () => {
  const [turn] = story({ session: { status: 'running' }, events: eventsOf([began(1, 1, 'start'), replied(1, 0, { stop_reason: 'max_tokens' })]) });
  assert.equal(stepText(turn.steps[0]), 'The model was cut off: too long (1,200 tokens in, 300 out)');
  assert.equal(stepText({ ...turn.steps[0], stop: 'pause_turn' }), 'The model paused (1,200 tokens in, 300 out)');
});

test('sub-agents are one row, that says of each how it ended and after how long', () => {
  const ended = (id, agent, status) => ['sub_session_ended', { sub_session: id, agent, status }];
  const all = [
    began(1, 1, 'start'), replied(1, 1), ['agents_spawned', { turn: 1, count: 3, agents: 'researcher, researcher, critic' }],
    ended('b', 'researcher', 'completed'), ended('c', 'critic', 'failed'), ended('a', 'researcher', 'completed'),
    ['session_resumed', { reason: 'agents' }], began(2, 1, 'agents'), replied(2, 0), ['session_completed'],
  ];
  const children = ['a', 'b', 'c'].map((id, i) => ({ id, agent_name: ['researcher', 'researcher', 'critic'][i], status: 'running', created_at: eventsOf(all)[2].at }));
  const other = { id: 'x', agent_name: 'critic', status: 'running', created_at: new Date(9000).toISOString() };
  const tell = (count) => story({ session: { status: 'running' }, events: eventsOf(all.slice(0, count)), children: [...children, other] });

  const waiting = tell(4);
  assert.deepEqual(waiting.map(({ kind, text }) => `${kind}: ${text}`), ['turn: Turn 1 began and started 3 sub-agents', 'agents: 3 sub-agents started']);
  assert.deepEqual(waiting[1].subs.map((sub) => `${sub.id} ${sub.agent} ${subText(sub)}`), ['a researcher is running', 'b researcher completed after 1.0 s', 'c critic is running']);
  assert.equal(waiting[1].took, null);

  const over = tell(all.length);
  assert.deepEqual(over[1].subs.map(subText), ['completed after 3.0 s', 'completed after 1.0 s', 'failed after 2.0 s']);
  assert.deepEqual([over[1].took, over[1].tone, over[1].key], [3000, 'warn', waiting[1].key]);
  assert.equal(over[2].text, 'Turn 2 took up what its sub-agents brought and gave the result');
  // Without the record, those that ended are known all the same.
  const alone = story({ session: { status: 'completed' }, events: eventsOf(all) })[1];
  assert.deepEqual([alone.subs.map(({ id }) => id), alone.names], [['b', 'c', 'a'], 'researcher, researcher, critic']);
});

test('the strip tells waiting for sub-agents from work', () => {
  const events = eventsOf([
    ['session_started', { agent: 'a' }], began(1, 1, 'start'), replied(1, 1), ['agents_spawned', { turn: 1, count: 1, agents: 'b' }],
    ['sub_session_ended', { sub_session: 's', agent: 'b', status: 'completed' }], ['session_resumed', { reason: 'agents' }], began(2, 1, 'agents'), ['session_completed'],
  ]);
  const all = stretches(events, 99_000);
  assert.deepEqual(all.map(({ kind, ms }) => [kind, ms]), [['queue', 1000], ['work', 2000], ['agents', 2000], ['queue', 1000], ['work', 1000]]);
  assert.match(inWords({}, all, marks(events)), /sub-agents were waited for 2\.0 s/);
});

test('dollars have cents, or the two figures that count', () => {
  assert.deepEqual([0, 0.000004, 0.0123, 0.1, 0.996, 3.04185, 1234.5].map(dollars), ['$0', '$0.000004', '$0.012', '$0.10', '$1.00', '$3.04', '$1,234.50']);
});

test('deliveries stand under the ask or the end that they tell of, with all attempts', () => {
  const rows = rowsOf('called');
  assert.deepEqual(rows.find(({ kind }) => kind === 'ask').deliveries.map((one) => timeless(deliveryText(one))),
    ['Callback to HOST: sent at the 2nd attempt', 'Callback to HOST with how it ended: sent']);
  assert.deepEqual(rows.at(-1).deliveries.map((one) => timeless(deliveryText(one))), ['Callback to HOST with the result: sent']);
  const [first] = rows.find(({ kind }) => kind === 'ask').deliveries;
  assert.deepEqual(first.attempts.map(({ number, ok, reason }) => [number, ok, reason]), [[1, false, 'HTTP 500'], [2, true, '']]);
  assert.ok(first.attempts[0].retryIn > 1000);
});

test('a delivery that was given up says so, and who wants no more', () => {
  const ask = rowsOf('gone').find(({ kind }) => kind === 'ask');
  assert.deepEqual(ask.deliveries.map(({ status, reason }) => [status, reason]), [['dead', 'HTTP 410']]);
  assert.equal(deliveriesText(ask.deliveries), '1 delivery: 1 given up');
  assert.ok(told('gone').includes('aside: HOST wants no more messages'));
});

test('a delivery that is tried again after the next ask still belongs to its own', () => {
  const base = Date.parse('2026-01-01T00:00:00Z');
  const at = (seconds) => new Date(base + seconds * 1000).toISOString();
  const idAt = (seconds) => `${(base + seconds * 1000).toString(16).padStart(12, '0').replace(/^(.{8})/, '$1-')}-7000-8000-000000000001`;
  const facts = (seconds) => ({ delivery: idAt(seconds), notice: 'question_pending', channel: 'slack', host: 'slack:C1', attempt: 1 });
  const events = [
    ['session_started', 0, { agent: 'a' }], ['question_asked', 1, { question: 'q1' }], ['question_answered', 2, { question: 'q1', by: 'ana', via: 'slack' }],
    ['question_asked', 3, { question: 'q2' }], ['delivery_sent', 4, facts(1)], ['delivery_obsolete', 5, facts(3)],
  ].map(([type, seconds, data], seq) => ({ seq, type, at: at(seconds), data }));
  const asks = story({ session: { status: 'pending_input' }, events }).filter(({ kind }) => kind === 'ask');
  assert.deepEqual(asks.map(({ deliveries }) => deliveries.map(({ status }) => status)), [['sent'], ['obsolete']]);
});

test('a turn that another node took over goes on, though its first holder comes back', () => {
  const events = [
    ['turn_started', { turn: 1, attempt: 1, reason: 'start' }], ['turn_started', { turn: 1, attempt: 2, reason: 'start' }],
    ['turn_discarded', { turn: 1, lease: 1, reason: 'its lease was lost' }], ['session_completed', {}],
  ].map(([type, data], seq) => ({ seq, type, at: new Date(seq * 1000).toISOString(), data }));
  const [turn] = story({ session: { status: 'completed' }, events });
  assert.deepEqual(turn.attempts.map(({ outcome }) => outcome), ['lost', 'completed']);
  assert.deepEqual([turn.text, turn.lines], ['Turn 1 began and gave the result', ['An attempt came back too late; nothing of it was kept.']]);
  assert.deepEqual(stretches(events, 9000).map(({ kind, ms }) => [kind, ms]), [['work', 1000], ['work', 2000]]);
});

test('what is not known does not stop the story: no questions, no begin, events of a later version', () => {
  assert.deepEqual(told('poem', { questions: [] }).slice(2, 4), ['ask: Asked a question', 'answer: ana answered through the API after T']);
  const later = { seq: 1, type: 'moon_landed', at: '2026-01-01T00:00:00Z', data: { reason: 'why not' } };
  const headless = stories.poem.events.slice(3);
  assert.deepEqual(told('poem', { events: [...headless, { ...later, seq: 999 }] }), [
    'answer: ana answered through the API “haiku”', 'turn: Turn 2 took up the answer and gave the result', 'end: Completed', 'aside: moon landed',
  ]);
  assert.deepEqual(told('poem', { events: [] }), []);
});

test('the strip covers the story from begin to end, and milliseconds stay visible beside days', () => {
  const kLate = 3 * 86_400_000;
  const events = [
    ['session_started', 0], ['turn_started', 0, { turn: 1 }], ['question_asked', 40],
    ['session_resumed', kLate], ['turn_started', kLate, { turn: 2 }], ['session_completed', kLate + 5],
  ].map(([type, ms, data = {}], seq) => ({ seq, type, at: new Date(Date.UTC(2026, 0, 1) + ms).toISOString(), data }));
  const placed = layOut(stretches(events, Date.now()), []).stretches;
  assert.deepEqual(placed.map(({ kind, ms }) => [kind, ms]), [['work', 40], ['wait', kLate - 40], ['work', 5]]);
  assert.ok(Math.min(...placed.map(({ width }) => width)) > 8, 'a turn of 5 ms is not to be seen');
  assert.ok(placed[1].width > placed[0].width + placed[2].width, 'three days look short');
  assert.ok(Math.abs(placed.at(-1).x + placed.at(-1).width - 100) < 1e-9);
});

test('the strip tells work that failed from work that did not, and says it all in words', () => {
  const { events, session } = stories.flaky;
  const all = stretches(events, Date.now());
  assert.deepEqual(all.map(({ kind, failed }) => [kind, failed]), [['work', true], ['pause', false], ['work', true], ['pause', false], ['work', false]]);
  assert.match(inWords(session, all, marks(events)), /the agent worked 3 times, .* in all; .* went by between attempts; failures: 2/);
});

test('a story of thousands of steps is a strip of few stretches, and marks that would lie on each other are one', () => {
  const at = (i) => new Date(i * 100).toISOString();
  const events = Array.from({ length: 4000 }, (_, i) => ({ seq: i, type: i % 2 ? 'turn_continued' : 'turn_started', at: at(i), data: { turn: i >> 1 } }));
  const placed = layOut(stretches(events, 500_000), Array.from({ length: 50 }, (_, i) => ({ kind: 'sent', at: 200_000 + i, title: `${i}` })));
  assert.ok(placed.stretches.length <= 24);
  assert.equal(placed.stretches.filter(({ kind }) => kind === 'more').length, 1);
  assert.deepEqual(placed.marks.map(({ count, titles }) => [count, titles.length]), [[50, 5]]);
});

test('marks keep their distance', () => {
  const placed = layOut([{ kind: 'wait', from: 0, to: 1000, ms: 1000 }], [
    { kind: 'sent', at: 999, title: 'a' }, { kind: 'answer', at: 1000, title: 'b' }, { kind: 'failed', at: 1000, title: 'c' },
  ], 5);
  assert.deepEqual(placed.marks.map(({ x }) => x), [87.5, 92.5, 97.5]);
});
