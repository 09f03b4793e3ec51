// A form that starts an agent, the curl command that does the same, and what became of the sessions it started.
import { get, me, post, withQuery } from './api.js';
import { el } from './dom.js';
import { curlFor, readPayload } from './payload.js';
import { announce } from './shell.js';

const kMostKept = 20_000;   // Characters of a payload that are worth keeping.
const kWait = 20;           // Seconds that one look waits for the session to move.
const kLooks = 30;
const kShown = 5;

const storageKey = (agent) => `holdpoint-payload-${agent}`;

// Browsers may refuse to keep anything.
const kept = (agent) => { try { return sessionStorage.getItem(storageKey(agent)); } catch { return null; } };
const keep = (agent, text) => { try { sessionStorage.setItem(storageKey(agent), text); } catch { /* It is a convenience. */ } };

// What to start from: what was sent last from here, else what its newest session was started with, else nothing.
async function sample(agent) {
  const last = kept(agent);
  if (last) return last;
  try {
    const { sessions } = await get(withQuery('/agent/sessions', { agent, limit: 1 }));
    if (sessions.length === 0) return '{}';
    const { payload } = await get(`/agent/session/${sessions[0].id}/record`);
    const text = JSON.stringify(payload, null, 2);
    return text.length <= kMostKept && readPayload(text).text ? text : '{}';
  } catch {
    return '{}';
  }
}

const kStatusWords = {
  running: 'running', pending_input: 'waiting for a person', completed: 'completed', failed: 'failed', cancelled: 'cancelled',
};

// One started session, that says how it fares until it stops or waits for somebody.
function started(agent, id, status) {
  const tag = el('span', {});
  const next = el('span', {});
  const show = (now, error) => {
    tag.className = `tag ${now}`;
    tag.textContent = kStatusWords[now] ?? now;
    next.replaceChildren(...(now === 'pending_input' ? [el('a', { href: withQuery('/', { agent }) }, 'Answer it')] : error ? [error] : []));
  };
  const watch = async () => {
    for (let looks = 0; looks < kLooks; looks += 1) {
      const session = await get(withQuery(`/agent/session/${id}`, { wait: kWait }), AbortSignal.timeout((kWait + 10) * 1000));
      show(session.status, session.error);
      if (session.status === 'running') continue;
      announce(`The session is ${kStatusWords[session.status] ?? session.status}`);
      return;
    }
  };
  show(status);
  // What cannot be seen here is on the session's own page.
  watch().catch(() => {});
  return el('li', {}, 'Started ', el('a', { href: `/session/${id}` }, id), ' ', tag, ' ', next);
}

const refusalWords = (error) => {
  if (error.status === 0) return 'The server cannot be reached. Whether it started a session is not known: its sessions tell.';
  return `Refused (${error.status}${error.field ? `, ${error.field}` : ''}): ${error.message}`;
};

function curlBox(agent, area) {
  const code = el('code', {});
  const say = el('span', { class: 'note', role: 'status' });
  const command = () => curlFor({ origin: location.origin, agent, text: readPayload(area.value).text ?? area.value, open: me.kind === 'open' });
  const show = () => { code.textContent = command(); };
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(command());
      say.textContent = 'Copied';
    } catch {
      // Where the page came without TLS, browsers have no clipboard to give.
      getSelection().selectAllChildren(code);
      say.textContent = 'Selected: copy it by Ctrl+C';
    }
  };
  area.addEventListener('input', () => { show(); say.textContent = ''; });
  const box = el('details', { class: 'curl' }, el('summary', {}, 'The same by curl'),
    el('pre', { tabindex: 0, 'aria-label': 'The curl command' }, code),
    el('p', {}, el('button', { type: 'button', class: 'quiet small', click: copy }, 'Copy'), ' ', say));
  return { box, show };
}

export function makeTryForm(agent) {
  const [areaId, complaintId] = [`payload-${agent}`, `complaint-${agent}`];
  const area = el('textarea', {
    id: areaId, rows: 5, spellcheck: 'false', autocapitalize: 'off', autocomplete: 'off', 'aria-describedby': complaintId,
  }, '{}');
  const complaint = el('p', { id: complaintId, class: 'complaint', role: 'alert', hidden: true });
  const button = el('button', {}, 'Start a session');
  const list = el('ul', { class: 'started', 'aria-label': `Sessions of ${agent} started here` });
  const curl = curlBox(agent, area);

  const complain = (text) => {
    complaint.textContent = text;
    complaint.hidden = !text;
    if (text) area.setAttribute('aria-invalid', 'true');
    else area.removeAttribute('aria-invalid');
  };
  const submit = async (event) => {
    event.preventDefault();
    if (button.disabled) return;
    const { text, complaint: wrong } = readPayload(area.value);
    complain(wrong ?? '');
    if (wrong) {
      area.focus();
      return;
    }
    button.disabled = true;
    try {
      const { session_id: id, status } = await post(`/agent/webhook/${encodeURIComponent(agent)}`, text);
      if (text.length <= kMostKept) keep(agent, text);
      list.prepend(started(agent, id, status));
      while (list.children.length > kShown) list.lastChild.remove();
      announce('A session was started');
    } catch (error) {
      complain(refusalWords(error));
    }
    button.disabled = false;
    if (document.activeElement === document.body) button.focus();
  };

  area.addEventListener('input', () => complain(''));
  area.addEventListener('keydown', (event) => {
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) form.requestSubmit();
  });
  curl.show();
  sample(agent).then((text) => {
    // Text that is selected is about to be typed over.
    if (area.value !== '{}' || area.selectionStart !== area.selectionEnd) return;
    area.value = text;
    area.rows = Math.min(16, Math.max(5, text.split('\n').length));
    curl.show();
  });
  const form = el('form', { class: 'try', submit },
    el('label', { for: areaId }, 'Payload, as JSON'), area, complaint,
    el('p', { class: 'buttons' }, button,
      el('span', { class: 'note keys-hint' }, el('kbd', {}, 'Ctrl'), el('kbd', {}, 'Enter'), 'does the same')),
    curl.box, list);
  return form;
}
