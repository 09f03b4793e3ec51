// A session's story: what the server told of it, as the rows of a timeline. Pure: no page, no clock.
//
// A row is { key, kind, tone, at, text, lines, took } and what its kind adds: a turn has `attempts` and `output`, an ask has `questions`, an
// answer has `quote`, and both an ask and an end have `deliveries`. `key` stays the same while a row grows. `tone` is '', 'good', 'warn' or 'bad'. `lines` say more.
import { duration, span } from './time.js';

const kVia = { web: 'in the inbox', api: 'through the API', link: 'by an answer link', slack: 'in Slack', discord: 'in Discord', email: 'by mail' };
const kChannels = { url: 'Callback', slack: 'Slack', discord: 'Discord', email: 'Mail' };
const kBegan = { start: 'began', answer: 'took up the answer', timeout: 'went on without an answer', message: 'read a message', continue: 'carried on' };
const kNotices = {
  question_pending: '', question_settled: ' with how it ended', reply_unclear: ' about an unclear reply',
  session_completed: ' with the result', session_failed: ' with the error', session_cancelled: ' of the end',
};
const kReplies = {
  reply_ignored: 'A mail came back that no person wrote', reply_refused: 'A reply did not count', reply_unclear: 'A reply was no answer', mail_bounced: 'A mail bounced',
};

export const counted = (count, one, many = `${one}s`) => `${count} ${count === 1 ? one : many}`;
export const channelName = (channel) => kChannels[channel] ?? channel;

// An answer as people say it.
export const said = (answer) => (Array.isArray(answer) ? answer.map((one) => `“${one}”`).join(', ') : `“${answer}”`);

const between = (from, to) => Date.parse(to) - Date.parse(from);
// Our ids begin with the time they were made at.
const madeAt = (id) => parseInt(id.replace('-', '').slice(0, 12), 16);

const ordinal = (n) => `${n}${n % 100 >= 11 && n % 100 <= 13 ? 'th' : ['th', 'st', 'nd', 'rd'][n % 10] ?? 'th'}`;

// What is known while the events are read, one after the other.
class Book {
  constructor({ session, questions, messages }) {
    this.session = session;
    this.questions = new Map(questions.map((question) => [question.id, question]));
    this.messages = new Map(messages.map((message) => [message.id, message]));
    this.rows = [];
    this.asks = [];
    this.askOf = new Map();       // By question.
    this.deliveries = new Map();
    this.strays = [];             // Deliveries that came up before what they belong to is known.
    this.turn = null;             // The one that runs, or is to be tried again.
    this.end = null;
    this.failed = null;           // How the last turn failed for good.
    this.refused = false;         // The last turn asked what it may not.
    this.due = null;              // Since when the next turn waits for a worker.
  }

  add(kind, event, text, more = {}) {
    const row = { key: `${kind}-${event.seq}`, kind, tone: '', at: event.at, text, lines: [], took: null, ...more };
    this.rows.push(row);
    return row;
  }

  // The attempt that runs ends here.
  endAttempt(event, outcome, more = {}) {
    const attempt = this.turn?.attempts.at(-1);
    if (!attempt || attempt.outcome !== 'running') return null;
    Object.assign(attempt, { outcome, end: event.at, took: between(attempt.at, event.at), ...more });
    return attempt;
  }

  endTurn(event, outcome, more) {
    this.endAttempt(event, outcome, more);
    const { turn } = this;
    if (turn) Object.assign(turn, { outcome, took: between(turn.at, event.at) });
    this.turn = null;
    return turn;
  }
}

const startTurn = (book, event) => {
  const { turn: number, attempt, reason } = event.data;
  if (book.turn?.number !== number) {
    book.turn = book.add('turn', event, '', { number, reason, attempts: [], output: [], outcome: 'running', asked: 0 });
  } else {
    // It ended without a word: its process died, or its lease was lost.
    book.endAttempt(event, 'lost');
  }
  if (book.refused) book.turn.told = 'was told that it may not ask';
  book.refused = false;
  const waited = book.due ? between(book.due, event.at) : 0;
  book.due = null;
  book.turn.outcome = 'running';
  book.turn.attempts.push({ number: attempt, at: event.at, outcome: 'running', end: null, took: null, waited, reason: '', retryIn: null });
};

const failTurn = (book, event) => {
  const { reason, retry_in_ms: retryIn = null } = event.data;
  if (retryIn === null) {
    book.failed = { at: event.at, reason };
    book.endTurn(event, 'failed', { reason });
    return;
  }
  book.endAttempt(event, 'failed', { reason, retryIn });
  if (book.turn) book.turn.outcome = 'retrying';
};

const goOn = (outcome) => (book, event) => {
  book.endTurn(event, outcome, { reason: event.data.reason ?? '' });
  book.due = event.at;
  book.refused = outcome === 'refused';
};

