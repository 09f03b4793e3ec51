// Times as people read them.

const kUnits = [[86_400, 'd'], [3600, 'h'], [60, 'min'], [1, 's']];

// `1 h 20 min`, `45 s`: the two largest parts that count, or one below an hour but for the last five minutes' seconds.
export function span(seconds) {
  const whole = Math.max(0, Math.floor(seconds));
  const at = kUnits.findIndex(([size]) => whole >= size);
  if (at < 0) return '0 s';
  const [size, unit] = kUnits[at];
  const first = `${Math.floor(whole / size)} ${unit}`;
  const next = kUnits[at + 1];
  if (!next || (unit === 'min' && whole >= 300)) return first;
  const rest = Math.floor((whole % size) / next[0]);
  return rest ? `${first} ${rest} ${next[1]}` : first;
}

// With tenths and milliseconds, for what machines do.
export function duration(ms) {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  return ms < 60_000 ? `${(ms / 1000).toFixed(1)} s` : span(ms / 1000);
}

export const since = (iso, now = Date.now()) => {
  const seconds = (now - Date.parse(iso)) / 1000;
  return seconds < 5 ? 'just now' : `${span(seconds)} ago`;
};

// Today's without the date.
export function clock(iso, now = new Date()) {
  const date = new Date(iso);
  const time = date.toLocaleTimeString([], { hour: '2-digit', minute: '2-digit' });
  if (date.toDateString() === now.toDateString()) return time;
  return `${date.toLocaleDateString([], { day: 'numeric', month: 'short' })} ${time}`;
}

export const exact = (iso) => new Date(iso).toLocaleString([], { dateStyle: 'medium', timeStyle: 'medium' });

// Calls `tick` each second while the page is seen, and at once when it is seen again.
export function everySecond(tick) {
  setInterval(() => { if (!document.hidden) tick(); }, 1000);
  document.addEventListener('visibilitychange', () => { if (!document.hidden) tick(); });
}
