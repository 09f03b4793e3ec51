// What waits for an answer: questions as the server tells of them, gathered into asks. No page and no network in here.
import { span } from './time.js';

const kSoon = 300;         // Seconds from which on a deadline is pressing.
const kSearched = 2000;    // Characters of a context that a search looks at.
const kChannels = ['inbox', 'slack', 'discord', 'email', 'url'];

export const keyOf = (question) => `${question.session_id}/${question.ask}`;

const inPlace = (questions) => questions.sort((a, b) => a.position - b.position);

// Questions that were asked at once are answered at once.
function makeAsk(questions) {
  const [first] = inPlace(questions);
  const suggestions = questions.flatMap((question) => question.choices.filter(({ recommended }) => recommended));
  const texts = questions.flatMap(({ header, question, options }) => [header ?? '', question, ...options]);
  return {
    key: keyOf(first),
    id: first.id,
    session: first.session_id,
    agent: first.agent_name,
    header: first.header,
    text: first.question,
    questions,
    suggestion: suggestions[0]?.label ?? null,
    channels: first.channels.length ? first.channels : ['inbox'],
    created: Date.parse(first.created_at),
    deadline: Math.min(...questions.map(({ expires_at }) => Date.parse(expires_at))),
    searched: [first.agent_name, ...texts, JSON.stringify(first.context).slice(0, kSearched)].join('\n').toLowerCase(),
  };
}

const same = (a, b) => a.expires_at === b.expires_at && a.channels.join() === b.channels.join();

export class Pending {
  asks = new Map();    // By key.
  #keys = new Map();   // Question id → key of its ask.
  #gone = new Set();   // Questions that are settled: a page that was on its way meanwhile cannot bring them back.

  ids() { return this.#keys.keys(); }
  askOf(id) { return this.asks.get(this.#keys.get(id)); }
  // Nothing more is to be learned about it.
  knows(id) { return this.#keys.has(id) || this.#gone.has(id); }

  // Gives the keys of asks that were not there before.
  put(questions) {
    const changed = new Map();
    const fresh = [];
    for (const question of questions) {
      if (question.status !== 'pending' || this.#gone.has(question.id)) continue;
      const key = keyOf(question);
      const before = changed.get(key) ?? this.asks.get(key)?.questions;
      const known = before?.find(({ id }) => id === question.id);
      if (known && same(known, question)) continue;
      if (!before) fresh.push(key);
      changed.set(key, [...(before ?? []).filter(({ id }) => id !== question.id), question]);
      this.#keys.set(question.id, key);
    }
    for (const [key, all] of changed) this.asks.set(key, makeAsk(all));
    return fresh;
  }

  // Forgets a question. Gives the key of its ask, if it was there.
  drop(id) {
    const key = this.#keys.get(id);
    if (key === undefined) return undefined;
    this.#keys.delete(id);
    const rest = this.asks.get(key).questions.filter((question) => question.id !== id);
    if (rest.length) this.asks.set(key, makeAsk(rest));
    else this.asks.delete(key);
    return key;
  }

  // As drop, and for good.
  settle(id) {
    this.#gone.add(id);
    return this.drop(id);
  }
}

const kOrders = {
  newest: (a, b) => b.created - a.created || (a.id < b.id ? 1 : -1),
  urgent: (a, b) => a.deadline - b.deadline || b.created - a.created || (a.id < b.id ? 1 : -1),
};

// The asks to show, in order. `agents`: only theirs, if given.
export function arrange(asks, { search = '', agent = '', channel = '', agents = null, order = 'newest' } = {}) {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  return [...asks].filter((ask) => (!agent || ask.agent === agent)
    && (!channel || ask.channels.includes(channel))
    && (!agents || agents.has(ask.agent))
    && words.every((word) => ask.searched.includes(word))).sort(kOrders[order]);
}

// What there is to filter by.
export function facets(asks) {
  const agents = new Set();
  const channels = new Set();
  for (const ask of asks) {
    agents.add(ask.agent);
    ask.channels.forEach((channel) => channels.add(channel));
  }
  return { agents: [...agents].sort(), channels: kChannels.filter((channel) => channels.has(channel)) };
}

// How long there is for it: [words, how pressing].
export function timeLeft(deadline, now = Date.now()) {
  const seconds = (deadline - now) / 1000;
  if (seconds <= 0) return ['overdue', 'late'];
  return seconds < kSoon ? [`only ${span(seconds)} left`, 'soon'] : [`${span(seconds)} left`, ''];
}
