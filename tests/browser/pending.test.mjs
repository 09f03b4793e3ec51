// What the inbox knows and says, without a browser.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newDraft, pick, pickOther, valueOf } from '../../src/web/draft.js';
import { makeOutbox } from '../../src/web/outbox.js';
import { Pending, arrange, facets, timeLeft } from '../../src/web/pending.js';
import { atDeadline, endingLine, news, whoMayAnswer } from '../../src/web/wording.js';

const at = (second) => new Date(Date.UTC(2026, 0, 1, 0, 0, second)).toISOString();
const question = (id, more = {}) => ({
  id, session_id: `s-${id}`, ask: 1, position: 0, agent_name: 'caller', question: `Question ${id}?`, header: null, context: {},
  options: [], choices: [], multi_select: false, allow_other: true, channels: [], status: 'pending', on_timeout: 'fail', default: null,
  created_at: at(0), expires_at: at(3600), answer: null, answered_by: null, answered_via: null, settled_at: null, ...more,
});
const ids = (asks) => asks.map((ask) => ask.id);

test('questions of one ask are one entry, in their order, and those of another turn are another', () => {
  const pending = new Pending();
  const batch = { session_id: 's' };
  assert.deepEqual(pending.put([question('c', { ...batch, position: 2 }), question('a', { ...batch, position: 0 })]), ['s/1']);
  assert.deepEqual(pending.put([question('b', { ...batch, position: 1 }), question('z', { ...batch, ask: 2 })]), ['s/2']);
  assert.deepEqual(pending.asks.get('s/1').questions.map(({ id }) => id), ['a', 'b', 'c']);
  assert.equal(pending.asks.get('s/1').text, 'Question a?');
  assert.equal(pending.asks.size, 2);
});

test('an ask stays the same object until something about it changes', () => {
  const pending = new Pending();
  pending.put([question('a')]);
  const before = pending.askOf('a');
  pending.put([question('a')]);
  assert.equal(pending.askOf('a'), before);
  pending.put([question('a', { channels: ['slack'] })]);
  assert.deepEqual(pending.askOf('a').channels, ['slack']);
});

test('a settled question leaves its ask, and no late page brings it back; a dropped one may come back', () => {
  const pending = new Pending();
  const batch = { session_id: 's' };
  const both = [question('a', { ...batch }), question('b', { ...batch, position: 1 })];
  pending.put(both);
  assert.equal(pending.settle('a'), 's/1');
  assert.deepEqual(pending.asks.get('s/1').questions.map(({ id }) => id), ['b']);
  pending.put(both);
  assert.equal(pending.askOf('a'), undefined);
  assert.equal(pending.drop('b'), 's/1');
  assert.equal(pending.asks.size, 0);
  assert.deepEqual(pending.put(both), ['s/1']);
  assert.equal(pending.settle('nobody knows it'), undefined);
});

test('asks are sorted by age or by deadline, and filtered by agent, channel, whose they are and words', () => {
  const pending = new Pending();
  pending.put([
    question('old', { created_at: at(1), expires_at: at(5000), agent_name: 'deploy', channels: ['slack'] }),
    question('new', { created_at: at(9), expires_at: at(9000), options: ['Über Nacht'] }),
    question('mid', { created_at: at(5), expires_at: at(400), header: 'Prices', context: { shop: 'Main Street' } }),
  ]);
  const asks = [...pending.asks.values()];
  assert.deepEqual(ids(arrange(asks)), ['new', 'mid', 'old']);
  assert.deepEqual(ids(arrange(asks, { order: 'urgent' })), ['mid', 'old', 'new']);
  assert.deepEqual(ids(arrange(asks, { agent: 'deploy' })), ['old']);
  assert.deepEqual(ids(arrange(asks, { channel: 'slack' })), ['old']);
  assert.deepEqual(ids(arrange(asks, { channel: 'inbox' })), ['new', 'mid']);
  assert.deepEqual(ids(arrange(asks, { agents: new Set(['deploy']) })), ['old']);
  for (const [search, found] of [['street main', ['mid']], ['PRICES', ['mid']], ['über', ['new']], ['question', ['new', 'mid', 'old']], ['nowhere', []]]) {
    assert.deepEqual(ids(arrange(asks, { search })), found, search);
  }
  assert.deepEqual(facets(asks), { agents: ['caller', 'deploy'], channels: ['inbox', 'slack'] });
});

test('time left is told in words that get stronger', () => {
  assert.deepEqual(timeLeft(3_600_000, 0), ['1 h left', '']);
  assert.deepEqual(timeLeft(299_000, 0), ['only 4 min 59 s left', 'soon']);
  assert.deepEqual(timeLeft(1_000, 1_000), ['overdue', 'late']);
});

