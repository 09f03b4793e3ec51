// What somebody has filled in for a question, and what it says as an answer.

export const newDraft = () => ({ picked: [], other: false, text: '' });

export const takesText = (question) => question.allow_other || question.choices.length === 0;

// One of several is ticked or unticked; one of one is chosen.
export function pick(question, draft, label) {
  if (!question.multi_select) {
    draft.picked = [label];
    draft.other = false;
  } else if (draft.picked.includes(label)) {
    draft.picked = draft.picked.filter((picked) => picked !== label);
  } else {
    draft.picked = [...draft.picked, label];
  }
}

export function pickOther(question, draft, on = true) {
  draft.other = on;
  if (on && !question.multi_select) draft.picked = [];
}

// The answer's value; undefined as long as something is missing.
export function valueOf(question, draft) {
  const own = draft.text.replaceAll('\r', '').trimEnd();
  const written = draft.other || question.choices.length === 0;
  if (written && !own.trim()) return undefined;
  const values = written ? [...draft.picked, own] : draft.picked;
  if (!values.length) return undefined;
  return question.multi_select ? values : values[0];
}

export const isTouched = (draft) => draft.picked.length > 0 || draft.other || draft.text !== '';

export const inWords = (value) => (Array.isArray(value) ? value.join(', ') : value ?? '');
