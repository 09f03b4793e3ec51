// What all pages share: the lamp that tells whether they are live, messages at the edge, the region that is read out, and the keys.
import { el, find } from './dom.js';

const kLamps = {
  live: ['Live', 'Live: changes show at once'],
  polling: ['Slow', 'No live stream gets through; looking every few seconds'],
  offline: ['Offline', 'The server cannot be reached; trying again'],
  signed_out: ['Logged out', 'You are logged out'],
};

const showBanner = (...content) => {
  const banner = find('banner');
  banner.replaceChildren(...content);
  banner.hidden = content.length === 0;
};

const logInLink = () =>
  el('a', { href: `/login?next=${encodeURIComponent(location.pathname + location.search + location.hash)}` }, 'Log in again');

// The connection as live.js tells of it.
export function showConnection(state) {
  const [word, title] = kLamps[state];
  const lamp = find('lamp');
  lamp.className = `lamp ${state}`;
  lamp.setAttribute('aria-label', word);
  lamp.title = title;
  if (state === 'offline') {
    showBanner('The server cannot be reached. What you see may be out of date; this page tries again by itself.');
  } else if (state === 'signed_out') {
    showBanner('You are logged out. ', logInLink(), ' to go on.');
  } else {
    showBanner();
  }
}
addEventListener('signed-out', () => showConnection('signed_out'));

// Read out to those who cannot see it.
export const announce = (text) => { find('live').textContent = text; };

// A short message at the edge that goes by itself; an error stays until it is closed.
export function toast(text, kind = 'done') {
  const close = () => box.remove();
  const box = el('div', { class: `toast ${kind}`, role: kind === 'error' ? 'alert' : 'status' },
    el('span', {}, text),
    el('button', { type: 'button', class: 'quiet small', 'aria-label': 'Close', click: close }, '×'));
  find('toasts').append(box);
  if (kind !== 'error') setTimeout(close, 6000);
}

// A question that must be decided before anything else. True: yes.
export function confirmed({ title, text, yes, no = 'Keep it', danger = true }) {
  return new Promise((resolve) => {
    const dialog = el('dialog', { class: 'box', 'aria-labelledby': 'confirm-title', close: () => { dialog.remove(); resolve(dialog.returnValue === 'yes'); } },
      el('h2', { id: 'confirm-title' }, title),
      text && el('p', {}, text),
      el('form', { method: 'dialog', class: 'buttons' },
        el('button', { value: 'yes', class: danger ? 'danger' : null }, yes),
        el('button', { value: 'no', class: 'quiet', autofocus: true }, no)));
    document.body.append(dialog);
    dialog.showModal();
  });
}

const typing = (target) => target.closest?.('input:not([type=radio]):not([type=checkbox]), textarea, select, [contenteditable]');

const kSigns = { ArrowDown: '↓', ArrowUp: '↑', ArrowLeft: '←', ArrowRight: '→', Escape: 'Esc' };

// `keys`: [[['j', 'ArrowDown'], 'Next question', act], …]. `act` gets the event; the key does nothing else unless it returns false. None counts
// while something is typed or a dialog is open. A fourth member, `{ typing: true }`, lets a key count there too; `{ shown: ['1', '…', '9'] }` is
// how the help names them.
export function useKeys(keys) {
  const help = () => {
    const rows = [...keys, [['?'], 'These keys']].map(([names, what, , options]) =>
      el('div', {}, el('dt', {}, (options?.shown ?? names).map((name) => el('kbd', {}, kSigns[name] ?? name))), el('dd', {}, what)));
    const dialog = el('dialog', { class: 'box keys', 'aria-labelledby': 'keys-title', close: () => dialog.remove() },
      el('h2', { id: 'keys-title' }, 'Keys'),
      el('dl', {}, rows),
      el('form', { method: 'dialog', class: 'buttons' }, el('button', { autofocus: true }, 'Close')));
    document.body.append(dialog);
    dialog.showModal();
  };
  find('keys-button').addEventListener('click', help);
  document.addEventListener('keydown', (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || document.querySelector('dialog[open]')) return;
    if (event.key === '?' && !typing(event.target)) {
      event.preventDefault();
      help();
      return;
    }
    for (const [names, , act, options] of keys) {
      if (!names.includes(event.key) || (typing(event.target) && !options?.typing)) continue;
      if (act(event) !== false) event.preventDefault();
      return;
    }
  });
}
