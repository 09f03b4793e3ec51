// How long ago something was, and how long until something is, kept true while the page is open. By the server's clock: this machine's
// may be wrong.
import { el } from './dom.js';
import { everySecond, exact, since, span } from './time.js';

let skew = 0;
export const setServerClock = (iso) => { skew = Date.parse(iso) - Date.now(); };
const now = () => Date.now() + skew;

const kWords = {
  ago: (iso) => since(iso, now()),
  until: (iso) => (Date.parse(iso) > now() ? `in ${span((Date.parse(iso) - now()) / 1000 + 1)}` : 'now'),
};
const time = (kind) => (iso) => el('time', { datetime: iso, title: exact(iso), 'data-age': kind }, kWords[kind](iso));
export const ago = time('ago');
export const until = time('until');

everySecond(() => {
  for (const node of document.querySelectorAll('time[data-age]')) {
    const words = kWords[node.dataset.age](node.dateTime);
    if (node.textContent !== words) node.textContent = words;
  }
});
