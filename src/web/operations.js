// How the server fares: what waits, how long answers take, what did not arrive, and which nodes there are.
import { ago, setServerClock } from './ages.js';
import { get } from './api.js';
import { makeDeliveriesPanel } from './deliveries_panel.js';
import { el, find, skeleton, state } from './dom.js';
import { follow } from './live.js';
import { answerTimes, channelHealth, modelUsage, nodeList, sessionStates, tiles } from './operations_panels.js';
import { paced } from './pace.js';
import { announce, showConnection, useKeys } from './shell.js';
import { redrawn } from './swap.js';

const kGap = 2_000;     // Between two looks, however much happens.
const kRest = 15_000;   // What happens without an event is seen after this.
// Those that change a figure. What agents print, for one, does not.
const kTypes = [
  'session_started', 'session_resumed', 'session_completed', 'session_failed', 'session_cancelled', 'session_retried',
  'turn_started', 'turn_failed', 'model_replied',
  'question_asked', 'question_answered', 'question_expired', 'question_cancelled',
  'delivery_sent', 'delivery_failed', 'delivery_dead', 'delivery_obsolete', 'delivery_requeued', 'destination_disabled',
];
const kDatabases = { sqlite: 'SQLite', postgres: 'PostgreSQL' };

const look = () => { asked = true; refresh(); };
const panel = (id, tag = 'section', name = 'panel') => el(tag, { id, class: name });
const parts = {
  about: panel('about', 'p', 'about note'), tiles: panel('tiles', 'div', 'tiles'), sessions: panel('sessions'), times: panel('times'),
  usage: panel('usage'), deliveries: panel('deliveries'), channels: panel('channels'), nodes: panel('nodes'),
};
const page = el('div', { class: 'wide operations' },
  el('div', { class: 'top' }, parts.about, el('button', { type: 'button', class: 'quiet small', click: look }, 'Refresh')),
  parts.tiles, parts.sessions, parts.times, parts.usage, parts.deliveries, parts.channels, parts.nodes);

const draw = {
  about: redrawn(parts.about, ({ version, database, now, trouble }) => [
    `Holdpoint ${version} on ${kDatabases[database] ?? database} · `,
    trouble ? el('span', { class: 'error-text' }, 'these figures were read ', ago(now), `, and not again since: ${trouble}.`)
      : el('span', {}, 'read ', ago(now)),
  ]),
  tiles: redrawn(parts.tiles, tiles),
  sessions: redrawn(parts.sessions, sessionStates),
  times: redrawn(parts.times, answerTimes),
  usage: redrawn(parts.usage, modelUsage),
  channels: redrawn(parts.channels, channelHealth),
  nodes: redrawn(parts.nodes, nodeList),
};
const deliveries = makeDeliveriesPanel(parts.deliveries, () => refresh());

let figures = null;
let looks = 0;
let shown = 0;
let asked = false;  // By somebody, who is told.

const sayAbout = (trouble) => draw.about({ version: figures.version, database: figures.database, now: figures.now, trouble });

const show = () => {
  const { questions, sessions, turns_running, turns_due, deliveries: owed, channels, agents, time_bounds, window, nodes } = figures;
  setServerClock(figures.now);
  sayAbout();
  draw.tiles({ questions, turns_running, turns_due, deliveries: owed, channels });
  draw.sessions(sessions);
  draw.times({ agents, time_bounds, window });
  draw.usage({ agents, window });
  parts.usage.hidden = !parts.usage.firstChild;
  draw.channels({ channels, window });
  draw.nodes({ nodes });
  if (!page.isConnected) find('content').replaceChildren(page);
};

const trouble = el('div');
const drawTrouble = redrawn(trouble, (message) => state({
  kind: 'error', title: 'The figures cannot be shown', text: `Because ${message}.`,
  action: el('button', { type: 'button', 'data-key': 'again', click: look }, 'Try again'),
}));

const complain = (error) => {
  if (figures) {
    // That the server is gone is said above the page.
    if (error.status !== 0) sayAbout(error.message);
    return;
  }
  drawTrouble(error.message);
  if (!trouble.isConnected) find('content').replaceChildren(trouble);
};

// Throws a Refusal, after it was shown.
async function load() {
  try {
    const mine = looks += 1;
    const fresh = await get('/agent/operations');
    if (mine < shown) return;  // Overtaken by a later look.
    shown = mine;
    figures = fresh;
    show();
    await deliveries.update(fresh);
  } catch (error) {
    complain(error);
    throw error;
  }
}

const refresh = paced(async () => {
  try {
    await load();
    if (asked) announce('The figures were read again');
  } catch {
    // It was shown.
  }
  asked = false;
}, kGap);

find('content').replaceChildren(el('div', { class: 'wide' }, skeleton(6)));
useKeys([[['r'], 'Read the figures again', look]]);
setInterval(() => { if (!document.hidden && figures) refresh(); }, kRest);
follow({
  types: kTypes,
  onEvents: (events) => { deliveries.hear(events); refresh(); },
  refresh: load,
  onState: showConnection,
});
