// The list of asks. Only as many rows as somebody scrolls to are made, and a row is made anew only when its ask is another.
import { el } from './dom.js';
import { timeLeft } from './pending.js';

const kFirst = 30;    // More than any screen shows.
const kChunk = 60;

function makeRow(ask, onChoose) {
  const left = el('span', { class: 'left' });
  const count = ask.questions.length;
  const link = el('a', { class: 'row', href: `#${ask.id}`, tabindex: '-1', click: (event) => onChoose(ask.key, event) },
    el('span', { class: 'top' },
      el('span', { class: 'agent' }, ask.agent),
      ask.header && el('span', { class: 'tag' }, ask.header),
      left),
    el('span', { class: 'text' }, ask.text),
    (count > 1 || ask.suggestion || ask.lost) && el('span', { class: 'marks' },
      ask.lost && el('span', { class: 'tag bad' }, 'yours did not count'),
      count > 1 && el('span', { class: 'tag accent' }, `${count} questions`),
      !ask.lost && ask.suggestion && el('span', { class: 'hint' },
        el('span', { 'aria-hidden': 'true' }, '★ '), el('span', { class: 'unseen' }, 'recommended: '), ask.suggestion)));
  const row = { ask, link, left, item: el('li', {}, link), shown: '' };
  tickRow(row, Date.now());
  return row;
}

function tickRow(row, now) {
  const [words, pressing] = row.ask.lost ? ['', ''] : timeLeft(row.ask.deadline, now);
  if (words === row.shown) return;
  row.left.textContent = row.shown = words;
  row.left.className = `left ${pressing}`;
}

// `onChoose(key, event)`: a row was activated.
export function makeList(onChoose) {
  const rows = new Map();
  const list = el('ul', { class: 'rows', 'aria-label': 'Waiting questions' });
  const more = el('div', { class: 'more' });
  let asks = [];
  let most = kFirst;
  let selected = null;

  const mark = (row, on) => {
    if (on) row.link.setAttribute('aria-current', 'true');
    else row.link.removeAttribute('aria-current');
    // One stop for the Tab key; j, k and the arrows move within.
    row.link.tabIndex = on ? 0 : -1;
  };

  const draw = () => {
    const wanted = asks.slice(0, most);
    const keys = new Set(wanted.map(({ key }) => key));
    const focused = [...rows.values()].find(({ link }) => link === document.activeElement);
    const place = focused ? [...list.children].indexOf(focused.item) : -1;
    for (const [key, row] of rows) {
      if (keys.has(key)) continue;
      row.item.remove();
      rows.delete(key);
    }
    let next = list.firstChild;
    for (const ask of wanted) {
      let row = rows.get(ask.key);
      if (row?.ask !== ask) {
        const made = makeRow(ask, onChoose);
        if (row) {
          if (next === row.item) next = row.item.nextSibling;
          row.item.remove();
        }
        rows.set(ask.key, row = made);
      }
      if (row.item === next) next = next.nextSibling;
      else list.insertBefore(row.item, next);
      mark(row, ask.key === selected);
    }
    if (!rows.has(selected) && list.firstChild) rows.get(wanted[0].key).link.tabIndex = 0;
    more.hidden = asks.length <= most;
    if (place >= 0 && !list.contains(document.activeElement)) {
      (rows.get(focused.ask.key) ?? rows.get(wanted[Math.min(place, wanted.length - 1)]?.key))?.link.focus({ preventScroll: true });
    }
  };

  const watch = new IntersectionObserver((entries) => {
    if (!entries.some(({ isIntersecting }) => isIntersecting) || more.hidden) return;
    most += kChunk;
    draw();
    // It may still be in sight, which would be no news.
    watch.unobserve(more);
    watch.observe(more);
  });
  watch.observe(more);

  return {
    box: el('div', { class: 'list' }, list, more),
    // `anew`: it is another list, to be seen from its top.
    show(all, key, anew = false) {
      asks = all;
      selected = key;
      if (anew) most = kFirst;
      most = Math.max(most, asks.findIndex((ask) => ask.key === key) + 1);
      draw();
    },
    focus(key) {
      const row = rows.get(key) ?? rows.get(asks[0]?.key);
      row?.link.focus({ preventScroll: true });
      row?.link.scrollIntoView({ block: 'nearest' });
      return Boolean(row);
    },
    tick(now = Date.now()) { rows.forEach((row) => tickRow(row, now)); },
  };
}