const ask = (book, event) => {
  const { question: id, expires_at: expiresAt } = event.data;
  const last = book.asks.at(-1);
  // All questions of an ask are put in one step.
  const row = last && last.at === event.at && !last.over ? last
    : book.add('ask', event, '', { questions: [], deliveries: [], notes: [], over: false, expiresAt });
  if (row !== last) {
    book.asks.push(row);
    const turn = book.endTurn(event, 'asked');
    row.turn = turn;
  }
  const question = book.questions.get(id);
  row.questions.push({
    id, text: question?.question ?? '', header: question?.header ?? '', options: question?.options ?? [], channels: question?.channels ?? [],
    status: 'pending', answer: null, by: null, via: null,
  });
  if (row.turn) row.turn.asked = row.questions.length;
  book.askOf.set(id, row);
};

const named = (row, question) => (row && row.questions.length > 1 ? ` ${question.header || `question ${row.questions.indexOf(question) + 1}`}` : '');

const spoken = (ms) => (ms < 10_000 ? duration(ms) : span(ms / 1000));

// `changes` tells what becomes of the question, `text` says it; `time` is how long it took, in words, or empty.
const settle = (kind, tone, changes, text) => (book, event) => {
  const { question: id } = event.data;
  const row = book.askOf.get(id);
  const known = book.questions.get(id);
  const question = row?.questions.find((one) => one.id === id) ?? { id, header: known?.header ?? '' };
  const took = row ? between(row.at, event.at) : null;
  Object.assign(question, { answer: known?.answer ?? null, ...changes(event.data, known) });
  const time = took === null ? '' : spoken(took);
  book.add(kind, event, text({ data: event.data, question, time, after: time && ` after ${time}`, which: named(row, question) }), { tone: tone(question), question: id, quote: question.answer === null ? null : said(question.answer) });
  if (row?.questions.every(({ status }) => status !== 'pending')) Object.assign(row, { over: true, took });
};

const answered = settle('answer', () => 'good',
  ({ by = null, via = null }) => ({ status: 'answered', by, via }),
  ({ data: { by = 'Somebody', via }, which, after }) => {
    const where = kVia[via] ?? (via ? `through ${via}` : '');
    return `${by} answered${which}${where && ` ${where}`}${after}`;
  });

const expired = settle('expiry', ({ status }) => (status === 'defaulted' ? 'warn' : 'bad'),
  ({ outcome }) => ({ status: outcome }),
  ({ question, which, time }) =>
    `Nobody answered${which} in time${time && ` (${time})`}${question.status === 'defaulted' ? `; the default counts` : ''}`);

const calledOff = settle('cancel', () => 'warn',
  (data, known) => ({ status: 'cancelled', by: known?.answered_by ?? null }),
  ({ question, which, after }) => `The question${which} was called off${question.by ? ` by ${question.by}` : ''}${after}`);

// To what a message belongs, by when it was owed: its events come later, perhaps after the next ask.
const home = (book, delivery) => {
  if (delivery.notice?.startsWith('session_')) return book.end;
  const owed = madeAt(delivery.id);
  return book.asks.findLast((row) => Date.parse(row.at) <= owed) ?? book.asks[0] ?? null;
};

const deliver = (status) => (book, event) => {
  const { delivery: id, notice, channel, host, attempt, reason = '', retry_in_ms: retryIn = null, status: code = null } = event.data;
  let delivery = book.deliveries.get(id);
  if (!delivery) {
    delivery = { id, notice: notice ?? '', channel: channel ?? '', host: host ?? '', status, attempts: [], reason: '' };
    book.deliveries.set(id, delivery);
    const row = home(book, delivery);
    if (row) row.deliveries.push(delivery);
    else book.strays.push(delivery);
  }
  if (status === 'sent' || status === 'retrying') delivery.attempts.push({ number: attempt, at: event.at, ok: status === 'sent', reason, retryIn, code });
  delivery.status = status;
  delivery.reason = reason;
};

const aside = (describe) => (book, event) => {
  book.add('aside', event, describe(event.data), { tone: event.type === 'trigger_repeated' ? '' : 'warn', lines: event.data.reason ? [event.data.reason] : [] });
};

// Who wrote back is told under the ask that they wrote about.
const reply = (book, event) => {
  const text = `${kReplies[event.type]}${event.data.to ? ` (${event.data.to})` : ''}`;
  const row = book.askOf.get(event.data.question);
  if (row) row.notes.push({ at: event.at, text, reason: event.data.reason ?? '' });
  else book.add('aside', event, text, { tone: 'warn', lines: [event.data.reason ?? ''] });
};

const end = (outcome, text, tone) => (book, event) => {
  book.endTurn(event, outcome);
  const { failed } = book;
  const { reason } = event.data;
  // What the row before has said already is not said again.
  const said = !reason || (failed && failed.at === event.at && failed.reason === reason);
  book.end = book.add('end', event, text, { tone, status: outcome, deliveries: [], lines: said ? [] : [reason] });
  book.due = null;
};

