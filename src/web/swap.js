// New content for a node, with the focus where it was: on what has the same `data-key`, or else on the node itself.
export function swap(node, ...children) {
  const inside = node.contains(document.activeElement) && document.activeElement !== node;
  const key = inside && document.activeElement.dataset.key;
  node.replaceChildren(...children);
  if (!inside) return;
  const same = key && [...node.querySelectorAll('[data-key]')].find((each) => each.dataset.key === key && !each.disabled);
  if (!same) node.tabIndex = -1;
  (same ?? node).focus({ preventScroll: true });
}

// `draw(facts)` again only when they are others than the last time, so that nobody loses what they were reading or selecting.
export function redrawn(node, draw) {
  let drawn = '';
  return (facts) => {
    const text = JSON.stringify(facts);
    if (text === drawn) return;
    drawn = text;
    swap(node, ...[draw(facts)].flat().filter(Boolean));
  };
}
