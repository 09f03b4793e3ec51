// Which agents there are, where their questions go, who may answer them, and starting one by hand.
import { setServerClock } from './ages.js';
import { get, me, withQuery } from './api.js';
import { el, find, skeleton, state } from './dom.js';
import { askingWords, many, targetWords, usedWords } from './figures.js';
import { follow } from './live.js';
import { paced } from './pace.js';
import { announce, showConnection, useKeys } from './shell.js';
import { redrawn } from './swap.js';
import { span } from './time.js';
import { makeTryForm } from './try_form.js';

const kGap = 2_000;
const kRest = 15_000;
const kManyAgents = 8;  // Above this there is a field to search them.
const kTypes = [
  'session_started', 'session_completed', 'session_failed', 'session_cancelled', 'question_asked', 'question_answered', 'question_expired',
];

const kRunners = { command: 'Command', http: 'HTTP service', llm: 'Model', external: 'External' };
const kRuns = {
  command: 'A command that this server runs', http: 'A service that this server calls',
  llm: 'A model that this server asks, with a prompt of its own',
  external: 'Lives elsewhere, and asks by POST /agent/ask',
};
const kTimeouts = { fail: 'then the session fails', default: 'then its default answer counts', continue: 'then it goes on without an answer' };
const kSchemes = {
  github: 'Signed as GitHub does', standard: 'Signed by Standard Webhooks', slack: 'Signed as Slack does', bearer: 'By a bearer secret',
};
const kExample = `---
name: deploy-approval
runner: command
command: [python3, approve.py]
async_questions: true
---
Asks before each deployment.`;

const fact = (name, ...value) => el('div', {}, el('dt', {}, name), el('dd', {}, value.flat(2)));

const tags = (names) => names.map((name) => el('span', { class: 'tag' }, name));

// What a model may use besides its words.
const modelFacts = ({ runner, model, tools, mcp_servers: servers }) => (runner !== 'llm' ? [] : [
  fact('Model', el('code', {}, model)),
  fact('Tools', tools.length + servers.length ? tags([...tools, ...servers.map((name) => `those of ${name} (MCP)`)]) : 'None of its own'),
]);

const subAgentsFact = ({ sub_agents: subs }) => subs.length > 0
  && fact('May start', subs.map((name) => [el('a', { class: 'tag', href: `#agent-${name}` }, name), ' ']));

const whereTo = ({ channels, callback }) => {
  const places = [...channels.map(targetWords), ...(callback ? ['a callback'] : [])];
  return places.length ? tags(places) : 'The inbox only';
};

const whoMay = ({ answerers, named, may_answer: mayAnswer }) => {
  const you = named ? ' You are one of them.' : mayAnswer ? '' : ' You may not.';
  return [answerers.length ? tags(answerers) : 'Everybody who may answer at all.', you];
};

const unsigned = () => (me.kind === 'open' ? 'Not signed; nothing is asked of callers until the first key is made'
  : 'Not signed; callers need a key that may start it');

const facts = (agent) => [
  fact('Runs', kRuns[agent.runner] ?? agent.runner),
  ...modelFacts(agent),
  subAgentsFact(agent),
  ...(agent.async_questions ? [
    fact('Questions go to', whereTo(agent)),
    fact('May answer', whoMay(agent)),
    fact('Time to answer', `${span(agent.question_timeout)}, ${kTimeouts[agent.on_timeout] ?? agent.on_timeout}.`,
      agent.allow_cancel ? '' : ' Cannot be called off.'),
  ] : []),
  agent.runner !== 'external' && fact('Webhooks', kSchemes[agent.webhook_verify] ?? unsigned()),
];

// A card that stays while its facts and figures change, so that a form somebody types into is never taken away.
function makeCard(name) {
  const [head, list, links] = [el('div', { class: 'head' }), el('dl', {}), el('p', { class: 'links' })];
  const [about, figures] = [el('p', { class: 'about' }), el('p', { class: 'figures' })];
  const form = el('div', { id: `try-${name}`, hidden: true });
  const toggle = el('button', {
    type: 'button', class: 'quiet small', 'aria-expanded': 'false', 'aria-controls': form.id, 'aria-label': `Try it: ${name}`,
  }, 'Try it');
  toggle.addEventListener('click', () => {
    form.hidden = !form.hidden;
    toggle.setAttribute('aria-expanded', String(!form.hidden));
    if (form.hidden) return;
    if (!form.firstChild) form.append(makeTryForm(name));
    form.querySelector('textarea').focus();
  });
  const query = { agent: name };
  const drawHead = redrawn(head, ({ runner, async_questions: asks, may_start: mayStart }) => {
    toggle.hidden = !mayStart;
    if (!mayStart) form.hidden = true;
    return [el('h2', {}, name), el('span', { class: 'tag accent' }, kRunners[runner] ?? runner),
      el('span', { class: 'tag' }, asks ? 'may ask' : 'may not ask')];
  });
  const drawList = redrawn(list, facts);
  const drawFigures = redrawn(figures, ({ known, missing }) =>
    (missing ? `How often it asks cannot be shown: ${missing}.` : [...askingWords(known), ...usedWords(known)].join(' ')));
  links.append(
    el('a', { href: withQuery('/sessions', query) }, 'Its sessions'),
    el('a', { href: withQuery('/', query) }, 'Questions that wait'));
  return {
    name,
    node: el('li', { class: 'panel agent', id: `agent-${name}` }, head, about, figures, list, el('div', { class: 'foot' }, links, toggle), form),
    update(agent, known) {
      drawHead(agent);
      about.textContent = agent.about;
      about.hidden = !agent.about;
      drawList(agent);
      drawFigures(known);
    },
  };
}