test('a draft becomes an answer only when nothing is missing', () => {
  const choices = [{ label: 'a' }, { label: 'b' }];
  const one = question('1', { choices });
  const draft = newDraft();
  assert.equal(valueOf(one, draft), undefined);
  pick(one, draft, 'a');
  pick(one, draft, 'b');
  assert.equal(valueOf(one, draft), 'b');
  pickOther(one, draft);
  assert.equal(valueOf(one, draft), undefined, 'other without a text');
  draft.text = ' mine \n';
  assert.equal(valueOf(one, draft), ' mine');
  pick(one, draft, 'a');
  assert.equal(valueOf(one, draft), 'a', 'the text stays, but does not count');

  const several = question('2', { choices, multi_select: true });
  const picks = newDraft();
  pick(several, picks, 'b');
  pick(several, picks, 'a');
  pick(several, picks, 'b');
  assert.deepEqual(valueOf(several, picks), ['a']);
  pickOther(several, picks);
  picks.text = 'mine';
  assert.deepEqual(valueOf(several, picks), ['a', 'mine']);
  assert.equal(valueOf(question('3'), { ...newDraft(), text: 'free' }), 'free');
});

test('it is said how a question ended, by whom and where', () => {
  const now = Date.parse(at(60));
  const done = { status: 'answered', answer: 'No', answered_by: 'ben', answered_via: 'slack', settled_at: at(58) };
  assert.equal(endingLine(question('1', done), 'ana', now), 'ben answered by Slack, just now: No');
  assert.equal(endingLine(question('1', { ...done, answer: ['a', 'b'], answered_via: 'web', settled_at: at(0) }), 'ben', now), 'You answered here, 1 min ago: a, b');
  assert.equal(endingLine(question('1', { ...done, answered_by: null, answered_via: null }), '', now), 'Somebody answered, just now: No');
  assert.match(endingLine(question('1', { status: 'timed_out', settled_at: at(58) }), '', now), /^Nobody answered in time/);
  assert.match(endingLine(question('1', { status: 'defaulted', answer: 'x', settled_at: at(58) }), '', now), /default counts.*: x$/);
  assert.match(endingLine(question('1', { status: 'cancelled', answered_by: 'ben', settled_at: at(58) }), '', now), /^ben cancelled/);
});

test('it is said what the deadline brings, who may answer, and what is new', () => {
  assert.match(atDeadline(question('1')), /fails/);
  assert.match(atDeadline(question('1', { on_timeout: 'continue' })), /goes on without/);
  assert.match(atDeadline(question('1', { on_timeout: 'default', default: ['a', 'b'] })), /“a, b” counts/);
  assert.equal(whoMayAnswer({ answerers: ['ana', 'ben', 'eve'] }, true), 'Only ana, ben and eve may answer this.');
  assert.match(whoMayAnswer({ answerers: [] }, false), /may look, but not answer/);
  assert.equal(news([{ agent: 'poet', text: 'Rhyme?' }]), 'New question from poet: Rhyme?');
  assert.equal(news([{}, {}, {}, {}]), '4 new questions');
});

// An outbox whose server answers as `replies` says: a status each.
function outboxWith(replies) {
  const log = [];
  const timers = [];
  let hanging = 0;
  const outbox = makeOutbox({
    send: async () => {
      const status = replies.shift();
      if (status === 'never') await new Promise(() => { hanging += 1; });
      if (status !== 200) throw Object.assign(new Error(), { status, passing: status === 0 || status === 429 || status >= 500 });
    },
    onSent: ({ key }) => log.push(`${key} sent`),
    onRefused: ({ key }, { status }) => log.push(`${key} refused ${status}`),
    onChange: () => {},
    setTimer: (act, ms) => timers.push({ act, ms }),
  });
  return { outbox, log, timers, hang: () => hanging };
}

test('an answer that does not get through is kept, sent again, and done only when the server says so', async () => {
  const { outbox, log, timers } = outboxWith([0, 503, 200]);
  await outbox.add({ key: 'a' });
  timers.shift();
  assert.deepEqual([outbox.entries().length, outbox.entries()[0].waiting, log], [1, true, []]);
  timers.shift().act();
  await new Promise(setImmediate);
  assert.ok(timers[0].ms > 2000, 'it waits longer each time');
  assert.equal(outbox.entries().length, 1);
  outbox.kick();
  await new Promise(setImmediate);
  assert.deepEqual([outbox.entries(), log], [[], ['a sent']]);
  timers.shift().act();
  await new Promise(setImmediate);
  assert.deepEqual(log, ['a sent'], 'a timer that is left over sends nothing');
});

test('an answer that takes long is owned up to before anything has failed', async () => {
  const { outbox, timers, hang } = outboxWith(['never']);
  outbox.add({ key: 'a' });
  assert.equal(outbox.entries()[0].waiting, false);
  timers[0].act();
  assert.equal(outbox.entries()[0].waiting, true);
  outbox.kick();
  assert.equal(hang(), 1, 'it is not sent twice at once');
});

test('an answer that is refused for good is given back at once', async () => {
  const { outbox, log } = outboxWith([409]);
  await outbox.add({ key: 'a' });
  assert.deepEqual([outbox.holds('a'), log], [false, ['a refused 409']]);
});
