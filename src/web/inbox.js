// The inbox: what waits for an answer on one side, the one that somebody looks at on the other; on a phone one after the other.
import { get, may, me, post } from './api.js';
import { makeCard } from './ask_card.js';
import { makeList } from './ask_list.js';
import { el, find, shorten, skeleton, state } from './dom.js';
import { inWords } from './draft.js';
import { fetchAsk, kMost, makeFeed } from './feed.js';
import { makeNotifier } from './notifier.js';
import { makeOutbox } from './outbox.js';
import { Pending, arrange, facets, keyOf } from './pending.js';
import { announce, confirmed, showConnection, toast, useKeys } from './shell.js';
import { everySecond } from './time.js';
import { makeToolbar } from './toolbar.js';
import { endingLine, news, whoMayAnswer } from './wording.js';

const wide = matchMedia('(min-width: 56.25rem)');
const pending = new Pending();
const drafts = new Map();       // By question id.
const settled = new Map();      // Ask key → its questions that are settled, where that is known.
const over = new Map();         // Ask key → {ask, lost}: all of it is settled, and it is still shown.
const complaints = new Map();   // Ask key → {question id or '': what was wrong}.
const agents = new Map();       // By name, as the server tells of them.
const nothing = Object.freeze({});
let visible = [];
let selected = null;            // Ask key.
let loaded = false;
let failure = null;
let drawn = [];                 // What the card shows.
let wantedId = decodeURIComponent(location.hash.slice(1)) || new URLSearchParams(location.search).get('q');

// ---- What is on the page

const list = makeList(chooseRow);
const notifier = makeNotifier((key) => select(key, 'card'));
const toolbar = makeToolbar({ onFilter: () => paint(true), notifyButton: notifier.button });
const outbox = makeOutbox({
  send: ({ ask, answers }) => post(`/agent/answer/${ask.session}`, { answers }),
  onSent: sent, onRefused: refused, onChange: () => paint(),
});
const card = makeCard({ drafts, onSubmit: submit, onCancel: cancel, onBack: close, onDone: dismiss });
const feed = makeFeed({ pending, order: () => toolbar.filter.order, onChange: changed, onState: connected });

const count = el('p', { class: 'count' });
const listState = el('div', {});
const unsent = el('div', { class: 'unsent', role: 'status', hidden: true });
const listPane = el('section', { class: 'list-pane', 'aria-label': 'Waiting' }, count, list.box, listState);
const cardPane = el('section', { class: 'card-pane', 'aria-label': 'Selected request', tabindex: '-1' });
const page = el('div', { class: 'inbox' }, toolbar.box, unsent, el('div', { class: 'panes' }, listPane, cardPane));

const waiting = () => [...pending.asks.values()].filter(({ key }) => !outbox.holds(key));

function stateOfList(all) {
  if (!loaded) {
    if (!failure) return skeleton(6);
    const again = el('button', { type: 'button', click: start }, 'Try again');
    return state({ kind: 'error', title: 'The questions cannot be loaded', text: `${failure.message}.`, action: again });
  }
  if (visible.length) return null;
  if (all.length) {
    return state({ title: 'Nothing matches', text: `${all.length} waiting in all.`,
      action: el('button', { type: 'button', class: 'quiet', click: () => toolbar.clear() }, 'Clear filters') });
  }
  if (!feed.complete) return skeleton(6);
  return state({ title: 'Nothing waits for you', text: 'Questions of your agents show up here by themselves.',
    action: el('a', { href: '/agents' }, 'See the agents, and try one') });
}

function countLine(all) {
  if (!all.length) return '';
  const shown = toolbar.isFiltered() ? `${visible.length} of ${all.length} waiting` : `${all.length} waiting`;
  if (feed.partial) return `${shown}; only the ${toolbar.filter.order === 'newest' ? 'newest' : 'most urgent'} ${kMost} are loaded`;
  return feed.complete ? shown : `${shown}; loading more …`;
}

