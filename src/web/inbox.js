// The inbox: what waits for an answer on one side, the one that somebody looks at on the other; on a phone one after the other.
import { get, me, withQuery } from './api.js';
import { makeCard } from './ask_card.js';
import { makeList } from './ask_list.js';
import { makeDesk } from './desk.js';
import { el, find, shorten, skeleton, state } from './dom.js';
import { kMost, makeFeed } from './feed.js';
import { useInboxKeys } from './inbox_keys.js';
import { makeNotifier } from './notifier.js';
import { arrange, facets, keyOf } from './pending.js';
import { announce, confirmed, showConnection, toast } from './shell.js';
import { everySecond } from './time.js';
import { makeToolbar } from './toolbar.js';
import { makeUnsentBar } from './unsent_bar.js';
import { endingLine, news } from './wording.js';

const kGlance = 150;   // ms
const wide = matchMedia('(min-width: 56.25rem)');
const named = (text) => (/^[0-9a-f-]{36}$/.test(text ?? '') ? text : null);
const inAddress = () => named(location.hash.slice(1));
// Without the ask; a list of one agent's stays one.
const bareAddress = () => withQuery(location.pathname, { agent: toolbar.filter.agent });

let visible = [];
let selected = null;   // Ask key.
let scrolled = 0;      // How far the list was, on a phone, when a card was opened.
let loaded = false;
let failure = null;
let drawn = [];        // What the card shows: its ask first.
let wanted = inAddress() ?? named(new URLSearchParams(location.search).get('q'));

const desk = makeDesk({ onChange: () => paint(), onSent: (ask, words) => toast(`Answered: ${shorten(words, 120)}`), onReturned: returned });
const feed = makeFeed({ pending: desk.pending, order: () => toolbar.filter.order, onChange: changed, onState: connected });
const list = makeList(chooseRow);
const card = makeCard({ drafts: desk.drafts, onSubmit: submit, onCancel: cancel, onBack: close, onDone: done });
const notifier = makeNotifier((key) => select(key, 'card'));
const toolbar = makeToolbar({ onFilter: filtered, onLeave: () => list.focus(selected), notifyButton: notifier.button });
const unsent = makeUnsentBar(desk.outbox);

const count = el('p', { class: 'count' });
const listState = el('div', {});
const listPane = el('section', { class: 'list-pane', 'aria-label': 'Waiting' }, count, list.box, listState);
const cardPane = el('section', { class: 'card-pane', 'aria-label': 'Selected request', tabindex: '-1' });
const page = el('div', { class: 'inbox' }, toolbar.box, unsent.box, el('div', { class: 'panes' }, listPane, cardPane));

// ---- Drawing

