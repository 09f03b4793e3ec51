// JSON that folds. Nothing is drawn before it is opened, and long lists and texts come in pieces, so that a value of any size opens at once.
import { el } from './dom.js';
import { toast } from './shell.js';

const kChunk = 100;   // Members of an object or list drawn at a time.
const kText = 300;    // Characters of a text shown at first.
const kMore = 20_000;  // Characters more with each wish.
const kOpenChars = 600;  // What is smaller is shown unfolded.

// Long digits are somebody's id: what a number cannot hold is kept as it was written, where the browser can.
const keepDigits = (name, value, { source } = {}) =>
  (typeof value === 'number' && source && !Number.isSafeInteger(value) && /^-?\d+$/.test(source) ? BigInt(source) : value);
export const parseExactly = (text) => (/[[:,\s]-?\d{16}/.test(text) ? JSON.parse(text, keepDigits) : JSON.parse(text));

export function toText(value, indent) {
  try {
    return JSON.stringify(value, null, indent);
  } catch {
    return JSON.stringify(value, (name, one) => (typeof one === 'bigint' ? JSON.rawJSON(String(one)) : one), indent);
  }
}

const plain = (value) => value === null || typeof value !== 'object';
const size = (value) => (Array.isArray(value) ? value.length : Object.keys(value).length);

// No more of a large value is looked at than it takes to see that it is large.
const isSmall = (value) => {
  let left = kOpenChars;
  const look = (one) => {
    if (plain(one)) left -= typeof one === 'string' ? one.length : 8;
    else for (const name in one) if ((left -= name.length + 4) < 0 || !look(one[name])) break;
    return left > 0;
  };
  return look(value);
};

const textView = (value) => {
  const shown = el('span', { class: 'json-text' }, `"${value.slice(0, kText)}`);
  if (value.length <= kText) {
    shown.append('"');
    return shown;
  }
  let upTo = kText;
  const rest = () => `Show more (${(value.length - upTo).toLocaleString('en')} characters left)`;
  const more = el('button', {
    type: 'button', class: 'link json-more', click: () => {
      shown.append(value.slice(upTo, upTo += kMore));
      if (upTo < value.length) {
        more.textContent = rest();
      } else {
        shown.append('"');
        more.remove();
      }
    },
  }, rest());
  return el('span', {}, shown, '… ', more);
};

const plainView = (value) => (typeof value === 'string' ? textView(value)
  : el('span', { class: `json-${value === null ? 'null' : typeof value}` }, String(value)));

const memberView = (name, value, isList) => {
  const label = el('span', { class: isList ? 'json-place' : 'json-name' }, name);
  return plain(value) ? el('div', { class: 'json-row' }, label, ': ', plainView(value)) : branchView(value, label);
};

// The first members, and a button for the next.
const membersView = (value) => {
  const isList = Array.isArray(value);
  const names = isList ? null : Object.keys(value);
  const count = names ? names.length : value.length;
  const box = el('div', { class: 'json-members' });
  let drawn = 0;
  const draw = () => {
    const until = Math.min(count, drawn + kChunk);
    const rows = [];
    for (; drawn < until; drawn += 1) {
      const name = names ? names[drawn] : String(drawn);
      rows.push(memberView(name, value[name], isList));
    }
    more.before(...rows);
    more.textContent = `Show ${Math.min(kChunk, count - drawn)} more of ${(count - drawn).toLocaleString('en')}`;
    if (drawn === count) more.remove();
    return rows[0];
  };
  const more = el('button', {
    type: 'button', class: 'link json-more', click: () => {
      const first = draw();
      // Who came by keyboard goes on where the new ones begin.
      if (!more.isConnected) first?.querySelector('summary, button')?.focus();
    },
  });
  box.append(more);
  draw();
  return box;
};

const branchView = (value, label, open = false) => {
  const [before, after, one] = Array.isArray(value) ? ['[', ']', 'item'] : ['{', '}', 'member'];
  const count = size(value);
  if (count === 0) return el('div', { class: 'json-row' }, label, label && ': ', before + after);
  const inside = `${count.toLocaleString('en')} ${one}${count === 1 ? '' : 's'}`;
  const view = el('details', { class: 'json-branch' },
    el('summary', {}, label, label && ': ', el('span', { class: 'json-size' }, `${before} ${inside} ${after}`)));
  const fill = () => {
    if (view.open && view.children.length === 1) view.append(membersView(value));
  };
  view.addEventListener('toggle', fill);
  view.open = open;
  if (open) fill();
  return view;
};

// Members of small values are shown from the start, those below them too.
const openUp = (view) => {
  for (const branch of view.querySelectorAll('details.json-branch:not([open])')) {
    branch.open = true;
    branch.dispatchEvent(new Event('toggle'));
    openUp(branch);
  }
};

export function jsonView(value, open = true) {
  const view = el('div', { class: 'json' }, plain(value) ? plainView(value) : branchView(value, null, open));
  if (open && isSmall(value)) openUp(view);
  return view;
}

// Browsers give pages without TLS no clipboard; the old way works there.
const copy = async (text) => {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  const box = el('textarea', { class: 'unseen', readonly: true }, text);
  document.body.append(box);
  box.select();
  const done = document.execCommand('copy');
  box.remove();
  if (!done) throw new Error('not allowed');
};

export const copyButton = (what, text) => el('button', {
  type: 'button', class: 'quiet small', click: async ({ currentTarget }) => {
    try {
      await copy(text());
      toast(`${what} copied`);
    } catch {
      toast(`${what} could not be copied: the browser does not allow it`, 'error');
    }
    currentTarget?.focus();
  },
}, 'Copy', el('span', { class: 'unseen' }, ` ${what}`));
