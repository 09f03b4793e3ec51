// The small plots: their geometry, in per cent of the width so that they fit any screen, and the SVG that shows it.
import { svg } from './dom.js';
import { duration, span } from './time.js';

const kLastTicks = [86_400, 604_800];
const kPlotHeight = 40;
const kBarHeight = 28;
const kLabelRoom = 7;     // Labels nearer than this to the one before are left out …
const kNarrowRoom = 15;   // … and on a narrow screen, those nearer than this.

// How wide each part of a bar of 100 is. What is not empty is at least `least` wide, at the expense of those that are wider.
export function stack(counts, least = 1.5) {
  const total = counts.reduce((sum, count) => sum + count, 0);
  if (total === 0) return counts.map(() => 0);
  const widths = counts.map((count) => (100 * count) / total);
  const raised = new Set();
  while (true) {
    const low = widths.findIndex((width, i) => width > 0 && width < least && !raised.has(i));
    if (low < 0) return widths;
    raised.add(low);
    const free = 100 - least * raised.size;
    const rest = counts.reduce((sum, count, i) => (raised.has(i) ? sum : sum + count), 0);
    counts.forEach((count, i) => { widths[i] = raised.has(i) ? least : (rest && (free * count) / rest); });
  }
}

// A logarithmic axis from 1 s to what covers all `rows` ({ times, median_seconds, p95_seconds }). Its ticks are the bounds of the counts.
export function timeAxis(rows, bounds) {
  const all = [...new Set([1, ...bounds, ...kLastTicks])].sort((a, b) => a - b);
  const beyond = all.find((seconds) => seconds > (bounds.at(-1) ?? 1)) ?? all.at(-1);
  let most = all.find((seconds) => seconds >= 60);
  for (const { times = [], median_seconds: median, p95_seconds: p95 } of rows) {
    const last = times.findLastIndex((count) => count > 0);
    most = Math.max(most, last < 0 ? 0 : bounds[last] ?? beyond, median ?? 0, p95 ?? 0);
  }
  const high = all.find((seconds) => seconds >= most) ?? most;
  const place = (seconds) => Math.min(100, Math.max(0, (100 * Math.log(Math.max(seconds, 1))) / Math.log(high)));
  const ticks = all.filter((seconds) => seconds <= high).map((seconds) => ({ seconds, at: place(seconds) }));
  return { high, place, ticks };
}

// Which ticks have room for a label: 'always', 'wide' (not on a narrow screen) or 'never'. The ends always have.
export function labelRoom(ticks) {
  const last = ticks.at(-1);
  let shown = -Infinity;
  let narrow = -Infinity;
  return ticks.map((tick) => {
    const fits = (from, room) => tick === last || (tick.at - from >= room && last.at - tick.at >= room);
    if (!fits(shown, kLabelRoom)) return 'never';
    shown = tick.at;
    if (!fits(narrow, kNarrowRoom)) return 'wide';
    narrow = tick.at;
    return 'always';
  });
}

// The bars of one row's counts: { at, width, height (of 1), count, from, to (in seconds, null: no end) }, those that are not empty.
export function bars(times, bounds, axis) {
  const most = Math.max(...times, 1);
  return times.map((count, i) => {
    const from = i === 0 ? 0 : bounds[i - 1];
    const to = bounds[i] ?? null;
    const at = axis.place(from);
    return { at, width: (to === null ? 100 : axis.place(to)) - at, height: count / most, count, from, to };
  }).filter(({ count }) => count > 0);
}

const percent = (number) => `${Number(number.toFixed(3))}%`;

// `parts`: [{ word, count, kind }]. The words are its label; what shows them too may link.
export function stackedBar(label, parts) {
  const widths = stack(parts.map(({ count }) => count));
  let at = 0;
  const rects = parts.map(({ word, count, kind }, i) => {
    const x = at;
    at += widths[i];
    return widths[i] > 0 && svg('rect', { class: `fill ${kind}`, x: percent(x), y: 0, width: percent(widths[i]), height: '100%' },
      svg('title', {}, `${count} ${word}`));
  });
  const words = parts.map(({ word, count }) => `${count} ${word}`).join(', ');
  return svg('svg', { class: 'stacked', role: 'img', 'aria-label': `${label}: ${words}` }, rects);
}

const anchor = (i, ticks) => (i === 0 ? 'start' : i === ticks.length - 1 ? 'end' : 'middle');

export function axisLabels(axis) {
  const room = labelRoom(axis.ticks);
  return svg('svg', { class: 'axis', 'aria-hidden': 'true' }, axis.ticks.map(({ seconds, at }, i) =>
    room[i] !== 'never' && svg('text', { class: room[i], x: percent(at), y: 12, 'text-anchor': anchor(i, axis.ticks) },
      i === 0 ? `≤ ${span(seconds)}` : span(seconds))));
}

export const tookWords = ({ count, from, to }) => {
  const answers = `${count} ${count === 1 ? 'answer' : 'answers'}`;
  if (to === null) return `${answers} took ${span(from)} or longer`;
  return from === 0 ? `${answers} took less than ${span(to)}` : `${answers} took ${span(from)} to ${span(to)}`;
};

// One row: how the answers are spread, a dot at the median, a tick below which 95 % of them are.
export function spread(row, bounds, axis) {
  const shapes = bars(row.times, bounds, axis);
  const [median, p95] = [row.median_seconds, row.p95_seconds];
  const label = [`${row.name}: median ${duration(median * 1000)}, 95 % within ${duration(p95 * 1000)}`, ...shapes.map(tookWords)].join('; ');
  return svg('svg', { class: 'spread', role: 'img', 'aria-label': label },
    axis.ticks.map(({ at }) => svg('line', { class: 'grid', x1: percent(at), x2: percent(at), y1: 0, y2: kPlotHeight })),
    shapes.map((bar) => svg('rect', {
      class: 'bar-of-times', x: percent(bar.at), width: percent(bar.width),
      y: kPlotHeight - bar.height * kBarHeight, height: bar.height * kBarHeight,
    }, svg('title', {}, tookWords(bar)))),
    svg('line', { class: 'base', x1: 0, x2: '100%', y1: kPlotHeight, y2: kPlotHeight }),
    svg('line', { class: 'reach', x1: percent(axis.place(median)), x2: percent(axis.place(p95)), y1: 8, y2: 8 }),
    svg('line', { class: 'p95', x1: percent(axis.place(p95)), x2: percent(axis.place(p95)), y1: 2, y2: 14 },
      svg('title', {}, `95 % within ${duration(p95 * 1000)}`)),
    svg('circle', { class: 'median', cx: percent(axis.place(median)), cy: 8, r: 5 }, svg('title', {}, `median ${duration(median * 1000)}`)));
}
