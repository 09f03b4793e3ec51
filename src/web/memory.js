// What this browser remembers of somebody's taste. Where it may not, nothing is remembered.
export function recall(name) {
  try {
    return localStorage.getItem(`holdpoint-${name}`);
  } catch {
    return null;
  }
}

export function remember(name, value) {
  try {
    localStorage.setItem(`holdpoint-${name}`, value);
  } catch {
    // Private windows of some browsers.
  }
}
