// The panels of the operations page that only show. Each gets the figures and gives elements.
import { ago } from './ages.js';
import { axisLabels, spread, stackedBar, timeAxis } from './charts.js';
import { withQuery } from './api.js';
import { el } from './dom.js';
import { channelWord, connectionWords, many, verdict } from './figures.js';
import { duration } from './time.js';
import { dollars } from './usage_words.js';

const count = (number) => number.toLocaleString('en');

const tile = (number, word, href, kind = '') =>
  el(href ? 'a' : 'div', { class: `tile ${kind}`, href }, el('strong', {}, count(number)), el('span', {}, word));

export const tiles = ({ questions, turns_running: running, turns_due: due, deliveries, channels }) => {
  const retrying = channels.reduce((sum, channel) => sum + channel.retrying, 0);
  return [
    tile(questions.pending, questions.pending === 1 ? 'question waits' : 'questions wait', '/', questions.pending ? 'accent' : ''),
    tile(running, running === 1 ? 'turn runs' : 'turns run'),
    tile(due, due === 1 ? 'turn is due' : 'turns are due'),
    tile(retrying, retrying === 1 ? 'message is tried again' : 'messages are tried again', '#deliveries', retrying ? 'warn' : ''),
    tile(deliveries.dead, deliveries.dead === 1 ? 'message is dead' : 'messages are dead', '#deliveries', deliveries.dead ? 'bad' : ''),
  ];
};

const kStates = [
  ['running', 'running'], ['pending_input', 'waiting for a person'],
  ['completed', 'completed'], ['failed', 'failed'], ['cancelled', 'cancelled'],
];

export const sessionStates = (sessions) => {
  const parts = kStates.map(([kind, word]) => ({ kind, word, count: sessions[kind] ?? 0 }));
  const total = parts.reduce((sum, part) => sum + part.count, 0);
  return [
    el('div', { class: 'head' }, el('h2', {}, 'Sessions by state'), el('span', { class: 'note' }, `${many(total, 'session')} kept`)),
    stackedBar('Sessions by state', parts),
    el('ul', { class: 'legend' }, parts.map(({ kind, word, count: number }) =>
      el('li', {}, el('a', { href: `/sessions?status=${kind}`, 'data-key': kind },
        el('span', { class: `dot ${kind}` }), el('strong', {}, count(number)), ' ', el('span', {}, word))))),
  ];
};

const row = (agent, bounds, axis) => el('tr', { role: 'row' },
  el('th', { role: 'rowheader', scope: 'row' },
    el('a', { href: withQuery('/sessions', { agent: agent.name }), 'data-key': agent.name }, agent.name)),
  el('td', { role: 'cell', class: 'plot' }, spread(agent, bounds, axis)),
  el('td', { role: 'cell', class: 'number', 'data-name': 'median' }, duration(agent.median_seconds * 1000)),
  el('td', { role: 'cell', class: 'number', 'data-name': '95 %' }, duration(agent.p95_seconds * 1000)),
  el('td', { role: 'cell', class: 'number', 'data-name': 'answers' }, count(agent.answered)));

const head = (axis) => el('thead', { role: 'rowgroup' }, el('tr', { role: 'row' },
  el('th', { role: 'columnheader', scope: 'col' }, 'Agent'),
  el('th', { role: 'columnheader', scope: 'col', class: 'plot' }, el('span', { class: 'unseen' }, 'Spread'), axisLabels(axis)),
  ...['Median', '95 % within', 'Answers'].map((word) => el('th', { role: 'columnheader', scope: 'col', class: 'number' }, word))));

export const answerTimes = ({ agents, time_bounds: bounds, window }) => {
  const answered = agents.filter((agent) => agent.answered > 0 && agent.median_seconds !== null)
    .sort((a, b) => b.answered - a.answered || (a.name < b.name ? -1 : 1));
  const silent = agents.filter((agent) => !answered.includes(agent)).map(({ name }) => name);
  const title = el('div', { class: 'head' }, el('h2', {}, 'How long answers take'),
    el('span', { class: 'note' }, `Of the newest ${count(window.answers)} answers`));
  const quiet = silent.length > 0 && el('p', { class: 'note' }, `No answers yet: ${silent.join(', ')}`);
  if (answered.length === 0) {
    return [title, el('p', { class: 'note' }, 'Nobody has answered a question yet. Once somebody has, it shows here by agent.'), quiet];
  }
  const axis = timeAxis(answered, bounds);
  return [
    title,
    el('table', { role: 'table', class: 'times' }, head(axis),
      el('tbody', { role: 'rowgroup' }, answered.map((agent) => row(agent, bounds, axis)))),
    el('p', { class: 'key note', 'aria-hidden': 'true' },
      [['median', 'median'], ['p95', '95 % are quicker'], ['bar-of-times', 'how many took that long']].map(([kind, word]) =>
        el('span', {}, el('span', { class: `mark ${kind}` }), word))),
    quiet,
  ];
};

