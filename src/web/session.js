// One session: its head, its story as a strip and as a list, what went in and what came out, and what can be done to it.
import { get, may, withQuery } from './api.js';
import { el, find, shorten, skeleton, state } from './dom.js';
import { copyButton, jsonView, parseExactly, toText } from './json_view.js';
import { follow } from './live.js';
import { sessionActions } from './session_actions.js';
import { announce, showConnection, useKeys } from './shell.js';
import { story } from './story.js';
import { stripView } from './strip_view.js';
import { took } from './strip.js';
import { everySecond, exact } from './time.js';
import { timelineView } from './timeline.js';

const id = decodeURIComponent(location.pathname.split('/')[2] ?? '').toLowerCase();
const api = `/agent/session/${encodeURIComponent(id)}`;
const content = find('content');

const kStatus = { running: 'running', pending_input: 'waits for people', completed: 'completed', failed: 'failed', cancelled: 'cancelled' };
const kSoon = 150;  // Milliseconds in which changes are gathered before everything is fetched again.
const kQuiet = new Set(['agent_output', 'delivery_sent', 'delivery_failed', 'delivery_dead', 'delivery_obsolete', 'delivery_requeued', 'turn_started']);

// What the page knows. `record` has what may be large, and what this caller may do.
const known = { session: null, events: [], questions: [], record: null, recordTrouble: null };
const newest = () => known.events.at(-1)?.seq ?? 0;
const finished = () => known.session.completed_at !== null;

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

// The head.
const time = (iso) => el('time', { datetime: iso, title: iso }, exact(iso));
const fact = (name, ...value) => el('div', {}, el('dt', {}, name), el('dd', {}, ...value));
const sessionLink = (to, text) => el('a', { href: `/session/${to}` }, text);
const ran = el('span');
const tick = () => {
  if (known.session) ran.textContent = took((finished() ? Date.parse(known.session.completed_at) : Date.now()) - Date.parse(known.session.created_at));
};

const childrenView = (children) => el('span', { class: 'children' }, children.slice(0, 20).map((child) =>
  el('span', {}, sessionLink(child.id, `${child.agent_name} ${child.id.slice(-6)}`), ' ', el('span', { class: `tag ${child.status}` }, kStatus[child.status] ?? child.status))),
children.length > 20 && ` and ${children.length - 20} more`);

const factsView = ({ session, record }) => el('dl', { class: 'facts' },
  fact('Id', el('code', { title: session.id }, `…${session.id.slice(-12)}`), ' ', copyButton('Session id', () => session.id)),
  fact('Started', time(session.created_at)),
  session.completed_at && fact('Ended', time(session.completed_at)),
  fact(finished() ? 'Took' : 'So far', ran),
  fact('Turns', String(session.turn)),
  fact('Questions', String(session.questions_asked)),
  session.parent_id && fact('Started by', sessionLink(session.parent_id, `…${session.parent_id.slice(-12)}`)),
  record?.children.length > 0 && fact('Sub-sessions', childrenView(record.children)));

const actions = sessionActions(id, () => refresh().catch(() => {}));
const kActions = [['retry', 'Try again', 'may_retry', ''], ['message', 'Send a message', 'may_message', 'quiet'], ['cancel', 'Cancel', 'may_cancel', 'quiet']];
const allowed = (right) => Boolean(known.record?.[right]);

const actionsView = () => {
  const buttons = kActions.filter(([, , right]) => allowed(right)).map(([name, label, , kind]) =>
    el('button', { type: 'button', class: kind, 'data-action': name, click: actions[name] }, label));
  return buttons.length > 0 && el('div', { class: 'buttons actions' }, buttons);
};

const pendingView = (questions) => el('section', { class: 'panel waiting', 'aria-labelledby': 'waiting-title' },
  el('h2', { id: 'waiting-title' }, questions.length === 1 ? 'It waits for an answer' : `It waits for ${questions.length} answers`),
  el('ul', {}, questions.map((question) => el('li', {},
    el('span', { class: 'question' }, question.header && el('strong', {}, `${question.header}: `), shorten(question.question, 200)), ' ',
    el('span', { class: 'ways' },
      el('a', { href: `/#${question.id}` }, may('questions:answer') ? 'Answer in the inbox' : 'See it in the inbox'),
      may('questions:answer') && el('a', { href: `/question/${question.id}` }, 'Plain page'))))));

