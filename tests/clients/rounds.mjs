// What the round trips over every platform have in common.
import assert from 'node:assert/strict';
import { eventually } from './harness.mjs';

export const deploy = { question: 'Deploy build 118?', header: 'Deploy', options: [{ label: 'Yes', description: 'Goes live at once', recommended: true }, 'No'] };
export const colours = { question: 'Which colours?', options: ['red', 'green', 'blue', 'white'], multi_select: true };
export const names = { question: 'What should it be called?' };

// Asks `questions` in `channels`, and gives what came of it: {session, questions: [id]}.
export async function ask(world, channels, questions, more = {}) {
  const { status, json, text } = await world.request('POST', '/agent/ask', { body: { questions: [questions].flat(), channels: [channels].flat(), ...more } });
  assert.equal(status, 202, text);
  return { session: json.session_id, ids: json.questions.map(({ id }) => id) };
}

export const questionNow = async (world, id) => (await world.request('GET', `/agent/questions/${id}`)).json;

// The question once it is settled, as the API shows it.
export const outcome = (world, id, ms = 10_000) => eventually(`question ${id} to be settled`, async () => {
  const question = await questionNow(world, id);
  return question.status !== 'pending' && question;
}, ms);

export async function assertPending(world, ...ids) {
  for (const id of ids) assert.equal((await questionNow(world, id)).status, 'pending');
}

// What every channel shows for it.
export const settledLine = ({ status, answer, answered_by: by }) => {
  const said = [answer ?? []].flat().join(', ');
  if (status === 'answered') return `Answered by ${by}: ${said}`;
  if (status === 'defaulted') return `Expired: nobody answered in time, so the default counts: ${said}`;
  return status === 'cancelled' ? `Cancelled${by ? ` by ${by}` : ''}` : 'Expired: nobody answered in time';
};

// The deliveries of a session, once all have come to an end.
export const delivered = (world, session, ms = 10_000) => eventually(`the deliveries of ${session}`, async () => {
  const { deliveries } = (await world.request('GET', `/agent/deliveries?session=${session}`)).json;
  return deliveries.every(({ status }) => status !== 'pending') && deliveries;
}, ms);