function drawUnsent() {
  const kept = outbox.entries().filter((entry) => entry.waiting);
  unsent.hidden = kept.length === 0;
  const line = kept.map(({ ask, label }) => `${shorten(ask.text, 40)} → ${shorten(label, 40)}`).join('; ');
  if (unsent.dataset.line === line) return;
  unsent.dataset.line = line;
  unsent.replaceChildren(
    el('span', {}, el('strong', {}, kept.length === 1 ? 'Not sent yet: ' : `${kept.length} answers are not sent yet: `), line,
      kept.length === 1 ? '. It goes out as soon as the server is back.' : '. They go out as soon as the server is back.'),
    el('button', { type: 'button', class: 'quiet small', click: () => outbox.kick() }, 'Try now'));
}

function rightsOn(name) {
  const agent = agents.get(name);
  const answer = agent?.may_answer ?? may('questions:answer');
  const cancel = may('sessions:create') || (answer && (agent?.allow_cancel ?? true));
  return { answer, cancel, why: answer ? '' : whoMayAnswer(agent, may('questions:answer')) };
}

function viewOf(key) {
  const ask = pending.asks.get(key);
  const done = over.get(key);
  if (!ask && !done) return null;
  const questions = [...(ask?.questions ?? []), ...(settled.get(key) ?? [])].sort((a, b) => a.position - b.position);
  return { ask: ask ?? done.ask, questions, lost: Boolean(done?.lost), me: me.name ?? '',
    complaints: complaints.get(key) ?? nothing, rights: rightsOn((ask ?? done.ask).agent) };
}

function drawCard() {
  const view = selected && viewOf(selected);
  page.classList.toggle('open', Boolean(selected) && !wide.matches);
  if (!selected) {
    drawn = [];
    cardPane.replaceChildren();
    return;
  }
  // While it is looked up who settled it, the card stays as it was.
  if (!view) return;
  const now = [view.ask, settled.get(selected), view.complaints, view.lost, agents.get(view.ask.agent)];
  if (now.length === drawn.length && now.every((part, i) => part === drawn[i])) return;
  drawn = now;
  if (card.box.parentElement !== cardPane) cardPane.replaceChildren(card.box);
  card.show(view);
}

// `anew`: the filter is another.
function paint(anew = false) {
  const all = waiting();
  const named = new Set([...agents.values()].filter((agent) => agent.named).map(({ name }) => name));
  const lost = [...over.values()].filter((entry) => entry.lost).map(({ ask }) => ask);
  visible = [...lost, ...arrange(all, { ...toolbar.filter, agents: toolbar.filter.mine ? named : null })];
  if (anew && wide.matches && !visible.some(({ key }) => key === selected) && !card.isTouched()) selected = visible[0]?.key ?? null;
  if (!selected && wide.matches && visible.length) selected = visible[0].key;
  toolbar.offer(facets(all), named.size > 0);
  toolbar.box.hidden = loaded && !all.length && !lost.length && !toolbar.isFiltered();
  count.textContent = countLine(all);
  list.show(visible, selected, anew);
  if (anew) listPane.scrollTo(0, 0);
  listState.replaceChildren(...[stateOfList(all)].filter(Boolean));
  page.classList.toggle('bare', !visible.length && !selected);
  drawUnsent();
  drawCard();
  document.title = all.length ? `(${all.length}) Inbox · Holdpoint` : 'Inbox · Holdpoint';
}

// ---- Moving about

// `to`: what gets the focus, `row` or `card`. `history`: whether the address tells of it.
function select(key, to = '', inHistory = true) {
  const wasOpen = selected !== null;
  if (selected !== key && over.get(selected)?.lost === false) over.delete(selected);
  selected = key;
  const id = viewOf(key)?.ask.id;
  if (inHistory && id) {
    if (wide.matches || wasOpen) history.replaceState(history.state, '', `#${id}`);
    else history.pushState({ card: true }, '', `#${id}`);
  }
  paint();
  if (!wide.matches && !wasOpen) scrollTo(0, 0);
  if (to === 'row' && wide.matches) list.focus(key);
  else if (to) card.focus();
}

