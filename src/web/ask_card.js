// One ask: what is asked and why, and the form to answer it; of several questions one at a time.
import { el } from './dom.js';
import { inWords, isTouched, newDraft, valueOf } from './draft.js';
import { makeForm, optionList } from './answer_form.js';
import { timeLeft } from './pending.js';
import { clock, since } from './time.js';
import { atDeadline, ending, listed, placeName } from './wording.js';

const kLongContext = 1500;

function contextOf({ context, created_at: asked }) {
  const facts = Object.entries(context).filter(([name, value]) => name !== 'asked_at' || value !== asked);
  if (!facts.length) return null;
  const list = el('dl', {}, facts.flatMap(([name, value]) => [el('dt', {}, name),
    el('dd', {}, typeof value === 'string' ? value : el('code', {}, JSON.stringify(value, null, 2)))]));
  return JSON.stringify(context).length > kLongContext ? el('details', {}, el('summary', {}, 'Context'), list) : list;
}

const copyButton = (text) => navigator.clipboard
  && el('button', { type: 'button', class: 'quiet small', click: () => navigator.clipboard.writeText(text) }, 'Copy');

// A view is { ask, questions, me, rights: {answer, cancel, why}, complaints: {question id or '': text} }: `questions` has the settled ones
// too, `ask` only those that are pending. `drafts`: by question id. `onDone`: an ask that is over was read.
export function makeCard({ drafts, onSubmit, onCancel, onBack, onDone }) {
  const box = el('article', { class: 'card', 'aria-labelledby': 'ask-title' });
  const places = new Map();   // Ask key → which of its questions is shown.
  let view = null;
  let form = null;
  let shown = null;
  let missing = '';           // What is said about an answer that is not there.

  const draftOf = (question) => drafts.get(question.id) ?? drafts.set(question.id, newDraft()).get(question.id);
  const isOpen = (question) => question.status === 'pending';
  const isFilled = (question) => !isOpen(question) || valueOf(question, draftOf(question)) !== undefined;
  const place = () => Math.min(places.get(view.ask.key) ?? 0, view.questions.length - 1);
  const unfilled = () => view.questions.findIndex((question) => !isFilled(question));

  const settledBox = (question) => {
    const draft = drafts.get(question.id);
    const mine = draft && isTouched(draft) ? inWords(valueOf(question, draft)) || draft.text : '';
    const counted = question.answer === null ? '' : inWords(question.answer);
    return el('div', { class: 'settled' },
      el('p', {}, ending(question, view.me), counted && ':'),
      counted && el('blockquote', {}, counted),
      mine && mine !== counted && el('div', { class: 'mine' },
        el('p', { class: 'note' }, view.ask.lost ? 'Your answer, which came too late:' : 'What you had filled in:'),
        el('blockquote', {}, mine), copyButton(mine)));
  };

  const stepName = (question, i) => {
    const state = !isOpen(question) ? 'settled' : isFilled(question) ? 'filled in' : 'open';
    return `Question ${i + 1} of ${view.questions.length}, ${state}`;
  };
  const pager = el('nav', { class: 'pager', 'aria-label': 'Questions of this request' });
  const drawPager = () => {
    pager.replaceChildren(el('span', { class: 'note' }, `${place() + 1}/${view.questions.length}`),
      ...view.questions.map((question, i) => el('button', {
        type: 'button', class: `step ${isFilled(question) ? 'filled' : ''}`, 'aria-label': stepName(question, i), 'data-at': `step ${i}`,
        'aria-current': i === place() ? 'step' : null, click: () => card.go(i),
      }, isFilled(question) ? '✓' : String(i + 1))));
  };

  const submitButton = el('button', { type: 'button', class: 'submit', 'data-at': 'submit', click: () => card.submit() });
  const drawSubmit = () => {
    const count = view.ask.questions.length;
    submitButton.textContent = view.questions.length === 1 ? 'Answer' : count === 1 ? 'Submit the answer' : `Submit ${count} answers`;
    submitButton.setAttribute('aria-disabled', String(view.questions.length > 1 && unfilled() >= 0));
  };

  const buttons = () => {
    const last = view.questions.length - 1;
    const step = (label, by, off) =>
      el('button', { type: 'button', class: 'quiet', disabled: off, 'data-at': `step by ${by}`, click: () => card.step(by) }, label);
    const all = [
      last > 0 && [step('Back', -1, place() === 0), step('Next', 1, place() === last)],
      form && submitButton,
      !view.ask.questions.length && el('button', { type: 'button', 'data-at': 'done', click: onDone }, 'Done'),
    ];
    return all.some(Boolean) && el('div', { class: 'buttons' }, all.flat());
  };

  const age = el('span', {});
  const left = el('span', { class: 'left' });
  const foot = (question) => el('div', { class: 'foot' },
    el('p', { class: 'note' },
      isOpen(question) && `Answer by ${clock(question.expires_at)}. ${atDeadline(question)} `,
      question.channels.length ? `Also sent to ${listed(question.channels.map(placeName))}.` : isOpen(question) && 'Only in this inbox.'),
    view.rights.cancel && view.ask.questions.length > 0
      && el('button', { type: 'button', class: 'quiet small', 'data-at': 'cancel', click: onCancel }, 'Cancel this request'));

  // What has the focus keeps it.
  const draw = () => {
    const active = box.contains(document.activeElement) ? document.activeElement : null;
    const at = active?.dataset.at;
    const caret = active?.selectionStart;
    const question = shown = view.questions[place()];
    const answerable = isOpen(question) && view.rights.answer;
    const complaint = missing || view.complaints[question.id] || view.complaints[''];
    form = answerable ? makeForm({ question, draft: draftOf(question), complaint, onSend: () => card.enter(),
      onEdit: () => { missing = ''; box.querySelector('#ask-complaint')?.remove(); drawPager(); drawSubmit(); } }) : null;
    const several = view.questions.length > 1;
    if (several) drawPager();
    drawSubmit();
    const body = isOpen(question) ? el('div', {}, optionList(question), el('p', { class: 'why' }, view.rights.why)) : settledBox(question);
    const parts = [
      el('button', { type: 'button', class: 'quiet small back', 'data-at': 'back', click: onBack }, '← All questions'),
      el('p', { class: 'from' }, el('a', { href: `/session/${view.ask.session}`, 'data-at': 'session' }, question.agent_name),
        ' asked ', age, isOpen(question) && [' · ', left],
        question.header && el('span', { class: 'tag' }, question.header)),
      several && pager,
      el('h2', { id: 'ask-title', tabindex: '-1', 'data-at': 'title' }, question.question),
      contextOf(question),
      complaint && el('p', { class: 'complaint', id: 'ask-complaint', role: 'alert' }, complaint),
      form?.box ?? body,
      buttons(),
      foot(question),
    ];
    box.replaceChildren(...parts.filter(Boolean));
    form?.ready();
    card.tick();
    if (!at) return;
    const again = box.querySelector(`[data-at="${CSS.escape(at)}"]`) ?? box.querySelector('h2');
    again.focus({ preventScroll: true });
    if (caret !== undefined && caret !== null && again.matches('textarea')) again.setSelectionRange(caret, caret);
  };

  const card = {
    box,
    show(next) {
      const other = view?.ask.key !== next.ask.key;
      view = next;
      if (other) missing = '';
      const wrong = view.questions.findIndex(({ id }) => view.complaints[id]);
      if (wrong >= 0) places.set(view.ask.key, wrong);
      draw();
      if (other) box.parentElement?.scrollTo(0, 0);
    },
    tick(now = Date.now()) {
      if (!shown) return;
      age.textContent = since(shown.created_at, now);
      if (!view.ask.questions.length) return;
      const [words, pressing] = timeLeft(view.ask.deadline, now);
      if (left.textContent !== words) left.textContent = words;
      left.className = `left ${pressing}`;
    },
    isTouched: () => Boolean(view) && view.questions.some((question) => isOpen(question) && isTouched(draftOf(question))),
    choose: (number) => Boolean(form?.choose(number)),
    focus() { box.querySelector('h2')?.focus({ preventScroll: true }); },
    focusForm() { if (form) form.focus(); else card.focus(); },
    go(to) {
      if (to < 0 || to >= view.questions.length) return false;
      const inside = box.contains(document.activeElement);
      places.set(view.ask.key, to);
      missing = '';
      draw();
      if (inside) card.focus();
      return true;
    },
    step: (by) => card.go(place() + by),
    // On to the next that is not filled in; where there is none, it is sent.
    enter() {
      if (!view.ask.questions.length) return onDone();
      if (!form) return undefined;
      const next = view.questions.findIndex((question, i) => i > place() && !isFilled(question));
      if (!isFilled(shown) || unfilled() < 0) return card.submit();
      const moved = card.go(next >= 0 ? next : unfilled());
      // Where there is only text to give, whoever goes on writes on.
      if (!shown.choices.length) form?.focus();
      return moved;
    },
    submit() {
      const empty = unfilled();
      if (empty >= 0) {
        if (empty !== place() && isFilled(shown)) places.set(view.ask.key, empty);
        const question = view.questions[place()];
        missing = !question.choices.length || draftOf(question).other ? 'Write an answer first.' : 'Choose an answer first.';
        draw();
        form?.focus();
        return;
      }
      const answers = view.ask.questions.map((question) => [question.id, valueOf(question, draftOf(question))]);
      onSubmit(view.ask, Object.fromEntries(answers));
    },
  };
  return card;
}
