// The rows of a session's story, as a list that grows without losing what is open in it.
import { el, shorten, svg } from './dom.js';
import { toText } from './json_view.js';
import { attemptText, counted, deliveriesText, deliveryText, stepText, stepsText, subText, took } from './story_words.js';
import { exact } from './time.js';

const kFirst = 20;   // Rows shown of a long story's begin,
const kLast = 40;    // and of its end.
const kMore = 200;   // Rows more with each wish.
const kText = 400;
const kFewSteps = 4; // Of a turn, that are shown unfolded.

const kIcons = {
  start: 'M5 3l8 5l-8 5z',
  turn: 'M13 8a5 5 0 1 1-2-4M11 1v3h-3',
  ask: 'M5.5 6a2.5 2.5 0 1 1 3.5 2.3c-.7.3-1 .8-1 1.7M8 12.8v.2',
  answer: 'M3 8.5l3.5 3.5l6.5-8',
  expiry: 'M8 2a6 6 0 1 1 0 12a6 6 0 0 1 0-12M8 5v3.5l2.5 1.5',
  cancel: 'M4 4l8 8M12 4l-8 8',
  message: 'M2 3h12v8h-6l-3 3v-3h-3z',
  card: 'M2 3h12v8h-9l-3 3z',
  retry: 'M3 8a5 5 0 1 0 2-4M5 1v3h3',
  agents: 'M4 2v5c0 2 1 3 3 3h5M9 7l3 3l-3 3M4 7v7',
  aside: 'M8 3v6M8 12.5v.2',
  due: 'M4 2h8M4 14h8M5 2c0 4 6 8 6 12M11 2c0 4-6 8-6 12',
  completed: 'M3 8.5l3.5 3.5l6.5-8',
  failed: 'M4 4l8 8M12 4l-8 8',
  cancelled: 'M3 8h10',
};

const icon = (name) => svg('svg', { class: 'icon', width: 16, height: 16, viewBox: '0 0 16 16', 'aria-hidden': 'true' },
  svg('path', { d: kIcons[name] ?? kIcons.aside }));

const moment = (iso, before = new Date()) => {
  const date = new Date(iso);
  const time = date.toLocaleTimeString([], { hour: '2-digit', minute: '2-digit', second: '2-digit' });
  const day = `${date.toLocaleDateString([], { day: 'numeric', month: 'short' })} `;
  const known = [new Date(), new Date(before)].some((other) => other.toDateString() === date.toDateString());
  return el('time', { datetime: iso, title: exact(iso) }, known ? time : day + time);
};

// `key` finds the fold again when its row is drawn anew. Its content is made when it is opened.
const fold = (key, summary, content, open = false) => {
  const view = el('details', { 'data-fold': key, class: 'fold' }, el('summary', {}, summary));
  view.addEventListener('toggle', () => {
    if (view.open && view.children.length === 1) view.append(content());
  });
  if (open) {
    view.append(content());
    view.open = true;
  }
  return view;
};

const said = (key, text) => (text.length <= kText ? el('blockquote', {}, text)
  : el('div', {},
    el('blockquote', {}, shorten(text, kText)),
    fold(`${key}-whole`, 'The whole text', () => el('blockquote', {}, text))));

const attemptView = (attempt) =>
  el('li', { class: attempt.outcome === 'failed' ? 'bad' : null }, moment(attempt.at), ` ${attemptText(attempt)}`);

const attemptsView = ({ key, attempts }) => {
  const failed = attempts.filter(({ outcome }) => outcome === 'failed' || outcome === 'lost').length;
  const summary = `${counted(attempts.length, 'attempt')}${failed ? `, ${failed} failed` : ''}`;
  return fold(`${key}-attempts`, summary, () => el('ol', { class: 'steps' }, attempts.map(attemptView)));
};

const deliveryAttempt = ({ at, ok, reason, retryIn, code }) => el('li', { class: ok ? null : 'bad' }, moment(at),
  ok ? ` sent${code ? ` (HTTP ${code})` : ''}` : ` failed: ${reason}${retryIn === null ? '' : `; tried again ${took(retryIn)} later`}`);

const deliveryView = (delivery) => el('li', {},
  deliveryText(delivery),
  delivery.status === 'dead' && delivery.attempts.length === 0 && `: ${delivery.reason}`,
  delivery.attempts.length > 0 && el('ol', {}, delivery.attempts.map(deliveryAttempt)));

// What did not get there is shown without being asked for.
const deliveriesView = ({ key, deliveries }) => {
  const fine = deliveries.every(({ status }) => status === 'sent' || status === 'obsolete');
  const summary = el('span', { class: fine ? null : 'bad' }, deliveriesText(deliveries));
  return fold(`${key}-deliveries`, summary, () => el('ul', { class: 'steps' }, deliveries.map(deliveryView)), !fine);
};

const stepView = (step) => el('li', { class: step.kind === 'tool' && !step.ok ? 'tool bad' : step.kind, title: exact(step.at) }, stepText(step),
  step.took !== null && [' ', el('span', { class: 'took' }, took(step.took))]);

// Few steps, or those of a turn that runs, are seen at once; of many the sum.
const stepsView = ({ key, steps, outcome }) => fold(`${key}-steps`, stepsText(steps),
  () => el('ol', { class: 'steps taken' }, steps.map(stepView)), steps.length <= kFewSteps || outcome === 'running');

