// How a session's story is worded. Pure: no page, no clock.
import { duration, span } from './time.js';

const kChannels = { url: 'Callback', slack: 'Slack', discord: 'Discord', email: 'Mail' };
const kVia = {
  web: 'in the inbox', api: 'through the API', link: 'by an answer link', slack: 'in Slack', discord: 'in Discord', email: 'by mail',
};
const kReplies = {
  reply_ignored: 'A mail came back that no person wrote',
  reply_refused: 'A reply did not count',
  reply_unclear: 'A reply was no answer',
  mail_bounced: 'A mail bounced',
};
const kNotices = {
  question_pending: '',
  question_settled: ' with how it ended',
  reply_unclear: ' about an unclear reply',
  session_completed: ' with the result',
  session_failed: ' with the error',
  session_cancelled: ' of the end',
};
const kBegan = {
  start: 'began', answer: 'took up the answer', timeout: 'went on without an answer', message: 'read a message', continue: 'carried on',
};
const kEnded = {
  running: 'and is running',
  retrying: 'and failed; it is tried again',
  continued: 'and wants another turn',
  released: 'and was handed back: the server stopped',
  deferred: 'and had a result, but a message came first',
  refused: 'and asked what it may not ask',
  completed: 'and gave the result',
  failed: 'and failed',
  cancelled: 'and was called off',
};

export const counted = (count, one, many = `${one}s`) => `${count} ${count === 1 ? one : many}`;
const ordinal = (n) => `${n}${n % 100 >= 11 && n % 100 <= 13 ? 'th' : ['th', 'st', 'nd', 'rd'][n % 10] ?? 'th'}`;

// Times of machines to the millisecond, of people to the second.
export const took = (ms) => (ms < 60_000 ? duration(ms) : span(ms / 1000));

// An answer as people say it.
export const said = (answer) => (Array.isArray(answer) ? answer.map((one) => `“${one}”`).join(', ') : `“${answer}”`);

// Which of several questions, by its header or its place among them.
const which = (question, all) => (all.length > 1 ? ` ${question.header || `question ${all.indexOf(question) + 1}`}` : '');

export function turnText({ number, reason, outcome, asked, refused }) {
  const began = refused ? 'was told that it may not ask' : kBegan[reason] ?? 'began';
  return `Turn ${number} ${began} ${outcome === 'asked' ? `and asked ${counted(asked, 'question')}` : kEnded[outcome]}`;
}

export function askText([first, ...others]) {
  if (others.length) return `Asked ${others.length + 1} questions`;
  return first.text ? `Asked: ${first.text}` : 'Asked a question';
}

// How a question ended. `all`: those that were asked with it. `ms`: how long it took; null if that is not known.
export function settledText(question, all, ms) {
  const after = ms === null ? '' : ` after ${took(ms)}`;
  const one = which(question, all);
  switch (question.status) {
    case 'answered': {
      const where = kVia[question.via] ?? (question.via ? `through ${question.via}` : '');
      return `${question.by ?? 'Somebody'} answered${one}${where && ` ${where}`}${after}`;
    }
    case 'cancelled':
      return `The question${one} was called off${question.by ? ` by ${question.by}` : ''}${after}`;
    default:
      return `Nobody answered${one} in time${ms === null ? '' : ` (${took(ms)})`}`
        + `${question.status === 'defaulted' ? '; the default counts' : ''}`;
  }
}

export const replyText = (type, to) => `${kReplies[type]}${to ? ` (${to})` : ''}`;

export function attemptText({ outcome, took: ms, reason, retryIn }) {
  const after = ms === null ? '' : ` after ${took(ms)}`;
  if (outcome === 'failed') return `Failed${after}: ${reason}${retryIn === null ? '' : `; tried again ${took(retryIn)} later`}`;
  if (outcome === 'running') return 'Is running';
  if (outcome === 'lost') return 'Ended without a word: its process stopped, or lost the turn';
  return `Ended${after}`;
}

// How a message fared.
export function deliveryText({ channel, host, notice, status, attempts }) {
  const to = channel === 'url' && host ? ` to ${host}` : '';
  const what = `${kChannels[channel] ?? (channel || 'A message')}${to}${kNotices[notice] ?? ''}`;
  const tries = attempts.at(-1)?.number ?? 0;
  switch (status) {
    case 'sent':
      return `${what}: sent${tries > 1 ? ` at the ${ordinal(tries)} attempt` : ''}`;
    case 'retrying':
      return `${what}: failed ${tries === 1 ? 'once' : `${tries} times`}, is tried again`;
    case 'dead':
      return `${what}: given up${tries ? ` after ${counted(tries, 'attempt')}` : ''}`;
    case 'obsolete':
      return `${what}: not sent any more, the question was settled`;
    default:
      return `${what}: is sent again`;
  }
}

const kFates = { sent: 'sent', retrying: 'failing', dead: 'given up', obsolete: 'not needed any more', requeued: 'to be sent again' };

export function deliveriesText(deliveries) {
  const fates = Object.entries(kFates).map(([status, word]) => [deliveries.filter((one) => one.status === status).length, word]);
  return `${counted(deliveries.length, 'delivery', 'deliveries')}: ${
    fates.filter(([count]) => count > 0).map(([count, word]) => `${count} ${word}`).join(', ')}`;
}