function stateOfList(all) {
  if (!loaded && failure) {
    const text = `${failure.message[0].toUpperCase()}${failure.message.slice(1)}.`;
    return state({ kind: 'error', title: 'The questions cannot be loaded', text,
      action: el('button', { type: 'button', click: () => load(feed.refresh) }, 'Try again') });
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

function drawCard() {
  page.classList.toggle('open', Boolean(selected) && !wide.matches);
  const view = selected && desk.viewOf(selected);
  if (!selected) {
    drawn = [];
    cardPane.replaceChildren();
  }
  // While it is looked up who settled it, the card stays as it was.
  if (!view) return;
  // Drawn anew only for what it shows: what is pressed while it is drawn anew is lost.
  const now = [view.ask, ...view.done, view.complaints, JSON.stringify(view.rights)];
  if (now.length === drawn.length && now.every((part, i) => part === drawn[i])) return;
  if (drawn[0]?.key !== view.ask.key) seeRest(view.ask);
  drawn = now;
  if (card.box.parentElement !== cardPane) cardPane.replaceChildren(card.box);
  card.show(view);
}

// A part of it may have been settled before: the list tells only of what waits. Whoever is just passing by does not need to know.
function seeRest(ask) {
  setTimeout(async () => {
    if (selected !== ask.key || !desk.pending.asks.has(ask.key)) return;
    const done = await desk.lookUp(ask).catch(() => []);
    if (selected !== ask.key) {
      desk.pass(ask.key);
    } else {
      // Settled while this was under way: the event that tells of it changes nothing any more.
      const since = done.find(({ id }) => ask.questions.some((question) => question.id === id));
      if (since) announce(endingLine(since, me.name));
    }
    if (done.length) paint();
  }, kGlance);
}

// `anew`: the filter is another.
function paint(anew = false) {
  const all = desk.waiting();
  const lost = desk.lost();
  const mine = new Set([...desk.agents.values()].filter((agent) => agent.named).map(({ name }) => name));
  visible = [...lost, ...arrange(all, { ...toolbar.filter, agents: toolbar.filter.mine ? mine : null })];
  const elsewhere = anew && !card.isTouched() && !visible.some(({ key }) => key === selected);
  if (wide.matches && (!selected || elsewhere)) selected = visible[0]?.key ?? null;
  toolbar.offer(facets(all), mine.size > 0);
  page.classList.toggle('empty', loaded && !all.length && !lost.length && !toolbar.isFiltered());
  count.textContent = countLine(all);
  list.show(visible, selected, anew);
  if (anew) listPane.scrollTo(0, 0);
  listState.replaceChildren(...[stateOfList(all)].filter(Boolean));
  page.classList.toggle('bare', !visible.length && !selected);
  unsent.draw();
  drawCard();
  document.title = all.length ? `(${all.length}) Inbox · Holdpoint` : 'Inbox · Holdpoint';
}

function filtered(what) {
  if (what === 'agent' || what === 'all') history.replaceState(history.state, '', bareAddress() + location.hash);
  paint(true);
  // Others are the first of so many.
  if (what === 'order' && feed.partial) feed.refresh().catch(() => {});
}

// ---- Moving about

// `to`: what gets the focus, `row` or `card`. `inHistory`: whether the address tells of it.
function select(key, to = '', inHistory = true) {
  const view = desk.viewOf(key);
  if (!view) return;
  const wasOpen = selected !== null;
  if (selected !== key) desk.pass(selected);
  if (!wide.matches && !wasOpen) scrolled = scrollY;
  selected = key;
  const { id } = view.ask;
  if (inHistory) {
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

function move(by) {
  const at = visible.findIndex(({ key }) => key === selected);
  const to = visible[at < 0 ? 0 : at + by];
  if (to) select(to.key, 'row');
}

// What takes the place of an ask that leaves the list.
function following(key) {
  const at = visible.findIndex((ask) => ask.key === key);
  const rest = visible.filter((ask) => ask.key !== key);
  return rest[Math.min(Math.max(at, 0), rest.length - 1)]?.key ?? null;
}

// `key` is dealt with: on to `next`, or on a phone to the list.
function goOn(key, next) {
  if (selected !== key) return;
  if (wide.matches && next) {
    select(next, 'row');
  } else if (wide.matches) {
    history.replaceState(null, '', bareAddress());
    closeNow();
  } else {
    close();
  }
}

function closeNow() {
  const key = selected;
  desk.clear(key);
  selected = null;
  paint();
  scrollTo(0, scrolled);
  if (wide.matches || !list.focus(key)) find('main').focus({ preventScroll: true });
}

function close() {
  if (wide.matches) {
    list.focus(selected);
  } else if (history.state?.card) {
    history.back();
  } else if (selected) {
    history.replaceState(null, '', bareAddress());
    closeNow();
  }
}

function done() {
  const next = following(selected);
  desk.clear(selected);
  goOn(selected, next);
}

addEventListener('popstate', () => {
  wanted = inAddress();
  if (wanted) openWanted(wanted);
  else if (location.hash !== '#main' && selected && !wide.matches) closeNow();
});
wide.addEventListener('change', () => paint());

// ---- Deciding

function submit(ask, answers) {
  const next = following(ask.key);
  desk.submit(ask, answers);
  goOn(ask.key, next);
}

// An answer was not taken. Whoever is busy with another ask is not torn away from it.
function returned(ask) {
  if (selected === null || selected === ask.key || (wide.matches && !card.isTouched())) {
    select(ask.key, 'card');
  } else {
    paint();
    toast(`Your answer to “${shorten(ask.text, 60)}” was not taken. It is back in the list.`, 'error');
  }
}

async function cancel() {
  const { ask, rights } = (selected && desk.viewOf(selected)) ?? {};
  if (!ask?.questions.length || !rights.cancel) return;
  const what = ask.questions.length === 1 ? 'its question' : `its ${ask.questions.length} questions`;
  const text = `${ask.agent} is told that nobody will answer ${what}, and its session ends.`;
  if (!await confirmed({ title: 'Cancel this request?', text, yes: 'Cancel the request' })) return;
  const next = following(ask.key);
  try {
    await desk.cancel(ask);
  } catch (refusal) {
    if (refusal.status === 409) await watch(ask);
    else toast(`Not cancelled: ${refusal.message}.`, 'error');
    return;
  }
  toast('Cancelled. The agent is told.');
  goOn(ask.key, next);
  paint();
}

// ---- What happens meanwhile

// The ask on the card was settled by others, as a whole or in part.
async function watch(ask) {
  let ended;
  try {
    ended = await desk.lookUp(ask);
  } catch {
    // Without the server nothing is known; `connected` comes by here again.
    return;
  }
  if (selected !== ask.key) {
    desk.pass(ask.key);
  } else if (ended.length) {
    announce(endingLine(ended[0], me.name));
  } else if (!desk.viewOf(ask.key)) {
    goOn(ask.key, following(ask.key));
  }
  paint();
}

function changed({ fresh, settled }) {
  loaded = true;
  const [ask] = drawn;
  const touched = ask && (!desk.viewOf(ask.key) || settled.some((id) => ask.questions.some((question) => question.id === id)));
  if (touched && !desk.outbox.holds(ask.key)) watch(ask);
  const asks = fresh.map((key) => desk.pending.asks.get(key)).filter(Boolean);
  if (asks.length) announce(news(asks));
  paint();
  notifier.tell(asks);
  if (wanted) openWanted(wanted);
}

// The ask that the address names.
async function openWanted(id) {
  const ask = desk.pending.askOf(id);
  if (!ask && !feed.complete) return;
  wanted = null;
  try {
    const key = ask?.key ?? keyOf(await get(`/agent/questions/${id}`).then(async (question) => {
      await desk.lookUp({ key: keyOf(question), id, session: question.session_id, agent: question.agent_name, text: question.question });
      return question;
    }));
    select(key, '', false);
  } catch {
    history.replaceState(null, '', bareAddress());
  }
}

function connected(now) {
  showConnection(now);
  if (now !== 'live' && now !== 'polling') return;
  desk.outbox.kick();
  desk.loadAgents().catch(() => {});
  // Settled, but not known how: the server went away before it could tell.
  if (selected && !desk.viewOf(selected) && drawn.length) watch(drawn[0]);
}

function load(how) {
  failure = null;
  paint();
  how().catch((refusal) => {
    failure = refusal;
    paint();
  });
}

useInboxKeys({
  card, list, toolbar, move, cancel, close,
  isWide: () => wide.matches,
  isOpen: () => selected !== null,
  current: () => drawn[0],
});
addEventListener('beforeunload', (event) => { if (desk.outbox.entries().length) event.preventDefault(); });
everySecond(() => { list.tick(); card.tick(); });
find('content').replaceChildren(page);
load(feed.start);
desk.loadAgents().catch(() => {});
