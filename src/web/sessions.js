// All sessions, the newest first, by status and agent; the filter is in the address, so that it can be linked to.
import { get, withQuery } from './api.js';
import { el, find, skeleton, state } from './dom.js';
import { follow } from './live.js';
import { oneAtATime } from './one_at_a_time.js';
import { kStatus, statusTag } from './session_head.js';
import { announce, showConnection, toast, useKeys } from './shell.js';
import { took } from './story_words.js';
import { everySecond, exact, since } from './time.js';

const kPage = 50;
const kSoon = 800;  // Milliseconds in which changes are gathered: a busy server has many.
const kTypes = [
  'session_started', 'question_asked', 'session_resumed', 'session_retried', 'session_completed', 'session_failed', 'session_cancelled',
];

const known = { sessions: [], next: null, agents: [] };
const filter = () => {
  const query = new URLSearchParams(location.search);
  return { status: query.get('status') ?? '', agent: query.get('agent') ?? '' };
};
const isFiltered = () => Object.values(filter()).some(Boolean);
const fetchPage = (cursor = '') => get(withQuery('/agent/sessions', { ...filter(), limit: kPage, cursor }));

// The filter.
const choice = (name, label, options) => {
  const now = filter()[name];
  const known = options.some(([value]) => value === now) || !now ? options : [...options, [now, now]];
  const field = el('select', { id: `by-${name}`, change: () => choose({ [name]: field.value }) },
    known.map(([value, text]) => el('option', { value, selected: value === now }, text)));
  return el('label', { for: `by-${name}` }, label, ' ', field);
};

const filterView = el('form', { class: 'filters', 'aria-label': 'Filter', submit: (event) => event.preventDefault() });
const showFilter = () => {
  const agents = [...new Set([...known.agents, ...known.sessions.map(({ agent_name: name }) => name)])].sort();
  const focused = document.activeElement?.id;
  filterView.replaceChildren(
    choice('status', 'Status', [['', 'Any'], ...Object.entries(kStatus)]),
    choice('agent', 'Agent', [['', 'All'], ...agents.map((name) => [name, name])]),
    isFiltered() ? showAll() : '');
  if (focused && filterView.querySelector(`#${focused}`)) find(focused).focus();
};

const showAll = () => el('button', { type: 'button', class: 'quiet small', click: () => choose({ status: '', agent: '' }) }, 'Show all');

const choose = (changes) => {
  history.pushState(null, '', withQuery('/sessions', { ...filter(), ...changes }));
  reload();
};

// The rows.
const cell = (label, attributes, ...content) => el('td', { 'data-label': label, ...attributes }, ...content);
const ranFor = (session) => took((session.completed_at ? Date.parse(session.completed_at) : Date.now()) - Date.parse(session.created_at));

// A click anywhere in a row opens it, unless it marked some text.
const openRow = ({ target, currentTarget }) => {
  if (!target.closest('a') && !String(getSelection())) currentTarget.querySelector('a').click();
};

const rowView = (session) => el('tr', { 'data-id': session.id, click: openRow },
  cell('Status', {}, statusTag(session.status)),
  cell('Agent', { class: 'agent' },
    el('a', { href: `/session/${session.id}` }, session.agent_name),
    session.error && el('span', { class: 'error', title: session.error }, session.error)),
  cell('Started', {}, el('time', { datetime: session.created_at, title: exact(session.created_at) }, since(session.created_at))),
  cell('Took', { class: 'number', 'data-ran': session.completed_at ? null : '' }, ranFor(session)),
  cell('Questions', { class: 'number' }, String(session.questions_asked)),
  cell('Id', {}, el('code', { title: session.id }, `…${session.id.slice(-12)}`)));

const body = el('tbody');
const drawn = new Map();
const rowOf = (session) => {
  const text = JSON.stringify({ ...session, result: null });
  const old = drawn.get(session.id);
  if (old?.text === text) return old.view;
  const view = rowView(session);
  drawn.set(session.id, { text, view });
  if (old?.view.contains(document.activeElement)) queueMicrotask(() => view.querySelector('a').focus());
  return view;
};

const column = (name) => el('th', { scope: 'col', class: ['Took', 'Questions'].includes(name) ? 'number' : null }, name);
const table = el('table', { class: 'sessions' },
  el('thead', {}, el('tr', {}, ['Status', 'Agent', 'Started', 'Took', 'Questions', 'Id'].map(column))), body);
