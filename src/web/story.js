// A session's story: what the server told of it, as the rows of a timeline. Pure: no page, no clock.
//
// A row is { key, kind, tone, at, text, lines, took } and what its kind adds: a turn has `attempts` and `output`, an ask has `questions`
// and `notes`, an answer has `quote`, and asks, cards and ends have `deliveries`; the turn of a model agent has `steps`, and `agents` have `subs`. `key` stays the same while a row grows. `tone` is '',
// 'good', 'warn' or 'bad'. `lines` say more.
import { askText, counted, replyText, said, settledText, turnText } from './story_words.js';

const between = (from, to) => Date.parse(to) - Date.parse(from);
// Our ids begin with the time they were made at.
const madeAt = (id) => parseInt(id.replace('-', '').slice(0, 12), 16);

// What is known while the events are read, one after the other.
class Book {
  constructor(questions, messages, children, payload) {
    this.questions = new Map(questions.map((question) => [question.id, question]));
    this.messages = new Map(messages.map((message) => [message.id, message]));
    this.children = children;
    this.payload = payload;
    this.rows = [];
    this.asks = [];
    this.cards = [];
    this.spawns = [];
    this.ends = [];               // More than one, if it was tried again.
    this.askOf = new Map();       // By question.
    this.deliveries = new Map();
    this.strays = [];             // Deliveries that came up before what they belong to.
    this.turn = null;             // The one that runs, or is to be tried again.
    this.asker = null;            // The one that asked last.
    this.failed = null;           // How the last turn failed for good.
    this.refused = false;         // The last turn asked what it may not.
    this.due = null;              // Since when the next turn waits for a worker.
  }

  add(kind, event, text, more = {}) {
    const row = { key: `${kind}-${event.seq}`, kind, tone: '', at: event.at, text, lines: [], took: null, ...more };
    this.rows.push(row);
    return row;
  }

  endAttempt(event, outcome, more = {}) {
    const attempt = this.turn?.attempts.at(-1);
    if (attempt?.outcome !== 'running') return;
    Object.assign(attempt, { outcome, took: between(attempt.at, event.at), ...more });
  }

  endTurn(event, outcome, more) {
    this.endAttempt(event, outcome, more);
    if (this.turn) Object.assign(this.turn, { outcome, took: between(this.turn.at, event.at) });
    this.asker = this.turn;
    this.turn = null;
  }

  turnOf(number) {
    return this.turn?.number === number ? this.turn : this.rows.findLast((row) => row.kind === 'turn' && row.number === number);
  }
}

