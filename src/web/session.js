// One session: its head, its story as a strip and as a list, what went in and what came out, and what can be done to it.
import { get, may, withQuery } from './api.js';
import { el, find, skeleton, state } from './dom.js';
import { copyButton, jsonView, parseExactly, toText } from './json_view.js';
import { follow } from './live.js';
import { oneAtATime } from './one_at_a_time.js';
import { sessionActions } from './session_actions.js';
import { headView, kStatus } from './session_head.js';
import { announce, showConnection, useKeys } from './shell.js';
import { story } from './story.js';
import { stripView } from './strip_view.js';
import { everySecond } from './time.js';
import { timelineView } from './timeline.js';

const id = decodeURIComponent(location.pathname.split('/')[2] ?? '').toLowerCase();
const api = `/agent/session/${encodeURIComponent(id)}`;
const content = find('content');

const kSoon = 150;  // Milliseconds in which changes are gathered before everything is fetched again.
// What changes the story alone.
const kQuiet = new Set([
  'agent_output', 'delivery_sent', 'delivery_failed', 'delivery_dead', 'delivery_obsolete', 'delivery_requeued', 'turn_started',
  'tool_ran',
]);

// What the page knows. `record` has what may be large, and what this caller may do.
const known = { session: null, events: [], questions: [], record: null, recordTrouble: null };
const newest = () => known.events.at(-1)?.seq ?? 0;

const takeEvents = (events) => {
  const fresh = events.filter(({ seq }) => seq > newest());
  known.events.push(...fresh);
  return fresh;
};

const loadEvents = async () => {
  for (let after = newest(); after !== null;) {
    const page = await get(withQuery(`${api}/events`, { after, limit: 500 }));
    takeEvents(page.events);
    after = page.next_cursor === null ? null : Number(page.next_cursor);
  }
};

const loadQuestions = async () => {
  if (!may('questions:read')) return [];
  const all = [];
  for (let cursor = ''; cursor !== null;) {
    const page = await get(withQuery('/agent/questions', { session: id, limit: 500, cursor }));
    all.push(...page.questions);
    cursor = page.next_cursor;
  }
  return all;
};

const loadRecord = async () => {
  try {
    known.record = await get(`${api}/record`, undefined, parseExactly);
    known.recordTrouble = null;
  } catch (error) {
    known.recordTrouble = error;
  }
};

// What went in and came out.
const jsonPanel = (title, value, open) => el('section', { class: 'panel value', 'aria-label': title },
  el('div', { class: 'title' }, el('h2', {}, title), copyButton(title, () => toText(value, 2))), jsonView(value, open));

const recordTrouble = (error) => el('section', { class: 'panel value' },
  el('h2', {}, 'Payload and state'),
  el('p', { class: 'note' }, `They could not be loaded: ${error.message}. `,
    el('button', { type: 'button', class: 'link', click: () => lookAgain() }, 'Try again')));

const kValues = [
  ['Result', () => known.session.result, true], ['Payload', () => known.record?.payload, true], ['State', () => known.record?.state, true],
  ['Resume', () => known.record?.resume, false],  // The story tells it already.
];
const values = { view: el('div', { class: 'values' }), drawn: new Map() };

// A value that has not changed stays as it is, with all that is open in it.
const showValues = () => {
  const views = [];
  for (const [title, value, open] of kValues) {
    const now = value();
    if (now === null || now === undefined) continue;
    const text = toText(now);
    if (values.drawn.get(title)?.text !== text) values.drawn.set(title, { text, view: jsonPanel(title, now, open) });
    views.push(values.drawn.get(title).view);
  }
  if (known.recordTrouble) views.push(recordTrouble(known.recordTrouble));
  const there = [...values.view.children];
  if (views.length !== there.length || views.some((view, index) => there[index] !== view)) values.view.replaceChildren(...views);
};

