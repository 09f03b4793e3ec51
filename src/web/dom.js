// Elements are built, never parsed: what agents and people wrote can only become text.

const place = (node, attributes, children) => {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === 'function') node.addEventListener(name, value);
    else node.setAttribute(name, value === true ? '' : value);
  }
  node.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return node;
};

// `el('button', { class: 'quiet', click: save }, 'Save')`. Functions are listeners; null, undefined and false are left out.
export const el = (tag, attributes = {}, ...children) => place(document.createElement(tag), attributes, children);

export const svg = (tag, attributes = {}, ...children) =>
  place(document.createElementNS('http://www.w3.org/2000/svg', tag), attributes, children);

export const find = (id) => document.getElementById(id);

// What a page shows instead of its content: nothing there, still loading, or something went wrong.
export const state = ({ title, text, action, kind = 'empty' }) =>
  el('div', { class: `state ${kind}`, role: kind === 'error' ? 'alert' : null },
    el('h2', {}, title),
    text && el('p', {}, text),
    action && el('p', {}, action));

// Grey lines in the shape of what is to come.
export const skeleton = (lines = 4) =>
  el('div', { class: 'skeleton', role: 'status', 'aria-label': 'Loading' },
    Array.from({ length: lines }, () => el('div', { class: 'bone' })));

export const shorten = (text, most) => ([...text].length > most ? `${[...text].slice(0, most - 1).join('')}…` : text);
