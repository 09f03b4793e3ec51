// Which answers the server does not have yet.
import { el, shorten } from './dom.js';

export function makeUnsentBar(outbox) {
  const text = el('span', {});
  const box = el('div', { class: 'unsent', role: 'status', hidden: true }, text,
    el('button', { type: 'button', class: 'quiet small', click: () => outbox.kick() }, 'Try now'));
  return {
    box,
    draw() {
      const kept = outbox.entries().filter(({ waiting }) => waiting);
      box.hidden = kept.length === 0;
      const one = kept.length === 1;
      const line = kept.map(({ ask, words }) => `${shorten(ask.text, 40)} → ${shorten(words, 40)}`).join('; ');
      const what = one ? 'Not sent yet' : `${kept.length} answers not sent yet`;
      const said = `${what}: ${line}. ${one ? 'It goes' : 'They go'} out as soon as the server is back.`;
      // It is read out when it changes.
      if (text.textContent !== said) text.textContent = said;
    },
  };
}
