// Runs `act` when asked to, at most once every `gap` ms and never twice at a time; what is asked for meanwhile comes to one run after that.
export function paced(act, gap) {
  let busy = false;
  let again = false;
  const run = async () => {
    busy = true;
    again = false;
    const rest = new Promise((resolve) => { setTimeout(resolve, gap); });
    try {
      await act();
    } finally {
      await rest;
      busy = false;
      if (again) run();
    }
  };
  return () => {
    if (busy) again = true;
    else run();
  };
}