const kTold = {
  session_started: (book, event) => {
    book.due = event.at;
    book.add('start', event, `${event.data.agent} was started${event.data.parent ? ' by another session' : ''}`, { parent: event.data.parent ?? null });
  },
  trigger_repeated: aside(() => 'The same trigger came again; it started nothing new'),
  turn_started: startTurn,
  turn_failed: failTurn,
  turn_continued: goOn('continued'),
  turn_released: goOn('released'),
  turn_discarded: goOn('discarded'),
  result_deferred: goOn('deferred'),
  ask_refused: goOn('refused'),
  agent_output: (book, event) => {
    const turn = book.turn ?? book.rows.findLast(({ kind, number }) => kind === 'turn' && number === event.data.turn);
    turn?.output.push(event.data.line);
  },
  question_asked: ask,
  question_answered: answered,
  question_expired: expired,
  question_cancelled: calledOff,
  session_resumed: (book, event) => { book.due = event.at; },
  session_retried: (book, event) => {
    book.due = event.at;
    book.end = null;
    book.add('retry', event, `Turn ${event.data.turn} was tried again by hand`, { tone: 'warn' });
  },
  message_queued: (book, event) => {
    const message = book.messages.get(event.data.message);
    book.add('message', event, 'A message was sent to the agent', { body: message?.body, lines: message && message.turn === null ? ['It waits for the next turn.'] : [] });
  },
  delivery_sent: deliver('sent'),
  delivery_failed: deliver('retrying'),
  delivery_dead: deliver('dead'),
  delivery_obsolete: deliver('obsolete'),
  delivery_requeued: deliver('requeued'),
  destination_disabled: aside(({ host }) => `${host} wants no more messages`),
  reply_ignored: reply,
  reply_refused: reply,
  reply_unclear: reply,
  mail_bounced: reply,
  session_completed: end('completed', 'Completed', 'good'),
  session_failed: end('failed', 'Failed', 'bad'),
  session_cancelled: end('cancelled', 'Cancelled', 'warn'),
};

const kEnded = {
  running: () => ' and is running',
  retrying: () => ' and failed; it is tried again',
  asked: ({ asked }) => ` and asked ${counted(asked, 'question')}`,
  continued: () => ' and wants another turn',
  released: () => ' and was handed back: the server stopped',
  discarded: () => ' but was taken over meanwhile; nothing of it was kept',
  deferred: () => ' and had a result, but a message came first',
  refused: () => ' and asked what it may not ask',
  completed: () => ' and gave the result',
  failed: () => ' and failed',
  cancelled: () => ' and was called off',
};

const kTones = { failed: 'bad', retrying: 'warn', discarded: 'warn', released: 'warn', refused: 'warn', cancelled: 'warn' };

const finishTurn = (row) => {
  row.text = `Turn ${row.number} ${row.told ?? kBegan[row.reason] ?? 'began'}${kEnded[row.outcome](row)}`;
  row.tone = kTones[row.outcome] ?? '';
  const last = row.attempts.at(-1);
  if (last?.reason) row.lines.push(last.reason);
};

const finishAsk = (row) => {
  const [first] = row.questions;
  row.text = row.questions.length > 1 ? `Asked ${row.questions.length} questions` : `Asked${first.text ? `: ${first.text}` : ' a question'}`;
  row.tone = row.over ? '' : 'warn';
};

// `questions`: as the API lists them. `messages`: with their bodies, as far as they are known.
export function story({ session, events, questions = [], messages = [] }) {
  const book = new Book({ session, questions, messages });
  for (const event of events) (kTold[event.type] ?? aside(() => event.type.replaceAll('_', ' ')))(book, event);
  for (const row of book.rows) {
    if (row.kind === 'turn') finishTurn(row);
    if (row.kind === 'ask') finishAsk(row);
  }
  for (const delivery of book.strays) {
    const row = home(book, delivery) ?? book.rows.at(-1);
    (row.deliveries ??= []).push(delivery);
  }
  if (book.due && session.status === 'running') {
    book.rows.push({ key: 'due', kind: 'due', tone: '', at: book.due, text: 'The next turn waits for a free worker', lines: [], took: null });
  }
  return book.rows;
}

// How a message fared, in a few words.
export function deliveryText(delivery) {
  const where = `${channelName(delivery.channel) || 'A message'}${delivery.host && delivery.channel === 'url' ? ` to ${delivery.host}` : ''}${kNotices[delivery.notice] ?? ''}`;
  const tries = delivery.attempts.length;
  const at = delivery.attempts.at(-1)?.number ?? tries;
  if (delivery.status === 'sent') return `${where}: sent${at > 1 ? ` at the ${ordinal(at)} attempt` : ''}`;
  if (delivery.status === 'retrying') return `${where}: failed ${at === 1 ? 'once' : `${at} times`}, is tried again`;
  if (delivery.status === 'dead') return `${where}: given up${tries ? ` after ${counted(at, 'attempt')}` : ''}`;
  if (delivery.status === 'obsolete') return `${where}: not sent any more, the question was settled`;
  return `${where}: is sent again`;
}

const kCounts = [['sent', 'sent'], ['retrying', 'failing'], ['dead', 'given up'], ['obsolete', 'not needed any more'], ['requeued', 'to be sent again']];

export const deliveriesText = (deliveries) => `${counted(deliveries.length, 'delivery', 'deliveries')}: ${kCounts
  .map(([status, word]) => [deliveries.filter((one) => one.status === status).length, word])
  .filter(([count]) => count).map(([count, word]) => `${count} ${word}`).join(', ')}`;
