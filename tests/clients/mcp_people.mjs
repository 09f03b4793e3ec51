// What the tests of /mcp share: a server with its clients, and people who answer.
import assert from 'node:assert/strict';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { eventually, startWorld, within } from './harness.mjs';

// A server on which every call needs a key; `mcp` are settings of that section.
export async function startMcpWorld(mcp = {}) {
  const world = await startWorld({ closed: true, settings: { mcp } });
  const asker = await world.key('questions:ask');
  const person = await world.key('questions:answer', 'questions:read', 'sessions:read');
  const clients = [];

  // One more of the official library's clients.
  world.connect = async ({ capabilities = {}, headers = asker, query = '', setUp = () => {}, transport: made } = {}) => {
    const client = new Client({ name: 'tests', version: '1' }, { capabilities });
    client.errors = [];
    client.onerror = (error) => client.errors.push(error);
    setUp(client);
    const transport = made ?? new StreamableHTTPClientTransport(new URL(`${world.address()}/mcp${query}`), { requestInit: { headers } });
    await within(10_000, 'the session to be open', client.connect(transport));
    clients.push(client);
    return client;
  };
  world.questions = async (query) => (await world.request('GET', `/agent/questions?${query}`, { headers: person })).json.questions;
  // The pending question with this text, once it is there.
  world.asked = (text, ms) => eventually(`the question "${text}"`, async () =>
    (await world.questions('status=pending&limit=500')).find(({ question }) => question.includes(text)), ms);
  world.count = async (text) => (await world.questions('limit=500')).filter(({ question }) => question.includes(text)).length;
  world.answer = async (question, answer) => {
    const { status, text } = await world.request('POST', `/agent/answer/${question.session_id}`, {
      headers: person, body: { question_id: question.id, answer, answered_by: 'ana' } });
    assert.equal(status, 200, text);
  };
  world.status = async ({ id }) => (await world.request('GET', `/agent/questions/${id}`, { headers: person })).json.status;
  world.settled = (question, status) => eventually(`the question to be ${status}`, async () => (await world.status(question)) === status);
  world.person = person;
  world.asker = asker;
  // Before its clients hang up.
  let stopped;
  const { stop } = world;
  world.stopServer = () => (stopped ??= stop());
  world.stop = async () => {
    for (const client of clients) await client.close().catch(() => {});
    await world.stopServer();
  };
  return world;
}

export const ask = (question, more = {}) => ({ name: 'ask_user_question', arguments: {
  questions: [{ question, header: 'Test', options: [{ label: 'Yes' }, { label: 'No' }], multiSelect: false }], ...more } });
export const textOf = (result) => {
  assert.equal(result.content.length, 1);
  return result.content[0].text;
};
