// Search, filters and order of the inbox.
import { el } from './dom.js';
import { recall, remember } from './memory.js';
import { placeName } from './wording.js';

const capital = (text) => text[0].toUpperCase() + text.slice(1);

// `filter` is { search, agent, channel, mine, order }; `onFilter(which)` is called when somebody has changed it, `onLeave` when the
// search is done with.
export function makeToolbar({ onFilter, onLeave, notifyButton }) {
  const filter = {
    search: '', channel: '', mine: false,
    agent: new URLSearchParams(location.search).get('agent') ?? '',
    order: recall('order') === 'urgent' ? 'urgent' : 'newest',
  };
  const search = el('input', {
    type: 'search', 'aria-label': 'Search', placeholder: matchMedia('(hover: hover)').matches ? 'Search  /' : 'Search',
    input: () => { filter.search = search.value; onFilter('search'); },
    keydown: (event) => {
      if (event.key !== 'Enter' && event.key !== 'ArrowDown') return;
      event.preventDefault();
      onLeave();
    },
  });
  const choice = (name, label) => {
    const select = el('select', { 'aria-label': label, change: () => { filter[name] = select.value; onFilter(name); } });
    return select;
  };
  const agent = choice('agent', 'Agent');
  const channel = choice('channel', 'Channel');
  const order = choice('order', 'Order');
  order.append(el('option', { value: 'newest' }, 'Newest first'), el('option', { value: 'urgent' }, 'Most urgent first'));
  order.value = filter.order;
  order.addEventListener('change', () => remember('order', order.value));
  const mine = el('button', {
    type: 'button', class: 'quiet toggle', 'aria-pressed': 'false', hidden: true, title: 'Agents that name you as an answerer',
    click: () => { filter.mine = !filter.mine; mine.setAttribute('aria-pressed', String(filter.mine)); onFilter('mine'); },
  }, 'For me');

  const fill = (select, chosen, all, values, name) => {
    // One that was chosen stays, though nothing of it is left.
    const wanted = ['', ...new Set(chosen ? [...values, chosen] : values)];
    select.hidden = wanted.length < 3 && !chosen;
    if (wanted.join('\n') === select.dataset.values) return;
    select.replaceChildren(...wanted.map((word) => el('option', { value: word }, word ? name(word) : all)));
    select.dataset.values = wanted.join('\n');
    select.value = chosen;
  };

  return {
    box: el('div', { class: 'toolbar', role: 'search', 'aria-label': 'Questions' }, search, agent, channel, mine, order, notifyButton),
    filter,
    search,
    // What occurs, and whether an agent names whoever looks.
    offer({ agents, channels }, named) {
      fill(agent, filter.agent, 'All agents', agents, (word) => word);
      fill(channel, filter.channel, 'All channels', channels, (word) => capital(placeName(word)));
      mine.hidden = !named && !filter.mine;
    },
    isFiltered: () => Boolean(filter.search.trim() || filter.agent || filter.channel || filter.mine),
    clearSearch() {
      if (!filter.search) return;
      filter.search = search.value = '';
      onFilter('search');
    },
    clear() {
      Object.assign(filter, { search: '', agent: '', channel: '', mine: false });
      search.value = agent.value = channel.value = '';
      mine.setAttribute('aria-pressed', 'false');
      onFilter('all');
    },
  };
}
