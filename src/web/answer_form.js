// The inputs of one question. They show its draft, and write to it.
import { el } from './dom.js';
import { pick, pickOther, takesText } from './draft.js';

const kGrowsByItself = CSS.supports('field-sizing', 'content');

const grow = (field) => {
  if (kGrowsByItself) return;
  field.style.height = 'auto';
  field.style.height = `${field.scrollHeight + 2}px`;
};

const labelOf = ({ label, description, emoji, recommended }) =>
  el('span', { class: 'label' }, emoji ? `${emoji} ` : null, label,
    recommended && el('em', {}, ' ★ recommended'),
    description && el('small', {}, description));

// The options, for those who only look.
export const optionList = (question) =>
  el('ul', { class: 'options' }, question.choices.map((choice) => el('li', { class: 'option' }, labelOf(choice))));

// `onEdit`: the draft has changed. `onSend`: Ctrl+Enter in the text.
export function makeForm({ question, draft, complaint, onEdit, onSend }) {
  const type = question.multi_select ? 'checkbox' : 'radio';
  const options = question.choices.length > 0;
  const inputs = [];

  const sync = () => {
    for (const { input, label } of inputs) input.checked = label === null ? draft.other : draft.picked.includes(label);
    if (other) text.hidden = !draft.other;
  };
  const edited = () => { sync(); onEdit(); };

  const row = (label, number, content, change) => {
    const at = label === null ? 'other' : `choice ${label}`;
    const input = el('input', { type, name: 'choice', value: label ?? '', change, 'data-at': at });
    inputs.push({ input, label });
    // The key is drawn by the style sheet: it is no part of the label.
    return el('label', { class: 'option' }, input, number < 10 && el('span', { class: 'key', 'data-key': number }), content);
  };
  const rows = question.choices.map((choice, i) =>
    row(choice.label, i + 1, labelOf(choice), () => { pick(question, draft, choice.label); edited(); }));
  const otherLabel = el('span', { class: 'label' }, 'Other', el('small', {}, `${question.multi_select ? 'also, ' : ''}in your own words`));
  const other = options && takesText(question) && row(null, 0, otherLabel, (event) => {
    pickOther(question, draft, event.target.checked);
    edited();
    if (draft.other) text.focus();
  });
  const text = el('textarea', {
    rows: options ? 2 : 3, class: 'own-text', 'aria-label': options ? 'Your own answer' : 'Your answer', 'data-at': 'text',
    input: () => {
      draft.text = text.value;
      if (options) pickOther(question, draft);
      grow(text);
      edited();
    },
    keydown: (event) => {
      if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return;
      event.preventDefault();
      onSend();
    },
  });
  text.value = draft.text;
  sync();

  return {
    box: el('fieldset', { 'aria-labelledby': 'ask-title', 'aria-describedby': complaint ? 'ask-complaint' : null },
      options && el('legend', {}, question.multi_select ? 'Choose one or more' : 'Choose one'),
      rows, other, takesText(question) && text),
    // By its number; 0 is the text. False: there is none.
    choose(number) {
      if (number === 0) {
        if (!takesText(question)) return false;
        if (options) pickOther(question, draft);
        edited();
        text.focus();
        return true;
      }
      const choice = question.choices[number - 1];
      if (!choice) return false;
      pick(question, draft, choice.label);
      edited();
      inputs[number - 1].input.focus();
      return true;
    },
    focus() { (inputs.find(({ input }) => input.checked)?.input ?? inputs[0]?.input ?? text).focus(); },
    ready() { grow(text); },
  };
}
