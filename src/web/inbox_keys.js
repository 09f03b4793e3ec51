// The keys of the inbox.
import { useKeys } from './shell.js';

// Arrows choose within a radio group; Enter on a button or a link is its own.
const onRadio = (event) => event.key.startsWith('Arrow') && event.target.matches?.('input[type=radio]');
const onControl = (event) => event.target.closest?.('button, a, summary');

export function useInboxKeys({ card, list, toolbar, move, cancel, close, isWide, isOpen, current }) {
  // On a phone arrows scroll.
  const moveBy = (by) => (event) => (onRadio(event) || (event.key.startsWith('Arrow') && !isWide()) ? false : move(by));
  const stepBy = (by) => (event) => !onRadio(event) && isOpen() && card.step(by);
  const choose = (event) => isOpen() && card.choose(Number(event.key));

  const enter = (event) => {
    const row = event.target.closest?.('.row');
    if (row) {
      if (!isWide() || row.hash !== `#${current()?.id}`) return false;
      if (!card.isTouched() && current().questions.length) return card.focusForm();
    } else if (onControl(event)) {
      return false;
    }
    return isOpen() ? card.enter() : false;
  };

  const escape = (event) => {
    const searching = event.target === toolbar.search;
    if (searching) toolbar.clearSearch();
    if (isOpen() && !isWide() && !searching) return close();
    return list.focus(current()?.key) || event.target.blur?.();
  };

  useKeys([
    [['j', 'ArrowDown'], 'Next request', moveBy(1)],
    [['k', 'ArrowUp'], 'Previous request', moveBy(-1)],
    [['1', '2', '3', '4', '5', '6', '7', '8', '9'], 'Choose an option', choose, { shown: ['1', '…', '9'] }],
    [['0'], 'Answer in your own words', choose],
    [['Enter'], 'Submit; of several questions, on to the next', enter],
    [['Ctrl+Enter'], 'The same while you write', () => false],
    [['n', 'ArrowRight'], 'Next question of the request', stepBy(1)],
    [['p', 'ArrowLeft'], 'Previous question of the request', stepBy(-1)],
    [['c'], 'Cancel the request', () => { cancel(); }],
    [['o'], 'Open its session', () => { if (isOpen()) location.href = `/session/${current().session}`; }],
    [['/'], 'Search', () => { if (!isWide()) close(); toolbar.search.focus(); toolbar.search.select(); }],
    [['Escape'], 'Leave the search or the card', escape, { typing: true }],
  ]);
}
