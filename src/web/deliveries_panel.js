// Messages that did not arrive, and sending them again.
import { ago, until } from './ages.js';
import { get, may, post, withQuery } from './api.js';
import { el } from './dom.js';
import { channelWord, eventWords, many } from './figures.js';
import { announce, confirmed, toast } from './shell.js';
import { redrawn } from './swap.js';

const kPage = 100;
const kPendingPage = 500;
const kLinger = 60_000;  // How long a message that was sent again stays in the list.

const kFates = {
  asked: ['Queueing', 'accent'],
  delivery_requeued: ['Queued again', 'accent'],
  delivery_sent: ['Delivered', 'good'],
  delivery_failed: ['Failed again', 'warn'],
  delivery_dead: ['Dead again', 'bad'],
  delivery_obsolete: ['No longer needed', ''],
};

// What became of messages that were sent again from here: id → { row, fate (`asked`, or a type of event), at }.
function makeFates() {
  const fates = new Map();
  return {
    // Asks for it by `send`. Word of its arrival may come before word that it was queued.
    async begin(row, send) {
      const one = { row, fate: 'asked', at: Date.now() };
      fates.set(row.id, one);
      try {
        await send();
        if (one.fate === 'asked') Object.assign(one, { fate: 'delivery_requeued', at: Date.now() });
      } catch (error) {
        fates.delete(row.id);
        throw error;
      }
    },
    // True: one of them was meant.
    hear: ({ type, data }) => {
      const known = kFates[type] && fates.get(data.delivery);
      // A failure that was the last one is followed by the word that it is dead.
      if (known) Object.assign(known, { fate: type, at: Date.now() });
      return Boolean(known);
    },
    // A list that was asked for after `since` has the row: it did not stay queued.
    see: (row, since) => {
      const known = fates.get(row.id);
      if (known?.fate !== 'delivery_requeued' || known.at >= since) return;
      known.fate = row.status === 'dead' ? 'delivery_dead' : 'delivery_failed';
    },
    forget: () => {
      for (const [id, { at }] of fates) if (Date.now() - at > kLinger) fates.delete(id);
    },
    of: (id) => fates.get(id)?.fate,
    // Those that a list of what is dead or retrying does not have.
    besides: (rows) => [...fates.values()].map(({ row }) => row).filter(({ id }) => !rows.some((row) => row.id === id)),
  };
}

const rowOf = (row, fate, resend) => {
  const dead = row.status === 'dead';
  const settled = fate && !(dead && fate === 'delivery_dead');
  const [word, kind] = settled ? kFates[fate] : dead ? ['Dead', 'bad'] : ['Retrying', 'warn'];
  return el('li', { 'data-delivery': row.id },
    el('div', { class: 'what' },
      el('p', {}, el('span', { class: `tag ${kind}` }, word), el('strong', {}, channelWord(row.channel)),
        el('span', {}, eventWords(row.event)), el('span', { class: 'note' }, ago(row.created_at))),
      el('p', { class: 'to' }, el('code', {}, row.destination)),
      row.last_error && el('p', { class: 'error-text' }, row.last_error),
      el('p', { class: 'note' }, row.attempts ? many(row.attempts, 'attempt') : 'Not tried', ' · ',
        !dead && !settled && row.next_attempt_at && ['next ', until(row.next_attempt_at), ' · '],
        el('a', { href: `/session/${row.session_id}`, 'data-key': `session-${row.id}` }, 'its session'))),
    dead && !settled && el('button', {
      type: 'button', class: 'quiet', 'data-key': row.id, 'aria-label': `Redeliver to ${row.destination}`, click: () => resend(row),
    }, 'Redeliver'));
};

