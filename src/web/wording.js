// What the inbox says about a question, in words.
import { inWords } from './draft.js';
import { since } from './time.js';

const kPlaces = { slack: 'Slack', discord: 'Discord', email: 'email', url: 'a callback', inbox: 'the inbox only' };
const kWays = { web: 'here', api: 'by the API', link: 'by a link', slack: 'by Slack', discord: 'by Discord', email: 'by email' };

export const placeName = (channel) => kPlaces[channel] ?? channel;

export const listed = (words) =>
  (words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`);

// How a settled question ended, without what was answered. `myName`: of whoever reads it, '' where nobody has one.
export function ending(question, myName = '', now = Date.now()) {
  const by = question.answered_by;
  const who = !by ? 'Somebody' : by === myName ? 'You' : by;
  const when = since(question.settled_at, now);
  switch (question.status) {
    case 'answered': return [who, 'answered', kWays[question.answered_via] ?? ''].filter(Boolean).join(' ') + `, ${when}`;
    case 'cancelled': return `${who} cancelled this request, ${when}`;
    case 'defaulted': return `Nobody answered in time, so the default counts, ${when}`;
    default: return `Nobody answered in time: it ran out ${when}`;
  }
}

// With what was answered, on one line.
export const endingLine = (question, myName, now) =>
  ending(question, myName, now) + (question.answer === null ? '' : `: ${inWords(question.answer)}`);

export function atDeadline(question) {
  if (question.on_timeout === 'continue') return 'After that the agent goes on without an answer.';
  if (question.on_timeout === 'default' && question.default !== null) return `After that “${inWords(question.default)}” counts.`;
  return 'After that the session fails.';
}

// Why somebody who looks at the question of `agent` (as in GET /agent/agents) cannot answer it.
export function whoMayAnswer(agent, mayAnswerAtAll) {
  if (mayAnswerAtAll && agent?.answerers.length) return `Only ${listed(agent.answerers)} may answer this.`;
  const others = agent?.answerers.length ? listed(agent.answerers) : 'people who are answerers here';
  return `You may look, but not answer. That is for ${others}.`;
}

export const news = (asks) => (asks.length === 1
  ? `New question from ${asks[0].agent}: ${asks[0].text}`
  : `${asks.length} new questions`);
