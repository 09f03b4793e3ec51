// A session's story as a strip from left to right: stretches of work, of waiting, and marks. Pure: no page, no clock.
import { took } from './story_words.js';

const kMost = 24;  // Stretches that can be told apart on a phone.
const kAtOnce = 20;  // Milliseconds between two that are not worth a stretch of their own.

export const kStretches = {
  work: 'The agent works',
  wait: 'Waits for people',
  agents: 'Waits for sub-agents',
  pause: 'Waits to try again',
  queue: 'Waits for a free worker',
  rest: 'Had ended',
  more: 'More steps',
};
export const kMarks = { answer: 'Answer', sent: 'Message sent', failed: 'Failure', message: 'Message to the agent', expired: 'Time ran out' };

// What follows after an event, until the next that changes it.
const kNext = {
  turn_started: 'work',
  question_asked: 'wait',
  agents_spawned: 'agents',
  turn_failed: 'pause',
  session_started: 'queue', session_resumed: 'queue', session_retried: 'queue',
  turn_continued: 'queue', turn_released: 'queue', result_deferred: 'queue', ask_refused: 'queue',
  session_completed: 'rest', session_failed: 'rest', session_cancelled: 'rest',
};
const kMarked = {
  question_answered: ['answer', ({ by, via }) => `${by ?? 'Somebody'} answered${via ? ` (${via})` : ''}`],
  question_expired: ['expired', () => 'The time for an answer ran out'],
  delivery_sent: ['sent', ({ channel, host }) => `Sent: ${channel} ${host}`],
  delivery_failed: ['failed', ({ channel, host, reason }) => `Not sent: ${channel} ${host}: ${reason}`],
  turn_failed: ['failed', ({ turn, attempt, reason }) => `Turn ${turn}, attempt ${attempt} failed: ${reason}`],
  message_queued: ['message', () => 'A message to the agent'],
};

// The stretches of the story up to `now`, without gaps but for those too short to matter. The last is `open` while the session is not over.
export function stretches(events, now) {
  const all = [];
  let last = null;
  const close = (to) => {
    if (last && (!['queue', 'pause', 'rest'].includes(last.kind) || to - last.from > kAtOnce)) all.push({ ...last, to, ms: to - last.from });
  };
  for (const event of events) {
    const kind = kNext[event.type];
    const at = Date.parse(event.at);
    // The other questions of the same ask.
    if (!kind || (kind === 'wait' && last?.kind === 'wait')) continue;
    close(at);
    if (event.type === 'turn_failed' && all.at(-1)?.kind === 'work') all.at(-1).failed = true;
    last = { kind, from: at, turn: event.data.turn ?? null, failed: false, open: false };
  }
  // What comes after the end is nobody's time, unless it is tried again.
  if (last && last.kind !== 'rest') {
    last.open = true;
    close(Math.max(now, last.from));
  }
  return all;
}

export const marks = (events) => events.filter(({ type }) => kMarked[type]).map(({ type, at, data }) => {
  const [kind, title] = kMarked[type];
  return { kind, at: Date.parse(at), title: title(data) };
});

// Milliseconds and days are to be seen side by side.
const weight = (ms) => 1 + Math.log10(1 + ms / 50);

const fold = (all) => {
  if (all.length <= kMost) return all;
  const side = (kMost - 1) >> 1;
  const middle = all.slice(side, all.length - side);
  const { from } = middle[0];
  const { to } = middle.at(-1);
  const folded = { kind: 'more', from, to, ms: to - from, count: middle.length, failed: false, open: false };
  return [...all.slice(0, side), folded, ...all.slice(-side)];
};

// Those of one kind that would lie on each other are one, with `count` and the first `titles`.
const gather = (all, room) => {
  const groups = new Map();
  for (const { kind, x, title } of all) {
    const key = `${kind} ${Math.round(x / room)}`;
    const group = groups.get(key);
    if (!group) groups.set(key, { kind, x, count: 1, titles: [title] });
    else if ((group.count += 1) <= 5) group.titles.push(title);
  }
  return [...groups.values()].sort((a, b) => a.x - b.x);
};

// None on another: those too near are pushed to the right, and from the end back again.
const apart = (all, room) => {
  const xs = all.map(({ x }) => x);
  for (let i = 0; i < xs.length; i += 1) xs[i] = Math.max(xs[i], i ? xs[i - 1] + room : room / 2);
  for (let i = xs.length - 1; i >= 0; i -= 1) xs[i] = Math.min(xs[i], i < xs.length - 1 ? xs[i + 1] - room : 100 - room / 2);
  return all.map((mark, i) => ({ ...mark, x: xs[i] }));
};

// Gives { stretches, marks } with `x` and `width` in percent. A mark needs `room` percent.
export function layOut(allStretches, allMarks, room = 2) {
  const shown = fold(allStretches);
  const sum = shown.reduce((total, { ms }) => total + weight(ms), 0);
  let x = 0;
  const placed = shown.map((one) => {
    const width = (100 * weight(one.ms)) / sum;
    x += width;
    return { ...one, x: x - width, width };
  });
  const place = (at) => {
    const one = placed.findLast(({ from }) => from <= at) ?? placed[0];
    return one ? one.x + one.width * Math.min(1, Math.max(0, (at - one.from) / Math.max(1, one.ms))) : 50;
  };
  return { stretches: placed, marks: apart(gather(allMarks.map((mark) => ({ ...mark, x: place(mark.at) })), room), room) };
}

const total = (all, kind) => all.filter((one) => one.kind === kind).reduce((sum, { ms }) => sum + ms, 0);

// The picture in words.
export function inWords(session, allStretches, allMarks) {
  const works = allStretches.filter(({ kind }) => kind === 'work').length;
  const waits = total(allStretches, 'wait');
  const agents = total(allStretches, 'agents');
  const pauses = total(allStretches, 'pause');
  const numberOf = (kind) => allMarks.filter((mark) => mark.kind === kind).length;
  const said = [
    works && `the agent worked ${works === 1 ? 'once' : `${works} times`}, ${took(total(allStretches, 'work'))} in all`,
    waits && `people were waited for ${took(waits)}`,
    agents && `sub-agents were waited for ${took(agents)}`,
    pauses && `${took(pauses)} went by between attempts`,
    ...[['answer', 'answers'], ['sent', 'messages sent'], ['failed', 'failures'], ['message', 'messages to the agent']]
      .map(([kind, word]) => numberOf(kind) && `${word}: ${numberOf(kind)}`),
  ].filter(Boolean);
  return `The story in a strip: ${said.join('; ') || 'nothing has happened yet'}.`;
}