const kUsage = [
  ['Sessions', ({ sessions }) => count(sessions)],
  ['Tokens in', ({ input_tokens: read }) => count(read)],
  ['Tokens out', ({ output_tokens: written }) => count(written)],
  ['Cost', ({ cost_usd: cost }) => (cost === null ? 'not known' : dollars(cost))],
  ['Cost a session', ({ cost_usd: cost, sessions }) => (cost === null || sessions === 0 ? '–' : dollars(cost / sessions))],
];

const usageRow = (agent) => el('tr', { role: 'row' },
  el('th', { role: 'rowheader', scope: 'row' }, el('a', { href: `/agents#agent-${encodeURIComponent(agent.name)}`, 'data-key': `usage-${agent.name}` }, agent.name)),
  kUsage.map(([name, show]) => el('td', { role: 'cell', class: 'number', 'data-name': name }, show(agent))));

// Of agents whose models have used anything, the dearest first; nothing if there are none.
export const modelUsage = ({ agents, window }) => {
  const users = agents.filter((agent) => agent.input_tokens + agent.output_tokens > 0)
    .sort((a, b) => (b.cost_usd ?? 0) - (a.cost_usd ?? 0) || b.input_tokens - a.input_tokens);
  if (users.length === 0) return [];
  return [
    el('div', { class: 'head' }, el('h2', {}, 'What models use'),
      el('span', { class: 'note' }, `Of the newest ${count(window.sessions)} sessions`)),
    el('table', { role: 'table', class: 'nodes usage' },
      el('thead', { role: 'rowgroup' }, el('tr', { role: 'row' }, el('th', { role: 'columnheader', scope: 'col' }, 'Agent'),
        kUsage.map(([name]) => el('th', { role: 'columnheader', scope: 'col', class: 'number' }, name)))),
      el('tbody', { role: 'rowgroup' }, users.map(usageRow))),
  ];
};

const fact = (name, ...value) => el('div', {}, el('dt', {}, name), el('dd', {}, value));

const channelCard = (channel) => {
  const { word, kind, why } = verdict(channel);
  const used = channel.delivered + channel.retrying + channel.dead > 0;
  const connection = connectionWords(channel);
  return el('li', { class: 'card', 'data-channel': channel.name },
    el('h3', {}, channelWord(channel.name), el('span', { class: `tag ${kind}` }, word)),
    why && el('p', { class: 'note' }, why),
    connection && el('p', {}, el('span', { class: `tag ${channel.connection === 'connected' ? 'good' : 'warn'}` }, connection)),
    used && el('dl', { class: 'three' },
      fact('Delivered', count(channel.delivered)), fact('Retrying', count(channel.retrying)), fact('Dead', count(channel.dead))),
    channel.last_delivered_at && el('p', {}, 'Last delivered ', ago(channel.last_delivered_at)),
    channel.last_error && el('p', { class: kind === 'good' ? 'note' : 'error-text' },
      'Last error ', channel.last_error_at && ago(channel.last_error_at), ': ', channel.last_error));
};

export const channelHealth = ({ channels, window }) => [
  el('div', { class: 'head' }, el('h2', {}, 'Channels'),
    el('span', { class: 'note' }, `Of the newest ${count(window.deliveries)} messages`)),
  el('ul', { class: 'cards' }, [...channels].sort((a, b) => b.set_up - a.set_up).map(channelCard)),
];

const nodeRow = (node) => el('tr', { role: 'row', class: node.live ? null : 'gone' },
  el('th', { role: 'rowheader', scope: 'row' }, node.host, node.self && el('span', { class: 'tag accent' }, 'this one')),
  el('td', { role: 'cell' }, el('span', { class: `tag ${node.live ? 'good' : ''}` }, node.live ? 'Live' : 'Gone')),
  el('td', { role: 'cell', 'data-name': 'Address' }, el('code', {}, node.address)),
  el('td', { role: 'cell', 'data-name': 'Version' }, node.version),
  el('td', { role: 'cell', 'data-name': 'Started' }, ago(node.started_at)),
  el('td', { role: 'cell', 'data-name': 'Last seen' }, ago(node.seen_at)));

export const nodeList = ({ nodes }) => {
  const live = nodes.filter((node) => node.live);
  const mixed = new Set(live.map(({ version }) => version)).size > 1;
  return [
    el('div', { class: 'head' }, el('h2', {}, 'Nodes'), el('span', { class: 'note' }, `${live.length} live`)),
    mixed && el('p', { class: 'complaint' }, 'Live nodes run different versions.'),
    nodes.length === 0 ? el('p', { class: 'note' }, 'No node has said that it is there.')
      : el('table', { role: 'table', class: 'nodes' },
        el('thead', { role: 'rowgroup' }, el('tr', { role: 'row' },
          ['Host', 'State', 'Address', 'Version', 'Started', 'Last seen'].map((word) => el('th', { role: 'columnheader', scope: 'col' }, word)))),
        el('tbody', { role: 'rowgroup' }, nodes.map(nodeRow))),
  ];
};