const subView = (sub) => el('li', {}, el('a', { href: `/session/${sub.id}` }, sub.agent), ` ${subText(sub)}`);
const subsView = ({ subs, count, names }) => [
  subs.length > 0 && el('ul', { class: 'steps subs' }, subs.map(subView)),
  subs.length < count && el('p', { class: 'reason' }, names),
];

const kStatus = { pending: 'waits', answered: 'answered', timed_out: 'timed out', defaulted: 'default', cancelled: 'called off' };

const questionView = (question) => el('li', {},
  question.header && el('strong', {}, `${question.header} `),
  el('span', { class: `tag ${question.status}` }, kStatus[question.status] ?? question.status),
  el('div', { class: 'question' }, shorten(question.text || 'A question', kText)));

const askView = ({ key, questions, deliveries, notes, over }) => [
  questions.length > 1 && el('ul', { class: 'steps questions-asked' }, questions.map(questionView)),
  questions.length === 1 && questions[0].text.length > kText && said(key, questions[0].text),
  !over && el('p', {}, el('a', { href: `/#${questions[0].id}` }, 'Open in the inbox')),
  deliveries.length === 0 && questions.every(({ channels }) => channels.length === 0)
    && el('p', { class: 'note' }, 'Shown in the inbox; sent to nobody.'),
  notes.map(({ text, reason }) => el('p', { class: 'note' }, `${text}: ${reason}`)),
];

const outputView = ({ key, number, output }) => fold(`${key}-output`, `Output: ${counted(output.length, 'line')}`, () =>
  el('pre', { class: 'output', tabindex: 0, role: 'region', 'aria-label': `Output of turn ${number}` }, output.join('\n')));

const details = (row) => [
  row.lines.map((line) => el('p', { class: row.tone === 'bad' ? 'reason bad' : 'reason' }, line)),
  row.quote && said(row.key, row.quote),
  row.body !== undefined && said(row.key, typeof row.body === 'string' ? row.body : toText(row.body, 2)),
  row.parent && el('p', {}, el('a', { href: `/session/${row.parent}` }, 'The session that started it')),
  row.kind === 'ask' && askView(row),
  row.kind === 'agents' && subsView(row),
  row.steps?.length > 0 && stepsView(row),
  row.attempts?.length > 1 && attemptsView(row),
  row.output?.length > 0 && outputView(row),
  row.deliveries?.length > 0 && deliveriesView(row),
].flat(2);

const rowView = (row, before) => el('li', { class: `row ${row.kind} ${row.tone}`, 'data-key': row.key },
  icon(row.kind === 'end' ? row.status : row.kind),
  el('div', { class: 'what' },
    el('p', { class: 'text' }, shorten(row.text, kText), row.took !== null && [' ', el('span', { class: 'took' }, took(row.took))]),
    details(row)),
  moment(row.at, before));

// As it was: what is open in `old` is open in `fresh`, and what had the focus has it.
const keepFolds = (old, fresh) => {
  for (const was of old.querySelectorAll('details[data-fold]')) {
    const now = fresh.querySelector(`details[data-fold="${was.dataset.fold}"]`);
    if (now && now.open !== was.open) {
      now.open = was.open;
      now.dispatchEvent(new Event('toggle'));
    }
  }
  const focused = old.contains(document.activeElement) && document.activeElement.closest('[data-fold]');
  return () => { if (focused) fresh.querySelector(`[data-fold="${focused.dataset.fold}"] > summary`)?.focus(); };
};

const signature = (row) => toText({ ...row, output: row.output?.length });

// `show(rows)` brings the list up to date.
export function timelineView() {
  const list = el('ol', { class: 'story' });
  const drawn = new Map();   // key → { signature, view }
  let hidden = null;         // Keys of the rows in the folded middle, oldest first; decided once.

  const gap = el('li', { class: 'gap' });
  const button = el('button', {
    type: 'button', class: 'quiet', click: () => {
      const next = hidden.splice(0, kMore);
      show(last);
      list.querySelector(`[data-key="${next[0]}"]`)?.scrollIntoView({ block: 'nearest' });
    },
  });
  gap.append(button);
  let last = [];

  const draw = (row, before) => {
    const now = signature(row);
    const old = drawn.get(row.key);
    if (old?.signature === now) return old.view;
    const view = rowView(row, before);
    drawn.set(row.key, { signature: now, view });
    if (old) {
      const focus = keepFolds(old.view, view);
      old.view.replaceWith(view);
      focus();
    }
    return view;
  };

  const show = (rows) => {
    last = rows;
    hidden ??= rows.length > kFirst + kLast + kMore ? rows.slice(kFirst, -kLast).map(({ key }) => key) : [];
    const folded = new Set(hidden);
    const views = [];
    rows.forEach((row, index) => {
      if (!folded.has(row.key)) views.push(draw(row, rows[index - 1]?.at));
      else if (row.key === hidden[0]) views.push(gap);
    });
    button.textContent = `Show ${Math.min(kMore, hidden.length)} of ${counted(hidden.length, 'step')} between`;
    // Only what is not in its place is moved: a moved element loses its focus.
    views.forEach((view, index) => {
      if (list.children[index] !== view) list.insertBefore(view, list.children[index] ?? null);
    });
    while (list.children.length > views.length) list.lastElementChild.remove();
  };
  return { view: list, show };
}
