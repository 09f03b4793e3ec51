// Keeps the pending questions as the server has them: loads them in pages, then follows what happens.
import { get, withQuery } from './api.js';
import { follow } from './live.js';

const kFirstPage = 50;      // Few, so that there is something to see at once.
const kPage = 500;
export const kMost = 5000;
const kBurst = 100;         // Questions that are asked within this many ms are fetched together.
const kPatience = 1500;     // How long the rest may wait for a stream.
const kTypes = ['question_asked', 'question_answered', 'question_expired', 'question_cancelled'];

const page = (parameters) => get(withQuery('/agent/questions', { status: 'pending', ...parameters }));

// All questions of an ask, settled ones too.
export const fetchAsk = async (key) => {
  const [session, ask] = [key.slice(0, key.lastIndexOf('/')), Number(key.slice(key.lastIndexOf('/') + 1))];
  const found = [];
  let cursor = null;
  // The newest first, and of a session it is nearly always the newest that somebody looks at.
  do {
    const { questions, next_cursor: next } = await get(withQuery('/agent/questions', { session, limit: kFirstPage, cursor }));
    found.push(...questions.filter((question) => question.ask === ask));
    cursor = questions.every((question) => question.ask >= ask) ? next : null;
  } while (cursor);
  return found;
};

// `order()`: which are loaded first. `onChange({fresh, settled})`: keys of asks that came, and ids of questions that are pending no more.
// `onState`: as in live.js. The feed's `complete` tells that all was loaded once, `partial` that there are more than kMost.
export function makeFeed({ pending, order, onChange, onState }) {
  const feed = { complete: false, partial: false };
  const wanted = new Set();   // Questions that were asked and are not fetched.
  let queue = Promise.resolve();
  let timer = 0;

  const loadAll = async () => {
    const before = new Set(pending.ids());
    const seen = new Set();
    const fresh = [];
    let cursor = null;
    do {
      const { questions, next_cursor: next } = await page({ order: order(), limit: cursor ? kPage : kFirstPage, cursor });
      questions.forEach(({ id }) => seen.add(id));
      fresh.push(...pending.put(questions));
      cursor = next;
      if (!feed.complete) onChange({ fresh: [], settled: [] });
    } while (cursor && seen.size < kMost);
    const settled = [...before].filter((id) => !seen.has(id));
    settled.forEach((id) => pending.drop(id));
    const first = !feed.complete;
    Object.assign(feed, { complete: true, partial: cursor !== null });
    onChange({ fresh: first ? [] : fresh, settled });
  };

  // The newest, until none is missing; what is not among them is looked up by its name.
  const fetchWanted = async () => {
    const fresh = [];
    let cursor = null;
    for (let useful = true; useful && wanted.size;) {
      const { questions, next_cursor: next } = await page({ limit: kFirstPage, cursor });
      useful = next !== null && questions.some(({ id }) => wanted.has(id));
      fresh.push(...pending.put(questions));
      questions.forEach(({ id }) => wanted.delete(id));
      cursor = next;
    }
    for (const id of wanted) {
      wanted.delete(id);
      if (!pending.knows(id)) fresh.push(...pending.put([await get(`/agent/questions/${id}`)]));
    }
    onChange({ fresh, settled: [] });
  };

  // One after the other, so that no older page is laid over a newer one.
  const inTurn = (step) => {
    const done = queue.then(step);
    queue = done.catch(() => {});
    return done;
  };

  const onEvents = (events) => {
    const settled = [];
    for (const { type, data } of events) {
      if (type === 'question_asked') {
        if (!pending.knows(data.question)) wanted.add(data.question);
      } else {
        wanted.delete(data.question);
        pending.settle(data.question);
        settled.push(data.question);
      }
    }
    if (settled.length) onChange({ fresh: [], settled });
    // What fails here is made up for by the next refresh: the stream breaks too when the server is away.
    if (wanted.size && !timer) timer = setTimeout(() => { timer = 0; inTurn(fetchWanted).catch(() => {}); }, kBurst);
  };

  feed.refresh = () => inTurn(loadAll);
  feed.start = () => {
    const first = inTurn(async () => {
      pending.put((await page({ order: order(), limit: kFirstPage })).questions);
      onChange({ fresh: [], settled: [] });
    });
    follow({ types: kTypes, background: true, onEvents, refresh: feed.refresh, onState });
    setTimeout(() => { if (!feed.complete) feed.refresh().catch(() => {}); }, kPatience);
    return first;
  };
  return feed;
}
