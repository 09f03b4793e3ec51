// Draws a session's strip: stretches as bars of different height, marks above them. Shape tells them apart, colour only helps.
import { el, svg } from './dom.js';
import { clock, exact } from './time.js';
import { took } from './story_words.js';
import { inWords, kMarks, kStretches, layOut, marks, stretches } from './strip.js';

const kBar = { work: [24, 30], wait: [24, 30], agents: [28, 22], pause: [36, 6], queue: [36, 6], rest: [38, 2], more: [30, 18] };  // y and height, of 58
const kRoom = 28;  // Pixels that a mark takes.
const kShapes = {
  answer: 'M0-7a3 3 0 1 1 0 6a3 3 0 0 1 0-6M-6 6c0-5 12-5 12 0z',
  sent: 'M-7-5h14v10h-14zM-7-5l7 6l7-6',
  failed: 'M-5-5l10 10M5-5l-10 10',
  message: 'M-7-6h14v9h-7l-4 4v-4h-3z',
  expired: 'M0-6a6 6 0 1 1 0 12a6 6 0 0 1 0-12M0-3v3l3 2',
};

const mark = (kind) => svg('path', { d: kShapes[kind], class: `mark ${kind}` });
const titled = (text) => svg('title', {}, text);

const bar = (one) => {
  const [y, height] = kBar[one.kind];
  const name = one.kind === 'more' ? `${one.count} more steps` : kStretches[one.kind];
  const turn = one.kind === 'work' && one.turn ? ` (turn ${one.turn})` : '';
  const look = `${one.kind}${one.failed ? ' failed' : ''}${one.open ? ' open' : ''}`;
  return svg('svg', {
    x: `${one.x}%`, width: `${one.width}%`, y: 0, height: 58, class: 'stretch', 'data-label': one.kind === 'more' ? '…' : took(one.ms),
  },
  titled(`${name}${turn}: ${took(one.ms)}${one.failed ? ', failed' : ''}${one.open ? ' so far' : ''}`),
  svg('rect', { x: 1, y, width: '100%', height, rx: 3, class: `bar ${look}` }),
  height > 10 && svg('text', { x: '50%', y: 43, class: `label ${look}` }));
};

const marked = ({ kind, x, count, titles }) => {
  const rest = count - titles.length;
  return svg('svg', { x: `${x}%`, y: 11, overflow: 'visible', class: 'marked' },
    titled([...titles, ...(rest > 0 ? [`and ${rest} more`] : [])].join('\n')),
    svg('rect', { x: -9, y: -10, width: 18, height: 20, class: 'reach' }),
    mark(kind),
    count > 1 && svg('text', { x: 9, y: -1, class: 'count' }, String(count)));
};

// Where a label does not fit, the title has it.
const fitLabels = (picture) => {
  for (const box of picture.querySelectorAll('.stretch')) {
    const label = box.querySelector('.label');
    if (label) label.textContent = box.dataset.label.length * 7 + 6 < box.getBoundingClientRect().width ? box.dataset.label : '';
  }
};

const sample = (kind) => {
  const height = kBar[kind][1] / 2.5;
  return svg('svg', { width: 24, height: 16 }, svg('rect', { x: 1, y: 8 - height / 2, width: 22, height, rx: 2, class: `bar ${kind}` }));
};

const legend = (kinds, markKinds) => el('ul', { class: 'legend', 'aria-hidden': 'true' },
  kinds.map((kind) => el('li', {}, sample(kind), kStretches[kind])),
  markKinds.map((kind) => el('li', {}, svg('svg', { width: 18, height: 16, viewBox: '-9 -8 18 16' }, mark(kind)), kMarks[kind])));

const distinct = (all) => [...new Set(all.map(({ kind }) => kind))];

// `show({ session, events })` draws anew; `tick()` lets what is still open grow.
export function stripView() {
  const picture = svg('svg', { class: 'strip', width: '100%', height: 58, role: 'img' });
  const begin = el('time');
  const end = el('time');
  const keys = el('div');
  const view = el('div', { class: 'strip-box' }, picture, el('div', { class: 'ends' }, begin, end), keys);
  let shown = { session: null, all: [], allMarks: [] };

  const draw = () => {
    const { session, all, allMarks } = shown;
    const placed = layOut(all, allMarks, (100 * kRoom) / (picture.clientWidth || 1000));
    picture.replaceChildren(...placed.stretches.map(bar), ...placed.marks.map(marked));
    picture.setAttribute('aria-label', inWords(session, all, allMarks));
    fitLabels(picture);
  };

  const show = ({ session, events }) => {
    const all = stretches(events, Date.now());
    const allMarks = marks(events);
    shown = { session, all, allMarks };
    view.hidden = all.length === 0;
    if (all.length === 0) return;
    draw();
    const last = all.at(-1);
    begin.textContent = clock(all[0].from);
    begin.title = exact(all[0].from);
    end.textContent = last.open ? 'now' : clock(last.to);
    end.title = last.open ? '' : exact(last.to);
    keys.replaceChildren(legend(distinct(all), distinct(allMarks)));
  };

  const tick = () => {
    const last = shown.all.at(-1);
    if (!last?.open) return;
    last.to = Math.max(Date.now(), last.from);
    last.ms = last.to - last.from;
    draw();
  };

  new ResizeObserver(() => { if (shown.all.length) draw(); }).observe(picture);
  return { view, show, tick };
}
