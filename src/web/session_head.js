// The head of a session's page: what it is, what it waits for, why it ended, and what can be done to it.
import { may } from './api.js';
import { el, find, shorten } from './dom.js';
import { copyButton, toText } from './json_view.js';
import { took } from './story_words.js';
import { exact } from './time.js';
import { dollars, number } from './usage_words.js';

export const kStatus = {
  running: 'running', pending_input: 'waits for people', completed: 'completed', failed: 'failed', cancelled: 'cancelled',
};
const kMostChildren = 20;

export const statusTag = (status) => el('span', { class: `tag ${status}` }, kStatus[status] ?? status);
const time = (iso) => el('time', { datetime: iso, title: iso }, exact(iso));
const fact = (name, ...value) => el('div', {}, el('dt', {}, name), el('dd', {}, ...value));
const sessionLink = (id, text = `…${id.slice(-12)}`) => el('a', { href: `/session/${id}` }, text);

const childView = ({ id, agent_name: agent, status }) => el('span', {}, sessionLink(id, `${agent} ${id.slice(-6)}`), ' ', statusTag(status));
const childrenView = (children) => el('span', { class: 'children' },
  children.slice(0, kMostChildren).map(childView),
  children.length > kMostChildren && `and ${children.length - kMostChildren} more`);

const usageFacts = ({ steps, input_tokens: read, output_tokens: written, cached_tokens: cached, cost_usd: cost }) => [
  fact('Model replies', number(steps)),
  fact('Tokens', `${number(read)} in${cached ? ` (${number(cached)} cached)` : ''}, ${number(written)} out`),
  cost !== null && fact('Cost', dollars(cost)),
];

const factsView = ({ session, record }, ran) => el('dl', { class: 'facts' },
  fact('Id', el('code', { title: session.id }, `…${session.id.slice(-12)}`), ' ', copyButton('Session id', () => session.id)),
  fact('Started', time(session.created_at)),
  session.completed_at && fact('Ended', time(session.completed_at)),
  fact(session.completed_at ? 'Took' : 'So far', ran),
  fact('Turns', String(session.turn)),
  fact('Questions', String(session.questions_asked)),
  session.usage && usageFacts(session.usage),
  session.parent_id && fact('Started by', sessionLink(session.parent_id)),
  record?.children.length > 0 && fact('Sub-sessions', childrenView(record.children)));

const pendingQuestion = ({ id, header, question }) => el('li', {},
  el('span', { class: 'question' }, header && el('strong', {}, `${header}: `), shorten(question, 200)),
  el('span', { class: 'ways' },
    el('a', { href: `/#${id}` }, may('questions:answer') ? 'Answer in the inbox' : 'See it in the inbox'),
    may('questions:answer') && el('a', { href: `/question/${id}` }, 'Plain page')));

const pendingView = (questions) => el('section', { class: 'panel waiting', 'aria-labelledby': 'waiting-title' },
  el('h2', { id: 'waiting-title' }, questions.length === 1 ? 'It waits for an answer' : `It waits for ${questions.length} answers`),
  el('ul', {}, questions.map(pendingQuestion)));

const errorView = ({ error, status }) =>
  el('section', { class: status === 'failed' ? 'panel trouble' : 'panel', 'aria-labelledby': 'error-title' },
    el('h2', { id: 'error-title' }, 'Why it ended'), el('p', { class: 'error-text' }, error));

const kActions = [
  ['retry', 'Try again', 'may_retry', ''], ['message', 'Send a message', 'may_message', 'quiet'], ['cancel', 'Cancel', 'may_cancel', 'quiet'],
];

// `show({ session, record })` draws what has changed; `tick()` lets the time run.
export function headView(actions) {
  const view = el('div', { class: 'heads' });
  const ran = el('span');
  let shown = '';
  let session = null;

  const actionsView = (record) => el('div', { class: 'buttons actions' },
    kActions.filter(([, , right]) => record?.[right]).map(([name, label, , kind]) =>
      el('button', { type: 'button', class: kind, 'data-action': name, click: actions[name] }, label)));

  const draw = (known) => el('section', { class: 'panel head', 'aria-labelledby': 'agent-name' },
    el('div', { class: 'title' }, el('h2', { id: 'agent-name' }, session.agent_name), statusTag(session.status), actionsView(known.record)),
    factsView(known, ran));

  const tick = () => {
    const end = session.completed_at ? Date.parse(session.completed_at) : Date.now();
    ran.textContent = took(end - Date.parse(session.created_at));
  };

  const show = (known) => {
    session = known.session;
    tick();
    const now = toText([{ ...session, result: null }, known.record && { ...known.record, payload: null, state: null, resume: null }]);
    if (now === shown) return;
    shown = now;
    const focused = document.activeElement?.dataset?.action;
    const pending = session.questions ?? [];
    view.replaceChildren(draw(known), ...(session.error ? [errorView(session)] : []), ...(pending.length ? [pendingView(pending)] : []));
    // Whoever pressed a button that is gone now is not thrown to the top of the document.
    if (focused) (view.querySelector(`[data-action="${focused}"]`) ?? find('main')).focus();
  };
  return { view, show, tick };
}