const howTo = () => el('section', { class: 'panel how' },
  el('h2', {}, 'Define an agent'),
  el('p', {}, 'An agent is a markdown file in the folder that ', el('code', {}, '[agents] dir'), ' of the settings names: '
    + 'some lines about how it runs, and text about it. '
    + 'Its name is the file’s. The server reads the folder when it starts, and again on SIGHUP.'),
  el('pre', { tabindex: 0, 'aria-label': 'deploy-approval.md' }, el('code', {}, kExample)));

const cards = new Map();
const list = el('ul', { class: 'agents' });
const note = el('p', { class: 'note none', hidden: true });
const field = el('input', {
  type: 'search', id: 'agent-search', 'aria-label': 'Search agents by name', placeholder: 'Search by name', autocomplete: 'off',
});
const search = el('div', { class: 'search', hidden: true }, field);
const page = el('div', { class: 'wide' }, search, note, list);
let loaded = false;
let looks = 0;
let latest = 0;
let how = null;

const filter = () => {
  const wanted = search.hidden ? '' : field.value.trim().toLowerCase();
  let shown = 0;
  for (const { name, node } of cards.values()) {
    node.hidden = !name.toLowerCase().includes(wanted);
    shown += node.hidden ? 0 : 1;
  }
  note.hidden = shown > 0 || cards.size === 0;
  note.textContent = `No agent’s name has “${field.value.trim()}” in it.`;
  return shown;
};
field.addEventListener('input', () => announce(`${many(filter(), 'agent')} shown`));

function show(agents, figuresOf) {
  const names = new Set(agents.map(({ name }) => name));
  for (const [name, { node }] of cards) {
    if (names.has(name)) continue;
    node.remove();
    cards.delete(name);
  }
  agents.forEach((agent, i) => {
    if (!cards.has(agent.name)) cards.set(agent.name, makeCard(agent.name));
    const card = cards.get(agent.name);
    card.update(agent, figuresOf(agent.name));
    if (list.children[i] !== card.node) list.insertBefore(card.node, list.children[i] ?? null);
  });
  search.hidden = agents.length <= kManyAgents;
  // These are there by themselves.
  const none = agents.every(({ name }) => ['external', 'humanlayer', 'mcp'].includes(name));
  if (none && !how) page.prepend(how = howTo());
  if (!none && how) how = how.remove() ?? null;
  filter();
  if (!page.isConnected) find('content').replaceChildren(page);
}

const trouble = el('div');
const drawTrouble = redrawn(trouble, (message) => state({
  kind: 'error', title: 'The agents cannot be shown', text: `Because ${message}.`,
  action: el('button', { type: 'button', 'data-key': 'again', click: () => refresh() }, 'Try again'),
}));

// Throws a Refusal, after it was shown.
async function load() {
  const reason = ({ message }) => ({ missing: message });
  try {
    const mine = looks += 1;
    const [{ agents }, figures] = await Promise.all([get('/agent/agents'), get('/agent/operations').catch(reason)]);
    if (mine < latest) return;  // Overtaken by a later look.
    latest = mine;
    if (figures.now) setServerClock(figures.now);
    const known = new Map((figures.agents ?? []).map((each) => [each.name, each]));
    show(agents, (name) => ({ known: known.get(name), missing: figures.missing }));
    if (!loaded && location.hash) document.getElementById(decodeURIComponent(location.hash.slice(1)))?.scrollIntoView();
    loaded = true;
  } catch (error) {
    if (!loaded) {
      drawTrouble(error.message);
      if (!trouble.isConnected) find('content').replaceChildren(trouble);
    }
    throw error;
  }
}
const refresh = paced(() => load().catch(() => {}), kGap);

find('content').replaceChildren(el('div', { class: 'wide' }, skeleton(4)));
useKeys([
  [['/'], 'Search agents', () => (search.hidden ? false : field.focus())],
  [['r'], 'Read all again', refresh],
]);
setInterval(() => { if (!document.hidden && loaded) refresh(); }, kRest);
follow({ types: kTypes, onEvents: refresh, refresh: load, onState: showConnection });
