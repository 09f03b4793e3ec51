// What there is to decide: asks that wait, answers under way, and what became of asks while somebody looked at them.
import { get, may, me, post } from './api.js';
import { inWords } from './draft.js';
import { fetchAsk } from './feed.js';
import { makeOutbox } from './outbox.js';
import { Pending } from './pending.js';
import { endingLine, whoMayAnswer } from './wording.js';

const kNone = Object.freeze({});

// `onChange`: something is to be drawn. `onSent(ask, words)`: the server has the answer. `onReturned(ask)`: it did not take it, and the ask
// is there again, with the reason.
export function makeDesk({ onChange, onSent, onReturned }) {
  const pending = new Pending();
  const drafts = new Map();       // By question id.
  const agents = new Map();       // By name, as the server tells of them.
  const settled = new Map();      // Ask key → its questions that are settled, where that is known.
  const over = new Map();         // Ask key → the ask, if all of it is settled and it is still shown; `lost`: an answer came too late.
  const complaints = new Map();   // Ask key → {question id or '': what was wrong}.

  const forget = (ask) => ask.questions.forEach(({ id }) => {
    pending.settle(id);
    drafts.delete(id);
  });

  // Learns how far an ask is settled, and by whom: gives what is, the latest first. Throws a Refusal.
  const lookUp = async (ask, lost = false) => {
    const questions = await fetchAsk(ask.key);
    const done = questions.filter(({ status }) => status !== 'pending').sort((a, b) => b.settled_at.localeCompare(a.settled_at));
    done.forEach(({ id }) => pending.settle(id));
    pending.put(questions);
    // What says the same as before stays the same, so that nothing is drawn anew for it.
    if (done.length && JSON.stringify(done) !== JSON.stringify(settled.get(ask.key))) settled.set(ask.key, done);
    if (done.length && done.length === questions.length) {
      const known = over.get(ask.key);
      if (!known || (lost && !known.lost)) over.set(ask.key, { ...ask, questions: [], lost });
    }
    return done;
  };

  const refused = async ({ ask, answers }, refusal) => {
    const [, id] = refusal.field.match(/^answers\.(.+)$/) ?? [];
    if (refusal.status === 409 || refusal.status === 404) {
      const done = await lookUp(ask, true).catch(() => []);
      const first = done.find((question) => question.id === refusal.body?.question_id) ?? done[0];
      const line = first ? endingLine(first, me.name) : refusal.message;
      if (!over.has(ask.key)) complaints.set(ask.key, { '': `${line}. Your answers were not sent: look at the rest, and submit again.` });
    } else {
      complaints.set(ask.key, { [refusal.status === 422 && id in answers ? id : '']: `Not taken: ${refusal.message}.` });
    }
    onReturned(ask);
  };

  const outbox = makeOutbox({
    send: ({ ask, answers }) => post(`/agent/answer/${ask.session}`, { answers }),
    onSent: ({ ask, words }) => {
      forget(ask);
      settled.delete(ask.key);
      over.delete(ask.key);
      onSent(ask, words);
    },
    onRefused: refused,
    onChange,
  });

  const rightsOn = (name) => {
    const agent = agents.get(name);
    const answer = agent?.may_answer ?? may('questions:answer');
    const cancel = may('sessions:create') || (answer && (agent?.allow_cancel ?? true));
    return { answer, cancel, why: answer ? '' : whoMayAnswer(agent, may('questions:answer')) };
  };

  return {
    pending, drafts, agents, outbox, lookUp,
    waiting: () => [...pending.asks.values()].filter(({ key }) => !outbox.holds(key)),
    lost: () => [...over.values()].filter((ask) => ask.lost),

    // What a card shows of an ask; null if there is none, or if it is not known how it ended.
    viewOf(key) {
      const ask = pending.asks.get(key) ?? over.get(key);
      if (!ask) return null;
      const done = settled.get(key) ?? [];
      const questions = [...ask.questions, ...done].sort((a, b) => a.position - b.position);
      return { ask, questions, done, me: me.name, complaints: complaints.get(key) ?? kNone, rights: rightsOn(ask.agent) };
    },
    // Of an ask that is over nothing is shown any more.
    clear: (key) => over.delete(key),
    // The same, unless there is something about it that somebody must hear of.
    pass(key) { if (over.get(key)?.lost === false) over.delete(key); },

    submit(ask, answers) {
      if (outbox.holds(ask.key)) return;
      const values = Object.values(answers);
      complaints.delete(ask.key);
      outbox.add({ key: ask.key, ask, answers, words: values.length === 1 ? inWords(values[0]) : `${values.length} answers` });
    },
    // Throws a Refusal.
    async cancel(ask) {
      await post(`/agent/session/${ask.session}/cancel`);
      forget(ask);
    },
    async loadAgents() {
      const { agents: all } = await get('/agent/agents');
      if (JSON.stringify(all) === JSON.stringify([...agents.values()])) return;
      agents.clear();
      all.forEach((agent) => agents.set(agent.name, agent));
      onChange();
    },
  };
}