const more = el('button', { type: 'button', class: 'quiet', click: () => loadMore() }, 'Load more');
const listView = el('section', { class: 'panel list', 'aria-label': 'Sessions' }, table, el('p', { class: 'more' }, more));
const place = el('div');

const emptyView = () => (isFiltered()
  ? state({ title: 'None like that', text: 'No session has this status and agent.', action: showAll() })
  : state({
    title: 'No session yet', text: 'A session begins when an agent is triggered, or asks people something.',
    action: el('a', { href: '/agents' }, 'See the agents, and try one'),
  }));

const troubleView = (error) => state({
  kind: 'error', title: 'The sessions could not be loaded', text: `${error.message}.`,
  action: el('button', { type: 'button', click: () => reload() }, 'Try again'),
});

const show = () => {
  showFilter();
  const { sessions } = known;
  if (sessions.length === 0) place.replaceChildren(emptyView());
  const rows = sessions.map(rowOf);
  // Only what is not in its place is moved: a moved element loses its focus.
  rows.forEach((row, index) => {
    if (body.children[index] !== row) body.insertBefore(row, body.children[index] ?? null);
  });
  while (body.children.length > rows.length) body.lastElementChild.remove();
  more.parentElement.hidden = known.next === null;
  if (sessions.length > 0 && !listView.isConnected) place.replaceChildren(listView);
};

const refresh = oneAtATime(async () => {
  const asked = location.search;
  const page = await fetchPage();
  if (asked !== location.search) return;
  const last = page.sessions.at(-1)?.id;
  // What is older than this page was loaded by hand, and stays. What is not in it any more has left the filter.
  const older = page.next_cursor === null ? [] : known.sessions.filter(({ id }) => id < last);
  if (older.length === 0) known.next = page.next_cursor;
  known.sessions = [...page.sessions, ...older];
  show();
});

const reload = async () => {
  Object.assign(known, { sessions: [], next: null });
  drawn.clear();
  body.replaceChildren();
  showFilter();
  place.replaceChildren(skeleton(6));
  try {
    await refresh();
    announce(`${known.sessions.length}${known.next ? ' or more' : ''} sessions`);
  } catch (error) {
    place.replaceChildren(troubleView(error));
  }
};

const loadMore = async () => {
  more.disabled = true;
  try {
    const asked = location.search;
    const page = await fetchPage(known.next);
    if (asked !== location.search) return;
    const first = page.sessions[0]?.id;
    known.sessions.push(...page.sessions);
    known.next = page.next_cursor;
    show();
    if (first) body.querySelector(`[data-id="${first}"] a`).focus();
  } catch (error) {
    toast(`More could not be loaded: ${error.message}.`, 'error');
  } finally {
    more.disabled = false;
  }
};

// The keys.
const move = (by) => () => {
  const links = [...body.querySelectorAll('.agent a')];
  const at = links.indexOf(document.activeElement);
  const next = links[at < 0 ? 0 : Math.min(links.length - 1, Math.max(0, at + by))];
  next?.focus();
  next?.scrollIntoView({ block: 'nearest' });
};
useKeys([
  [['j', 'ArrowDown'], 'Next session', move(1)],
  [['k', 'ArrowUp'], 'Session before', move(-1)],
  [['Enter'], 'Open it', () => false],
  [['f'], 'Filter', () => find('by-status').focus()],
]);

let soon = null;
const onEvents = () => {
  soon ??= setTimeout(() => {
    soon = null;
    refresh().catch(() => {});
  }, kSoon);
};

find('content').replaceChildren(el('div', { class: 'wide' }, filterView, place));
addEventListener('popstate', reload);
reload();
get('/agent/agents').then(({ agents }) => {
  known.agents = agents.map(({ name }) => name);
  showFilter();
}).catch(() => {});
let upToDate = true;  // By the load just begun.
const catchUp = async () => {
  if (!upToDate || known.sessions.length === 0) await refresh();
  upToDate = false;
};
follow({ types: kTypes, onEvents, refresh: catchUp, onState: showConnection });
everySecond(() => {
  const byId = new Map(known.sessions.map((session) => [session.id, session]));
  for (const time of body.querySelectorAll('time')) time.textContent = since(time.dateTime);
  for (const cell of body.querySelectorAll('[data-ran]')) cell.textContent = ranFor(byId.get(cell.parentElement.dataset.id));
});
