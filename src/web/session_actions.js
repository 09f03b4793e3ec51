// What can be done to a session: cancel it, have it tried again, send it a message.
import { post } from './api.js';
import { el } from './dom.js';
import { toast } from './shell.js';

// A dialog with a field. Gives what was written, or null if it was left.
const written = ({ title, text, label, yes, no, danger = false, required = false, most = null, hint }) => new Promise((resolve) => {
  const note = el('p', { class: 'note', id: 'written-hint' }, hint?.('') ?? '');
  const field = el('textarea', {
    rows: required ? 6 : 2, maxlength: most, required, 'aria-describedby': hint ? 'written-hint' : null,
    input: () => { if (hint) note.textContent = hint(field.value); },
    keydown: (event) => {
      if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) form.requestSubmit(form.querySelector('[value=yes]'));
    },
  });
  const form = el('form', { method: 'dialog' },
    el('label', {}, label, field),
    hint && note,
    el('div', { class: 'buttons' },
      el('button', { value: 'yes', class: danger ? 'danger' : null }, yes),
      el('button', { value: 'no', class: 'quiet', formnovalidate: true }, no)));
  const dialog = el('dialog', {
    class: 'box', 'aria-labelledby': 'written-title',
    close: () => {
      dialog.remove();
      resolve(dialog.returnValue === 'yes' ? field.value.trim() : null);
    },
  }, el('h2', { id: 'written-title' }, title), text && el('p', {}, text), form);
  document.body.append(dialog);
  dialog.showModal();
  field.focus();
});

// What a message is, as it was written: JSON if it is some, else a text.
const messageOf = (text) => {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
};

const kKinds = { object: 'an object', number: 'a number', boolean: 'true or false' };
const kindOf = (value) => (value === null ? 'null' : Array.isArray(value) ? 'a list' : kKinds[typeof value]);
const messageHint = (text) => {
  const value = messageOf(text);
  return typeof value === 'string' ? 'It is sent as a text. JSON is sent as what it is.' : `It is sent as JSON: ${kindOf(value)}.`;
};

// `changed` is called after each, whatever came of it: the session is then not what the page shows.
export function sessionActions(id, changed) {
  const perform = async (what, done, body) => {
    try {
      await post(`/agent/session/${id}/${what}`, body);
      toast(done);
    } catch (error) {
      const doubt = error.status === 0 ? ' Whether it got there is not known; look at the story before you try again.' : '';
      toast(`That did not work: ${error.message}.${doubt}`, 'error');
    }
    await changed();
  };

  return {
    cancel: async () => {
      const reason = await written({
        title: 'Cancel this session?', text: 'Its open questions are called off, and the agent stops. This cannot be undone.',
        label: 'Reason (may be left out)', yes: 'Cancel the session', no: 'Keep it', danger: true, most: 1000,
      });
      if (reason !== null) await perform('cancel', 'The session is cancelled', reason ? { reason } : {});
    },
    retry: () => perform('retry', 'The last turn is tried again', {}),
    message: async () => {
      const text = await written({
        title: 'Send a message', text: 'The agent reads it with its next turn.', label: 'Message', yes: 'Send', no: 'Do not send',
        required: true, hint: messageHint,
      });
      if (text) await perform('message', 'The message is on its way', { message: messageOf(text) });
    },
  };
}
