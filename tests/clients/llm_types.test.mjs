// The types of the official SDKs take what the server sends to models.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startReceiver } from './harness.mjs';
import { typeComplaints } from './llm_types.mjs';
import { startModel } from './model_standin.mjs';
import { Proof } from './proof.mjs';

const options = { timeout: 120_000 };
const apis = ['anthropic', 'openai'];
let model;
let notes;
let proof;
before(async () => {
  model = await startModel();
  notes = await startReceiver(() => ({ status: 200, body: 'kept' }));
  const tools = [
    { name: 'note', description: 'Keeps a note.', input: { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] }, http: { method: 'POST', url: `${notes.url}/{id}` } },
    { name: 'fail', description: 'Fails.', command: ['false'] },
  ];
  proof = await Proof.start({
    agents: Object.fromEntries(apis.flatMap((api) => {
      const llm = { runner: 'llm', model: `${api}-standin/sharp`, prompt: 'You help.' };
      return [[`plain-${api}`, llm], [`full-${api}`, { ...llm, async_questions: true, sub_agents: [`plain-${api}`], tools }]];
    })),
    settings: {
      'llm.anthropic-standin': { api: 'anthropic', base_url: model.url, auth: 'none', models: { sharp: 'sharp-1' } },
      'llm.openai-standin': { api: 'openai', base_url: `${model.url}/v1`, auth: 'none', models: { sharp: 'sharp-1' } },
    },
  });
}, options);
after(async () => {
  await proof?.stop();
  await notes?.close();
  await model?.close();
});

// One conversation with everything in it: text, thoughts, blocks that nobody knows, several calls, results good and bad, an answer,
// sub-agents' results and a message; and one with nothing but a payload.
async function capture(api) {
  const blocks = [{ type: 'thinking', thinking: 'hm', signature: 'c2ln' }, { type: 'redacted_thinking', data: 'ZGF0YQ==' }, { type: 'novelty', weight: 1.5 }];
  model.scripts.set(`plain ${api}`, () => ({ text: 'plain' }));
  model.scripts.set(`full ${api}`, ({ step }) => [
    () => ({ text: 'Well.', blocks, calls: [{ id: 'a', name: 'note', input: { id: '1' } }, { id: 'b', name: 'fail', input: {} }, { id: 'c', name: 'nothing', input: {} }] }),
    () => ({ calls: [{ id: 'd', name: 'ask_user_question', input: { questions: [{ question: 'Which?', options: [{ label: 'x' }, { label: 'y' }] }] } }, { id: 'e', name: 'spawn_agents', input: { agents: [{ agent: `plain-${api}`, payload: { script: `plain ${api}` } }] } }] }),
    () => ({ text: 'Soon.' }),
    () => ({ text: 'Done.' }),
  ][step]());
  await proof.finished(await proof.trigger(`plain-${api}`, { script: `plain ${api}` }));
  const { id } = await proof.parked(`full-${api}`, { script: `full ${api}` });
  await proof.post(202, `/agent/session/${id}/message`, { message: 'And hurry.' });
  await proof.post(200, `/agent/answer/${id}`, { answer: 'in my own words' });
  assert.equal((await proof.finished(id)).result?.text, 'Done.');
  assert.deepEqual(model.complaints, []);
  const bodies = [...model.of(`plain ${api}`).slice(0, 1), ...model.of(`full ${api}`)].map(({ request }) => ({ api, request: JSON.parse(request) }));
  assert.equal(bodies.length, 5);
  return bodies;
}

const broken = {
  anthropic: [
    (r) => { delete r.max_tokens; }, (r) => { r.max_tokens = '9'; }, (r) => { r.max_token = 9; }, (r) => { r.messages[0].role = 'human'; }, (r) => { r.messages[2].name = 'x'; },
    (r) => { delete r.tools[0].input_schema; }, (r) => { r.tools[0].input_schema.type = 'string'; }, (r) => { r.messages[2].content[0].tool_call_id = 'x'; },
    (r) => { delete r.messages[2].content[0].tool_use_id; }, (r) => { r.messages[2].content[1].is_error = 'yes'; }, (r) => { r.system = 7; },
  ],
  openai: [
    (r) => { delete r.model; }, (r) => { r.messages[0].role = 'human'; }, (r) => { r.messages[1].text = 'x'; },
    (r) => { r.tools[0] = r.tools[0].function; }, (r) => { r.tools[0].function.input_schema = {}; }, (r) => { delete r.messages.at(-1).tool_call_id; r.messages.at(-1).role = 'tool'; },
    (r) => { r.messages.find(({ role }) => role === 'assistant').tool_calls[0].function.arguments = {}; }, (r) => { r.max_tokens = '9'; r.max_completion_tokens = '9'; },
  ],
};

for (const api of apis) {
  test(`the types of the official SDK take every shape of request to ${api}, and none that is broken`, options, async () => {
    const captured = await capture(api);
    const bad = broken[api].map((breaks) => {
      const request = structuredClone(captured[2].request);
      breaks(request);
      return { api, request };
    });
    const complaints = typeComplaints([...captured, ...bad]);
    assert.deepEqual(complaints.slice(0, captured.length), captured.map(() => ''));
    complaints.slice(captured.length).forEach((text, i) => assert.match(text, /error TS/, `broken as ${broken[api][i]}`));
  });
}
