// How a session's story is worded. Pure: no page, no clock.
import { duration, span } from './time.js';
import { number, tokensText } from './usage_words.js';

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
  card_posted: ' with what it says',
  reply_unclear: ' about an unclear reply',
  session_completed: ' with the result',
  session_failed: ' with the error',
  session_cancelled: ' of the end',
};
const kBegan = {
  start: 'began', answer: 'took up the answer', timeout: 'went on without an answer', message: 'read a message', continue: 'carried on',
  agents: 'took up what its sub-agents brought',
};
const kEnded = {
  running: 'and is running',
  retrying: 'and failed; it is tried again',
  continued: 'and wants another turn',
  released: 'and was handed back: the server stopped',
  deferred: 'and had a result, but a message came first',
  refused: 'and asked for what it may not have',
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

export function turnText({ number: turn, reason, outcome, asked, spawned, refused }) {
  const began = refused ? 'was told that it may not' : kBegan[reason] ?? 'began';
  const ended = outcome === 'asked' ? `and asked ${counted(asked, 'question')}`
    : outcome === 'spawned' ? `and started ${counted(spawned, 'sub-agent')}` : kEnded[outcome];
  return `Turn ${turn} ${began} ${ended}`;
}

// Why a model stopped, where that is worth a word: in the words of the APIs.
const kStops = {
  max_tokens: 'was cut off: too long', length: 'was cut off: too long', refusal: 'refused', content_filter: 'was stopped by a filter',
  pause_turn: 'paused', model_context_window_exceeded: 'had no room left',
};

// One step of a model agent's turn: the model replied, or a tool ran.
export function stepText(step) {
  if (step.kind === 'tool') return `${step.tool} ${step.ok ? 'ran' : 'failed'}`;
  const stop = kStops[step.stop];
  const wish = step.calls ? `asked for ${counted(step.calls, 'tool')}` : '';
  const did = [stop ? `The model ${stop}` : 'The model replied', wish].filter(Boolean).join(', ');
  return `${did} (${tokensText(step)})`;
}

// All steps of a turn at a glance.
export function stepsText(steps) {
  const replies = steps.filter(({ kind }) => kind === 'model');
  const tools = steps.filter(({ kind }) => kind === 'tool');
  const failed = tools.filter(({ ok }) => !ok).length;
  const models = new Set(replies.map(({ model }) => model));
  const sum = (name) => replies.reduce((total, step) => total + step[name], 0);
  return [
    replies.length > 0 && `${counted(replies.length, 'reply', 'replies')}${models.size === 1 && [...models][0] ? ` of ${[...models][0]}` : ''}`,
    tools.length > 0 && `${counted(tools.length, 'tool')} ran${failed ? `, ${number(failed)} failed` : ''}`,
    replies.length > 0 && tokensText({ input_tokens: sum('input_tokens'), output_tokens: sum('output_tokens') }),
  ].filter(Boolean).join(' · ');
}

const kEnds = { completed: 'completed', failed: 'failed', cancelled: 'was cancelled', pending_input: 'waits', running: 'is running' };
export const subText = ({ status, took: ms }) => `${kEnds[status] ?? status}${ms === null ? '' : ` after ${took(ms)}`}`;

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