function chooseRow(key, event) {
  if (event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  select(key, wide.matches ? '' : 'card');
}

// Where the next one is, once `key` has left the list.
function leave(key) {
  const at = visible.findIndex((ask) => ask.key === key);
  const rest = visible.filter((ask) => ask.key !== key);
  return rest[Math.min(Math.max(at, 0), rest.length - 1)]?.key ?? null;
}

function move(by) {
  const at = visible.findIndex(({ key }) => key === selected);
  const to = visible[at < 0 ? 0 : at + by];
  if (to) select(to.key, 'row');
}

// Goes on after `key` is dealt with: to `next`, or on a phone to the list.
function goOn(key, next) {
  if (selected !== key) return;
  if (!wide.matches) return void close();
  if (next) select(next, 'row');
  else {
    closeNow();
    history.replaceState(null, '', location.pathname);
    find('main').focus({ preventScroll: true });
  }
}

function closeNow() {
  const key = selected;
  over.delete(key);
  selected = null;
  paint();
  if (!wide.matches && !list.focus(key)) find('main').focus({ preventScroll: true });
}

function close() {
  if (wide.matches) return void list.focus(selected);
  if (history.state?.card) history.back();
  else {
    history.replaceState(null, '', location.pathname);
    closeNow();
  }
}

function dismiss() {
  const key = selected;
  const next = leave(key);
  over.delete(key);
  goOn(key, next);
}

addEventListener('popstate', () => {
  const ask = pending.askOf(decodeURIComponent(location.hash.slice(1)));
  if (ask) select(ask.key, 'card', false);
  else if (selected && !wide.matches) closeNow();
});
wide.addEventListener('change', () => paint());

// ---- Answering

function submit(ask, answers) {
  const next = leave(ask.key);
  const values = Object.values(answers);
  complaints.delete(ask.key);
  outbox.add({ key: ask.key, ask, answers, label: values.length === 1 ? inWords(values[0]) : `${values.length} answers` });
  goOn(ask.key, next);
}

const forget = (ask) => ask.questions.forEach(({ id }) => {
  pending.settle(id);
  drafts.delete(id);
});

function sent({ ask, label }) {
  forget(ask);
  settled.delete(ask.key);
  toast(`Answered: ${shorten(label, 120)}`);
}

// Learns how far an ask is settled; the card then tells who did what. Throws a Refusal.
async function lookUp(ask, lost) {
  const questions = await fetchAsk(ask.key);
  const done = questions.filter(({ status }) => status !== 'pending');
  done.forEach(({ id }) => pending.settle(id));
  pending.put(questions);
  if (done.length) settled.set(ask.key, done);
  if (done.length && done.length === questions.length) over.set(ask.key, { ask: { ...ask, questions: [], lost }, lost });
  return done;
}

async function refused({ ask, answers }, refusal) {
  const { key } = ask;
  const [, id] = refusal.field.match(/^answers\.(.+)$/) ?? [];
  if (refusal.status === 409 || refusal.status === 404) {
    const first = await lookUp(ask, true).catch(() => []);
    const line = first.length ? `${endingLine(first[0], me.name)}.` : `${refusal.message}.`;
    if (!over.has(key)) complaints.set(key, { '': `${line} Your answers were not sent: look at the rest, and submit again.` });
  } else {
    complaints.set(key, { [refusal.status === 422 && id in answers ? id : '']: `Not taken: ${refusal.message}.` });
  }
  // Whoever is busy with another one is not torn away from it.
  if (selected !== null && selected !== key && (card.isTouched() || !wide.matches)) {
    paint();
    toast(`Your answer to “${shorten(ask.text, 60)}” was not taken. It is back in the list.`, 'error');
  } else {
    select(key, 'card');
  }
}

async function cancel() {
  const ask = selected && viewOf(selected)?.ask;
  if (!ask?.questions.length || !rightsOn(ask.agent).cancel) return;
  const what = ask.questions.length === 1 ? 'its question' : `its ${ask.questions.length} questions`;
  const text = `${ask.agent} is told that nobody will answer ${what}, and its session ends.`;
  if (!await confirmed({ title: 'Cancel this request?', text, yes: 'Cancel the request' })) return;
  try {
    await post(`/agent/session/${ask.session}/cancel`);
  } catch (refusal) {
    if (refusal.status === 409) await watch(ask);
    else toast(`Not cancelled: ${refusal.message}.`, 'error');
    return;
  }
  const next = leave(ask.key);
  forget(ask);
  toast('Cancelled. The agent is told.');
  goOn(ask.key, next);
  paint();
}

// ---- What happens meanwhile

// The ask on the card is settled by others, as a whole or in part.
async function watch(ask) {
  try {
    const done = await lookUp(ask, false);
    if (done.length) announce(endingLine(done[0], me.name));
  } catch {
    // Without the server nothing is known; the next refresh comes by here again.
    return;
  }
  if (selected !== ask.key) over.delete(ask.key);
  paint();
}

function changed({ fresh, settled: ids }) {
  loaded = true;
  const before = drawn[0];
  const others = ids.filter((id) => before?.questions.some((question) => question.id === id));
  if (before && (others.length || !viewOf(before.key)) && !outbox.holds(before.key)) watch(before);
  const asks = fresh.map((key) => pending.asks.get(key)).filter(Boolean);
  if (asks.length) announce(news(asks));
  paint();
  notifier.tell(asks);
  if (wantedId) openWanted();
}

// The ask that the address names.
async function openWanted() {
  const id = wantedId;
  const ask = pending.askOf(id);
  if (!ask && !feed.complete) return;
  wantedId = null;
  if (ask) return void select(ask.key, '', false);
  try {
    const question = await get(`/agent/questions/${encodeURIComponent(id)}`);
    const key = keyOf(question);
    await lookUp({ key, id, session: question.session_id, agent: question.agent_name, text: question.question }, false);
    select(key, '', false);
  } catch {
    history.replaceState(null, '', location.pathname);
  }
}

async function loadAgents() {
  const { agents: all } = await get('/agent/agents');
  agents.clear();
  all.forEach((agent) => agents.set(agent.name, agent));
  paint();
}

// Settled, but not known how: the server went away before it could tell.
const isAdrift = () => selected && !viewOf(selected) && drawn[0];

function connected(now) {
  showConnection(now);
  if (now !== 'live' && now !== 'polling') return;
  outbox.kick();
  loadAgents().catch(() => {});
  if (isAdrift()) watch(drawn[0]);
}

function start() {
  failure = null;
  paint();
  (loaded ? feed.refresh() : feed.start()).catch((refusal) => {
    failure = refusal;
    paint();
  });
  loadAgents().catch(() => {});
}

// ---- Keys

const onRadio = (event) => event.target.matches?.('input[type=radio]') && event.key.startsWith('Arrow');
const onControl = (event) => event.target.closest?.('button, a, summary');

function enter(event) {
  if (event.target.closest?.('.row')) {
    const row = visible.find(({ id }) => event.target.closest('.row').hash === `#${id}`);
    if (!row || row.key !== selected || !wide.matches) return false;
    if (!card.isTouched() && row.questions.length) return card.focusForm();
  } else if (onControl(event)) {
    return false;
  }
  return selected ? card.enter() : false;
}

function escape(event) {
  if (event.target === toolbar.search && toolbar.search.value) toolbar.clear();
  if (selected && !wide.matches && event.target !== toolbar.search) return close();
  if (!list.focus(selected)) event.target.blur?.();
  return undefined;
}

useKeys([
  [['j', 'ArrowDown'], 'Next request', (event) => (onRadio(event) || (event.key !== 'j' && !wide.matches) ? false : move(1))],
  [['k', 'ArrowUp'], 'Previous request', (event) => (onRadio(event) || (event.key !== 'k' && !wide.matches) ? false : move(-1))],
  [['1', '2', '3', '4', '5', '6', '7', '8', '9'], 'Choose an option', (event) => selected !== null && card.choose(Number(event.key))],
  [['0'], 'Answer in your own words', () => selected !== null && card.choose(0)],
  [['Enter'], 'Submit; of several, on to the next', enter],
  [['Ctrl+Enter'], 'The same, while you write', () => false],
  [['n', 'ArrowRight'], 'Next question of the request', (event) => !onRadio(event) && selected !== null && card.step(1)],
  [['p', 'ArrowLeft'], 'Previous question of the request', (event) => !onRadio(event) && selected !== null && card.step(-1)],
  [['c'], 'Cancel the request', () => { cancel(); }],
  [['o'], 'Open its session', () => { if (drawn[0]) location.href = `/session/${drawn[0].session}`; }],
  [['/'], 'Search', () => { close(); toolbar.search.focus(); toolbar.search.select(); }],
  [['Escape'], 'Back to the list', escape, { typing: true }],
]);

addEventListener('beforeunload', (event) => { if (outbox.entries().length) event.preventDefault(); });
everySecond(() => { list.tick(); card.tick(); });
find('content').replaceChildren(page);
start();