const startTurn = (book, event) => {
  const { turn: number, attempt, reason } = event.data;
  if (book.turn?.number !== number) {
    book.turn = book.add('turn', event, '', { number, reason, refused: book.refused, attempts: [], output: [], steps: [], asked: 0 });
    book.refused = false;
  } else {
    // It ended without a word: its process died, or its lease was lost.
    book.endAttempt(event, 'lost');
  }
  book.due = null;
  book.turn.outcome = 'running';
  book.turn.attempts.push({ number: attempt, at: event.at, outcome: 'running', took: null, reason: '', retryIn: null });
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

// It had been taken over, or called off: whoever did that has told of it before.
const discard = (book, event) => {
  book.turnOf(event.data.turn)?.lines.push('An attempt came back too late; nothing of it was kept.');
};

const step = (read) => (book, event) => {
  const { turn, took_ms: ms } = event.data;
  book.turnOf(turn)?.steps.push({ at: event.at, took: ms ?? null, ...read(event.data) });
};

// Those that were started in this step, as far as they are known.
const spawn = (book, event) => {
  const { count, agents } = event.data;
  if (book.turn) book.turn.spawned = count;
  book.endTurn(event, 'spawned');
  const subs = book.children.filter(({ created_at: at }) => at === event.at)
    .map(({ id, agent_name: agent, status }) => ({ id, agent, status, took: null }));
  book.spawns.push(book.add('agents', event, `${counted(count, 'sub-agent')} started`, { count, names: agents, subs, ended: 0 }));
};

const endSub = (book, event) => {
  const { sub_session: id, agent, status } = event.data;
  const row = book.spawns.findLast(({ subs }) => subs.some((sub) => sub.id === id)) ?? book.spawns.at(-1);
  if (!row) return aside('', () => `${agent} ended: ${status}`)(book, event);
  let sub = row.subs.find((one) => one.id === id);
  if (!sub) row.subs.push(sub = { id, agent });
  // One that was tried again by hand ends twice.
  if (!sub.over) row.ended += 1;
  Object.assign(sub, { status, over: true, took: between(row.at, event.at) });
  if (row.ended === row.count) row.took ??= between(row.at, event.at);
};

const startAsk = (book, event) => {
  const row = book.add('ask', event, '', { questions: [], deliveries: [], notes: [], over: false });
  book.asks.push(row);
  book.endTurn(event, 'asked');
  return row;
};

const ask = (book, event) => {
  const { question: id } = event.data;
  const last = book.asks.at(-1);
  // All questions of an ask are put in one step.
  const row = last?.at === event.at && !last.over ? last : startAsk(book, event);
  const known = book.questions.get(id);
  row.questions.push({
    id, text: known?.question ?? '', header: known?.header ?? '', channels: known?.channels ?? [],
    status: 'pending', answer: null, by: null, via: null,
  });
  if (book.asker) book.asker.asked = row.questions.length;
  book.askOf.set(id, row);
};

// `changes` tells what becomes of the question.
const settle = (kind, changes) => (book, event) => {
  const { question: id } = event.data;
  const row = book.askOf.get(id);
  const known = book.questions.get(id);
  const question = row?.questions.find((one) => one.id === id) ?? { id, header: known?.header ?? '' };
  Object.assign(question, { answer: known?.answer ?? null, ...changes(event.data, known) });
  const took = row ? between(row.at, event.at) : null;
  book.add(kind, event, settledText(question, row?.questions ?? [], took), {
    tone: { answered: 'good', timed_out: 'bad' }[question.status] ?? 'warn',
    quote: question.answer === null ? null : said(question.answer),
  });
  if (row?.questions.every(({ status }) => status !== 'pending')) Object.assign(row, { over: true, took });
};

// To what a message belongs, by when it was owed: its events come later, perhaps after the next ask.
const home = (book, { id, notice }) => {
  const rows = notice === 'card_posted' ? book.cards : notice.startsWith('session_') ? book.ends : book.asks;
  const owed = madeAt(id);
  return rows.findLast(({ at }) => Date.parse(at) <= owed) ?? rows[0] ?? null;
};

const deliver = (status) => (book, event) => {
  const { delivery: id, notice = '', channel = '', host = '' } = event.data;
  const { attempt: number, reason = '', retry_in_ms: retryIn = null, status: code = null } = event.data;
  let delivery = book.deliveries.get(id);
  if (!delivery) {
    delivery = { id, notice, channel, host, attempts: [] };
    book.deliveries.set(id, delivery);
    (home(book, delivery)?.deliveries ?? book.strays).push(delivery);
  }
  Object.assign(delivery, { status, reason });
  const tried = status === 'sent' || status === 'retrying';
  if (tried) delivery.attempts.push({ number, at: event.at, ok: status === 'sent', reason, retryIn, code });
};

const aside = (tone, describe) => (book, { data, ...event }) => {
  book.add('aside', event, describe(data), { tone, lines: data.reason ? [data.reason] : [] });
};

// Who wrote back is told under the ask that they wrote about.
const reply = (book, event) => {
  const { question, to, reason = '' } = event.data;
  const text = replyText(event.type, to);
  const row = book.askOf.get(question);
  if (row) row.notes.push({ text, reason });
  else book.add('aside', event, text, { tone: 'warn', lines: [reason] });
};

const end = (status, text, tone) => (book, event) => {
  book.endTurn(event, status);
  const { reason } = event.data;
  // What the row before has said already is not said again.
  const told = !reason || (book.failed?.at === event.at && book.failed.reason === reason);
  book.ends.push(book.add('end', event, text, { tone, status, deliveries: [], lines: told ? [] : [reason] }));
  book.due = null;
};

const kTold = {
  session_started: (book, event) => {
    const { agent, parent = null } = event.data;
    book.add('start', event, `${agent} was started${parent ? ' by another session' : ''}`, { parent });
    book.due = event.at;
  },
  trigger_repeated: aside('', () => 'The same trigger came again; it started nothing new'),
  ask_joined: aside('', () => 'The same was asked again; it joined this one'),
  card_posted: (book, event) => {
    const { agent, channels } = event.data;
    const { title, message } = book.payload ?? {};
    book.cards.push(book.add('card', event, `${agent} told people${title ? `: ${title}` : ' something'}`, {
      body: message, deliveries: [], lines: channels ? [] : ['It was sent to nobody; it stands here.'],
    }));
  },
  turn_started: startTurn,
  turn_failed: failTurn,
  turn_continued: goOn('continued'),
  turn_released: goOn('released'),
  turn_discarded: discard,
  result_deferred: goOn('deferred'),
  ask_refused: goOn('refused'),
  agent_output: (book, event) => { book.turnOf(event.data.turn)?.output.push(event.data.line); },
  model_replied: step(({ model = '', stop_reason: stop = '', tool_calls: calls = 0, input_tokens = 0, output_tokens = 0 }) =>
    ({ kind: 'model', model, stop, calls, input_tokens, output_tokens })),
  tool_ran: step(({ tool, outcome }) => ({ kind: 'tool', tool, ok: outcome !== 'error' })),
  agents_spawned: spawn,
  sub_session_ended: endSub,
  question_asked: ask,
  question_answered: settle('answer', ({ by = null, via = null }) => ({ status: 'answered', by, via })),
  question_expired: settle('expiry', ({ outcome }) => ({ status: outcome })),
  question_cancelled: settle('cancel', (data, known) => ({ status: 'cancelled', by: known?.answered_by ?? null })),
  session_resumed: (book, event) => { book.due = event.at; },
  session_retried: (book, event) => {
    book.add('retry', event, `Turn ${event.data.turn} was tried again by hand`, { tone: 'warn' });
    book.due = event.at;
  },
  message_queued: (book, event) => {
    const message = book.messages.get(event.data.message);
    const lines = message?.turn === null ? ['It waits for the next turn.'] : [];
    book.add('message', event, 'A message was sent to the agent', { body: message?.body, lines });
  },
  delivery_sent: deliver('sent'),
  delivery_failed: deliver('retrying'),
  delivery_dead: deliver('dead'),
  delivery_obsolete: deliver('obsolete'),
  delivery_requeued: deliver('requeued'),
  destination_disabled: aside('warn', ({ host }) => `${host} wants no more messages`),
  reply_ignored: reply,
  reply_refused: reply,
  reply_unclear: reply,
  mail_bounced: reply,
  session_completed: end('completed', 'Completed', 'good'),
  session_failed: end('failed', 'Failed', 'bad'),
  session_cancelled: end('cancelled', 'Cancelled', 'warn'),
};

const kTones = { failed: 'bad', retrying: 'warn', released: 'warn', refused: 'warn', cancelled: 'warn' };

// What is known of a row only once all has been read.
const kFinish = {
  turn: (row) => {
    const { reason } = row.attempts.at(-1);
    Object.assign(row, { text: turnText(row), tone: kTones[row.outcome] ?? '', lines: reason ? [reason, ...row.lines] : row.lines });
  },
  agents: (row) => Object.assign(row, { tone: row.subs.some(({ status }) => status === 'failed') ? 'warn' : '' }),
  ask: (row) => Object.assign(row, { text: askText(row.questions), tone: row.over ? '' : 'warn' }),
};

// `questions`: as the API lists them. `messages`: with their bodies, as far as they are known. `children` and `payload`: as its record has them.
export function story({ session, events, questions = [], messages = [], children = [], payload = null }) {
  const book = new Book(questions, messages, children, payload);
  for (const event of events) (kTold[event.type] ?? aside('', () => event.type.replaceAll('_', ' ')))(book, event);
  for (const row of book.rows) kFinish[row.kind]?.(row);
  for (const delivery of book.strays) {
    const row = home(book, delivery) ?? book.rows.at(-1);
    (row ? row.deliveries ??= [] : []).push(delivery);
  }
  if (book.due && session.status === 'running') {
    book.add('due', { seq: 'next', at: book.due }, 'The next turn waits for a free worker');
  }
  return book.rows;
}
