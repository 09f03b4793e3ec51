// Answers that were given here and are not confirmed by the server. One that does not get through is kept and sent again: the same answer
// twice is harmless to it.
const kFirstWait = 2_000;
const kLongestWait = 30_000;
const kSlow = 3_000;   // After so long in one attempt it is owned up to.

// It was not the answer's fault.
const mayWorkLater = (refusal) => refusal.passing || refusal.status === 401;

// `send(entry)` resolves, or throws a Refusal. `onSent(entry)` and `onRefused(entry, refusal)` end an entry's stay; `onChange` is called
// whenever `entries()` tells something else: each is as it was given, with `waiting` set once it takes long.
export function makeOutbox({ send, onSent, onRefused, onChange, setTimer = setTimeout }) {
  const entries = new Map();

  const attempt = async (entry) => {
    entry.busy = true;
    try {
      await send(entry);
      entries.delete(entry.key);
      onSent(entry);
    } catch (refusal) {
      if (refusal.status === undefined) throw refusal;
      if (mayWorkLater(refusal)) {
        entry.waiting = true;
        entry.failures += 1;
        setTimer(() => retry(entry), Math.min(kLongestWait, kFirstWait * 2 ** (entry.failures - 1)));
      } else {
        entries.delete(entry.key);
        onRefused(entry, refusal);
      }
    } finally {
      entry.busy = false;
      onChange();
    }
  };
  const retry = (entry) => {
    if (entries.get(entry.key) === entry && entry.waiting && !entry.busy) attempt(entry);
  };

  return {
    entries: () => [...entries.values()],
    holds: (key) => entries.has(key),
    add(given) {
      const entry = { ...given, waiting: false, busy: false, failures: 0 };
      entries.set(entry.key, entry);
      onChange();
      setTimer(() => {
        if (entries.get(entry.key) !== entry || entry.waiting) return;
        entry.waiting = true;
        onChange();
      }, kSlow);
      return attempt(entry);
    },
    // The server is back, or somebody is impatient.
    kick() { [...entries.values()].forEach(retry); },
  };
}