// The page.
const actions = sessionActions(id, () => lookAgain());
const head = headView(actions);
const strip = stripView();
const timeline = timelineView();
const noStory = el('p', { class: 'note' }, 'Nothing of its story is kept any more.');
const page = el('div', { class: 'wide session' }, head.view,
  el('section', { class: 'panel picture', 'aria-label': 'The story as a picture' }, strip.view),
  el('div', { class: 'columns' },
    el('section', { class: 'panel', 'aria-labelledby': 'story-title' }, el('h2', { id: 'story-title' }, 'The story'), timeline.view, noStory),
    values.view));

let cost = 0;  // Milliseconds that the last drawing took: the story of a long session is not told anew for every line of output.
const show = () => {
  const begin = performance.now();
  const { session, events, questions, record } = known;
  document.title = `${session.agent_name} · ${kStatus[session.status] ?? session.status} · Holdpoint`;
  if (!page.isConnected) content.replaceChildren(page);
  head.show(known);
  strip.show({ session, events });
  noStory.hidden = events.length > 0;
  strip.view.parentElement.hidden = strip.view.hidden;
  timeline.show(story({ session, events, questions, messages: record?.messages ?? [], children: record?.children ?? [], payload: record?.payload ?? null }));
  showValues();
  cost = performance.now() - begin;
};

const kHeard = {
  completed: 'The session is completed',
  failed: 'The session failed',
  cancelled: 'The session is cancelled',
  pending_input: 'The session waits for an answer',
};

const refresh = oneAtATime(async () => {
  const before = known.session?.status;
  try {
    const [session, questions] = await Promise.all([get(api, undefined, parseExactly), loadQuestions(), loadEvents(), loadRecord()]);
    Object.assign(known, { session, questions });
  } catch (error) {
    if (error.status === 404) showUnknown();
    else if (!known.session) showTrouble(error);
    if (error.status !== 404) throw error;
    return;
  }
  show();
  if (before && before !== known.session.status) announce(kHeard[known.session.status] ?? 'The session goes on');
});
// What went wrong shows in the lamp, or in place of the page.
const lookAgain = () => refresh().catch(() => {});

const showUnknown = () => content.replaceChildren(state({
  title: 'There is no such session',
  text: 'It may have been removed: finished sessions are kept for some time only. Or its address was not copied as a whole.',
  action: el('a', { href: '/sessions' }, 'All sessions'),
}));

let trouble = '';
const showTrouble = (error) => {
  // Left alone while nothing new is to be said: somebody may be about to press the button.
  if (trouble === error.message && content.querySelector('.state.error')) return;
  trouble = error.message;
  content.replaceChildren(state({
    kind: 'error', title: 'The session could not be loaded', text: `${error.message}.`,
    action: el('button', { type: 'button', click: () => { content.replaceChildren(skeleton(5)); lookAgain(); } }, 'Try again'),
  }));
};

let soon = null;
let moved = false;  // Something happened that changes more than the story.
const onEvents = (events) => {
  const fresh = takeEvents(events);
  if (!known.session || fresh.length === 0) return;
  moved ||= fresh.some(({ type }) => !kQuiet.has(type));
  soon ??= setTimeout(() => {
    soon = null;
    const anew = moved;
    moved = false;
    if (anew) lookAgain();
    else show();
  }, Math.max(kSoon, 5 * cost));
};

const act = (name, right) => () => (known.record?.[right] ? void actions[name]() : false);
useKeys([
  [['c'], 'Cancel the session', act('cancel', 'may_cancel')],
  [['r'], 'Try it again', act('retry', 'may_retry')],
  [['m'], 'Send it a message', act('message', 'may_message')],
  [['u'], 'All sessions', () => { location.href = '/sessions'; }],
]);

content.replaceChildren(skeleton(5));
// Loaded first, so that the stream begins where that ends.
await lookAgain();
let upToDate = Boolean(known.session);
const catchUp = async () => {
  if (!upToDate) await refresh();
  upToDate = false;
};
if (known.session || content.querySelector('.error')) {
  follow({ path: () => `${api}/events?after=${newest()}`, onEvents, refresh: catchUp, onState: showConnection });
}
everySecond(() => {
  if (!known.session || known.session.completed_at) return;
  head.tick();
  strip.tick();
});
