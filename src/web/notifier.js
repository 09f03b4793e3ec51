// Desktop notifications, for those who want them.
import { el } from './dom.js';
import { recall, remember } from './memory.js';
import { toast } from './shell.js';
import { news } from './wording.js';

const kBlocked = 'Your browser blocks notifications from this site. Allow them in its settings for this site, then try again.';

// `onClick(key)`: somebody wants to see the ask. `button` is null where there can be none.
export function makeNotifier(onClick) {
  // Phones have it too, but let no page make one.
  if (!('Notification' in window) || !isSecureContext || !matchMedia('(hover: hover)').matches) return { button: null, tell() {} };
  const isOn = () => recall('notify') === 'on' && Notification.permission === 'granted';
  const draw = () => button.setAttribute('aria-pressed', String(isOn()));
  const button = el('button', {
    type: 'button', class: 'quiet toggle', title: 'Desktop notifications while this page is in the background',
    click: async () => {
      const wanted = !isOn();
      if (wanted && await Notification.requestPermission() !== 'granted') toast(kBlocked, 'error');
      remember('notify', wanted ? 'on' : 'off');
      draw();
    },
  }, 'Notify me');
  draw();
  return {
    button,
    tell(asks) {
      if (!asks.length || !document.hidden || !isOn()) return;
      const [ask] = asks;
      const title = asks.length === 1 ? `${ask.agent} asks` : news(asks);
      const body = asks.slice(0, 3).map(({ text }) => text).join('\n');
      const notification = new Notification(title, { body, tag: asks.length === 1 ? ask.key : 'news' });
      notification.onclick = () => {
        focus();
        notification.close();
        onClick(ask.key);
      };
    },
  };
}