// Counts are for everybody; which messages, and sending them again, is for admins.
export function makeDeliveriesPanel(node, refresh) {
  const fates = makeFates();
  let facts = null;
  let progress = '';
  let lists = { dead: [], retrying: [], more: false };

  // Throws a Refusal. That it is queued already, or gone, is what was wanted: somebody else was quicker.
  const requeue = (row) => fates.begin(row, () => post(`/agent/deliveries/${row.id}/redeliver`).catch((error) => {
    if (error.status !== 409 && error.status !== 404) throw error;
  }));

  const resend = async (row) => {
    const sent = requeue(row);
    show();
    await sent.then(() => announce('Queued again'), (error) => toast(`It was not queued again: ${error.message}.`, 'error'));
    show();
    refresh();
  };

  const resendAll = async (rows) => {
    const sure = await confirmed({
      title: `Redeliver ${many(rows.length, 'message')}?`,
      text: 'Each is sent again under its own id, so that a receiver that has it already can tell. '
        + 'People are not told of what is settled by now.',
      yes: 'Redeliver all', no: 'Not now', danger: false,
    });
    if (!sure) return;
    let done = 0;
    try {
      for (const row of rows) {
        progress = `Queueing ${done + 1} of ${rows.length} …`;
        show();
        await requeue(row);
        done += 1;
      }
      toast(`${many(done, 'message')} queued again.`);
    } catch (error) {
      toast(`Stopped after ${done} of ${rows.length}: ${error.message}. The other ${rows.length - done} are still dead.`, 'error');
    }
    progress = '';
    show();
    refresh();
  };

  const summary = ({ dead, retrying }) => {
    if (dead + retrying === 0) return 'Every message has arrived, or is on its way.';
    return [
      dead && `${many(dead, 'message')} dead: given up on, and not tried again.`,
      retrying && `${many(retrying, 'message')} being tried again.`,
    ].filter(Boolean).join(' ');
  };

  const draw = redrawn(node, ({ counts }) => {
    const rows = [...lists.dead, ...lists.retrying];
    const shown = [...fates.besides(rows), ...rows].sort((a, b) => (a.created_at < b.created_at ? 1 : -1));
    const left = lists.dead.filter(({ id }) => !fates.of(id) || fates.of(id) === 'delivery_dead');
    const head = el('div', { class: 'head' }, el('h2', {}, 'Messages that did not arrive'),
      progress ? el('span', { role: 'status' }, progress)
        : left.length > 1 && el('button', { type: 'button', class: 'small', 'data-key': 'all', click: () => resendAll(left) },
          `Redeliver all ${left.length}`));
    return [
      head,
      el('p', { class: 'note' }, summary(counts)),
      !may('admin') && counts.dead + counts.retrying > 0 && el('p', { class: 'note' }, 'An admin can see which, and send them again.'),
      shown.length > 0 && el('ul', { class: 'deliveries' }, shown.map((row) => rowOf(row, fates.of(row.id), resend))),
      lists.more && el('p', { class: 'note' },
        `Only the newest are listed: ${kPage} dead, and those tried again among the newest ${kPendingPage} on their way.`),
    ];
  });
  const show = () => draw({ counts: facts, lists, progress, fates: [...fates.besides([])].map(({ id }) => [id, fates.of(id)]) });

  const list = (wanted, status, limit) => (wanted ? get(withQuery('/agent/deliveries', { status, limit })) : { deliveries: [] });
  return {
    // Throws a Refusal if the lists cannot be had.
    async update({ deliveries, channels }) {
      const since = Date.now();
      const retrying = channels.reduce((sum, channel) => sum + channel.retrying, 0);
      facts = { dead: deliveries.dead, retrying };
      if (may('admin')) {
        const [dead, pending] = await Promise.all([
          list(deliveries.dead > 0, 'dead', kPage), list(retrying > 0, 'pending', kPendingPage)]);
        lists = {
          dead: dead.deliveries,
          retrying: pending.deliveries.filter(({ attempts }) => attempts > 0),
          more: Boolean(dead.next_cursor ?? pending.next_cursor),
        };
      }
      for (const row of [...lists.dead, ...lists.retrying]) fates.see(row, since);
      fates.forget();
      show();
    },
    hear(events) {
      if (events.filter(fates.hear).length > 0) show();
    },
  };
}
