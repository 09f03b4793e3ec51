// `act` as a function that never runs twice at once. Whoever calls it while it runs gets the run after that, which sees what they have seen.
export function oneAtATime(act) {
  let current = null;
  let next = null;
  const run = () => {
    if (!current) return current = act().finally(() => { current = null; });
    return next ??= current.catch(() => {}).then(() => {
      next = null;
      return run();
    });
  };
  return run;
}
