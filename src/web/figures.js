// What the figures of /agent/operations say, in words.
import { duration } from './time.js';
import { dollars } from './usage_words.js';

export const many = (count, one, more = `${one}s`) => `${count.toLocaleString('en')} ${count === 1 ? one : more}`;

const kChannels = { url: 'Callbacks', slack: 'Slack', discord: 'Discord', email: 'Email' };
export const channelWord = (name) => kChannels[name] ?? name;

// `slack:#ops` → `Slack #ops`.
export function targetWords(target) {
  const at = target.indexOf(':');
  return at < 0 ? channelWord(target) : `${channelWord(target.slice(0, at))} ${target.slice(at + 1)}`;
}

// `question_pending` → `Question pending`.
export const eventWords = (event) => {
  const words = event.replaceAll('_', ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
};

// How a channel fares: a word, the kind of its tag, and what is behind it.
export function verdict({ set_up: setUp, delivered, retrying, dead, last_delivered_at: sent, last_error_at: failed }) {
  const owed = retrying + dead;
  if (!setUp) {
    return { word: 'Not set up', kind: owed ? 'warn' : '', why: owed ? 'Messages are owed to it, but nothing can be sent.' : '' };
  }
  const worse = failed && (!sent || Date.parse(failed) > Date.parse(sent));
  if (worse && owed > 0) {
    return { word: 'Failing', kind: 'bad', why: sent ? 'Nothing has arrived since the last error.' : 'Nothing has arrived yet.' };
  }
  if (retrying > 0) return { word: 'Retrying', kind: 'warn', why: 'Some messages arrive, some are tried again.' };
  if (delivered > 0) return { word: 'Working', kind: 'good', why: dead ? 'Messages arrive; those that are dead are not tried again.' : '' };
  return dead > 0 ? { word: 'Failing', kind: 'bad', why: 'Nothing has arrived yet.' } : { word: 'Nothing sent yet', kind: '', why: '' };
}

const kConnections = { slack: 'Socket Mode', email: 'Mailbox' };
// What a channel's line to its platform is called, and whether it is up.
export const connectionWords = ({ name, connection }) => connection && `${kConnections[name] ?? 'Connection'}: ${connection}`;

// How often an agent asks; null figures: it was never started.
export function askingWords(figures) {
  if (!figures || figures.sessions === 0) return ['No sessions yet.'];
  const { sessions, asked, questions, failed, answered, median_seconds: median } = figures;
  if (asked === 0) return [`Asked in none of ${many(sessions, 'session')}.`, ...(failed ? [`${many(failed, 'session')} failed.`] : [])];
  return [
    `Asked in ${asked.toLocaleString('en')} of ${many(sessions, 'session')}, ${perSession(questions, sessions)} a session.`,
    answered > 0 && median !== null ? `Answered in ${duration(median * 1000)} at the median.` : 'No answers yet.',
    ...(failed ? [`${many(failed, 'session')} failed.`] : []),
  ];
}

const perSession = (questions, sessions) => {
  const rate = Math.round((10 * questions) / sessions) / 10;
  return `${rate} ${rate === 1 ? 'question' : 'questions'}`;
};

// What an agent's models have used; nothing where none was asked.
export function usedWords(figures) {
  const tokens = (figures?.input_tokens ?? 0) + (figures?.output_tokens ?? 0);
  if (tokens === 0) return [];
  return [`Its model used ${many(tokens, 'token')}${figures.cost_usd === null ? '' : `, ${dollars(figures.cost_usd)} in all`}.`];
}