const errorView = ({ error, status }) => el('section', { class: status === 'failed' ? 'panel trouble' : 'panel', 'aria-labelledby': 'error-title' },
  el('h2', { id: 'error-title' }, 'Why it ended'), el('p', { class: 'error-text' }, error));

const headView = () => {
  const { session } = known;
  const pending = session.questions ?? [];
  return [
    el('section', { class: 'panel head', 'aria-labelledby': 'agent-name' },
      el('div', { class: 'title' },
        el('h2', { id: 'agent-name' }, session.agent_name), el('span', { class: `tag ${session.status}` }, kStatus[session.status] ?? session.status), actionsView()),
      factsView(known)),
    session.error && errorView(session),
    pending.length > 0 && pendingView(pending),
  ].filter(Boolean);
};

// What went in and came out.
const jsonPanel = (title, value, open) => el('section', { class: 'panel value', 'aria-label': title },
  el('div', { class: 'title' }, el('h2', {}, title), copyButton(title, () => toText(value, 2))), jsonView(value, open));

const recordTrouble = (error) => el('section', { class: 'panel value' },
  el('h2', {}, 'Payload and state'),
  el('p', { class: 'note' }, `They could not be loaded: ${error.message}. `, el('button', { type: 'button', class: 'link', click: () => refresh().catch(() => {}) }, 'Try again')));

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
  if (views.length !== values.view.children.length || views.some((view, index) => values.view.children[index] !== view)) values.view.replaceChildren(...views);
};

// The page.
const head = el('div', { class: 'heads' });
const strip = stripView();
const timeline = timelineView();
const noStory = el('p', { class: 'note' }, 'Nothing of its story is kept any more.');
const page = el('div', { class: 'wide session' }, head,
  el('section', { class: 'panel picture', 'aria-label': 'The story as a picture' }, strip.view),
  el('div', { class: 'columns' },
    el('section', { class: 'panel', 'aria-labelledby': 'story-title' }, el('h2', { id: 'story-title' }, 'The story'), timeline.view, noStory),
    values.view));

let headShown = '';
const showHead = () => {
  const { session, record } = known;
  const now = toText([{ ...session, result: null }, record && { ...record, payload: null, state: null, resume: null }]);
  if (now === headShown) return;
  headShown = now;
  const focused = document.activeElement?.dataset?.action;
  head.replaceChildren(...headView());
  if (focused) (head.querySelector(`[data-action="${focused}"]`) ?? find('main')).focus();
};

let cost = 0;  // Milliseconds that the last drawing took: the story of a long session is not told anew for every line of output.
const show = () => {
  const begin = performance.now();
  const { session, events, questions, record } = known;
  document.title = `${session.agent_name} · ${kStatus[session.status] ?? session.status} · Holdpoint`;
  if (!page.isConnected) content.replaceChildren(page);
  showHead();
  tick();
  strip.show({ session, events });
  noStory.hidden = events.length > 0;
  strip.view.parentElement.hidden = strip.view.hidden;
  timeline.show(story({ session, events, questions, messages: record?.messages ?? [] }));
  showValues();
  cost = performance.now() - begin;
};

const kHeard = { completed: 'The session is completed', failed: 'The session failed', cancelled: 'The session is cancelled', pending_input: 'The session waits for an answer' };

const refresh = async () => {
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
};

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
    action: el('button', { type: 'button', click: () => { content.replaceChildren(skeleton(5)); refresh().catch(() => {}); } }, 'Try again'),
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
    if (anew) refresh().catch(() => {});
    else show();
  }, Math.max(kSoon, 5 * cost));
};

const act = (name, right) => () => (allowed(right) ? void actions[name]() : false);
useKeys([
  [['c'], 'Cancel the session', act('cancel', 'may_cancel')],
  [['r'], 'Try it again', act('retry', 'may_retry')],
  [['m'], 'Send it a message', act('message', 'may_message')],
  [['u'], 'All sessions', () => { location.href = '/sessions'; }],
]);

content.replaceChildren(skeleton(5));
// Loaded first, so that the stream begins where that ends.
await refresh().catch(() => {});
let upToDate = Boolean(known.session);
const catchUp = async () => {
  if (!upToDate) await refresh();
  upToDate = false;
};
if (known.session || content.querySelector('.error')) {
  follow({ path: () => `${api}/events?after=${newest()}`, onEvents, refresh: catchUp, onState: showConnection });
}
everySecond(() => {
  if (!known.session || finished()) return;
  tick();
  strip.tick();
});
