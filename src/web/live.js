// What happens on the server, as it happens. A stream of server-sent events; where none gets through, a look every few seconds.

const kSilence = 40_000;      // The server says something every 15 s.
const kGreeting = 6_000;      // It says something at once: a proxy that keeps that to itself would keep everything.
const kLook = 5_000;          // How often to look where there is no stream.
const kFirstWait = 500;
const kLongestWait = 10_000;
const kStreamAgain = 60_000;  // How often to try for a stream where looking works.

// The events of a text/event-stream, as its pieces come in; what is left of the last one is kept.
export function makeParser(onEvent) {
  let rest = '';
  return (piece) => {
    rest += piece;
    const blocks = rest.split(/\r?\n\r?\n/);
    rest = blocks.pop();
    for (const block of blocks) {
      const event = { id: '', data: '' };
      for (const line of block.split(/\r?\n/)) {
        if (line.startsWith('id:')) event.id = line.slice(3).trim();
        else if (line.startsWith('data:')) event.data += line.slice(5).trim();
      }
      if (event.data) onEvent({ id: event.id, ...JSON.parse(event.data) });
    }
  };
}

// Follows the events of `types` (all, if it is empty). `onEvents` gets them as they come. `refresh` is to look at everything anew; it is
// called whenever events may have been missed, and throws a Refusal if it cannot. `onState` gets `live`, `polling`, `offline` or
// `signed_out` when that changes. A page that is hidden lets go of its stream (browsers have few connections to a server), unless
// `background` is set and it is the one page that keeps it. `path` gives another stream to follow, each time one is opened.
export function follow({ types = [], path, onEvents, refresh, onState, background = false }) {
  path ??= () => (types.length ? `/agent/events?types=${types.join(',')}` : '/agent/events');
  let last = '';
  let state = '';
  let failures = 0;
  let streamless = 0;  // Streams in a row that did not work while the server did.
  let keeper = false;
  let attempt = null;  // Aborts what is under way.
  let wake = () => {};

  const say = (now) => {
    if (now !== state) onState?.(state = now);
  };
  const sleep = (ms) => new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    wake = () => { clearTimeout(timer); resolve(); };
  });
  const shown = () => !document.hidden || keeper;

  // Until it breaks. True: it was open.
  const stream = async () => {
    attempt = new AbortController();
    let watchdog = setTimeout(() => attempt.abort(), kGreeting);
    let opened = 0;
    try {
      const headers = { accept: 'text/event-stream', ...(last ? { 'last-event-id': last } : {}) };
      const response = await fetch(path(), { headers, signal: attempt.signal });
      if (response.status === 401) return say('signed_out');
      if (!response.ok) return false;
      const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
      let events = [];
      const parse = makeParser((event) => { last = event.id || last; events.push(event); });
      while (true) {
        const { value, done } = await reader.read();
        if (done) return opened > 0;
        clearTimeout(watchdog);
        watchdog = setTimeout(() => attempt.abort(), kSilence);
        if (!opened) {
          opened = Date.now();
          // Only now: what happens from here on comes as events, so nothing falls between the two.
          await refresh();
          streamless = 0;
          say('live');
        }
        parse(value);
        if (events.length) onEvents(events.splice(0));
      }
    } catch {
      return opened > 0;
    } finally {
      if (opened && Date.now() - opened > kLook) failures = 0;
      clearTimeout(watchdog);
      attempt.abort();
    }
  };

  const look = async () => {
    try {
      await refresh();
      return true;
    } catch (error) {
      say(error.status === 401 ? 'signed_out' : 'offline');
      return false;
    }
  };

  const run = async () => {
    while (state !== 'signed_out') {
      if (!shown()) {
        await new Promise((resolve) => { wake = resolve; });
        continue;
      }
      const opened = await stream();
      if (state === 'signed_out' || !shown()) continue;
      // One that broke tells little: the server may be restarting, and is there again a moment later.
      const reachable = !opened && await look();
      if (!reachable) {
        failures += 1;
        await sleep(Math.min(kLongestWait, kFirstWait * 2 ** (failures - 1)) * (0.5 + Math.random() / 2));
      } else if ((streamless += 1) >= 2) {
        say('polling');
        for (const until = Date.now() + kStreamAgain; Date.now() < until && shown() && await look();) await sleep(kLook);
      }
    }
  };

  // What was lost while the machine slept or the network was gone is not waited for.
  const hurry = () => {
    failures = 0;
    if (state !== 'live') wake();
  };
  addEventListener('online', hurry);
  document.addEventListener('visibilitychange', () => {
    if (shown()) {
      wake();
    } else {
      attempt?.abort();
    }
  });
  if (background && navigator.locks) {
    // Held until the page is closed.
    navigator.locks.request('holdpoint-keeper', () => { keeper = true; wake(); return new Promise(() => {}); });
  }
  run();
}
