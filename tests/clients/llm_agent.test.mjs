// Model agents on the real server, against a scripted model, by both APIs: what an ask, its answer and everything around them
// becomes in the model's conversation.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { eventually, gate, startReceiver } from './harness.mjs';
import { journalComplaints } from './llm_journal.mjs';
import { startModel } from './model_standin.mjs';
import { Proof } from './proof.mjs';

const apis = ['anthropic', 'openai'];
const options = { timeout: 60_000 };
let model;
let notes;
let proof;

const agentsOf = (api) => {
  const llm = { runner: 'llm', model: `${api}-standin/sharp`, prompt: 'You help.' };
  const note = { name: 'note', description: 'Keeps a note.', input: { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] }, http: { method: 'POST', url: `${notes.url}/note/{id}` } };
  const shout = { name: 'shout', description: 'Says it loudly.', command: ['sh', '-c', 'tr a-z A-Z; echo " $HOLDPOINT_TOOL_CALL"'] };
  return Object.fromEntries(Object.entries({
    asks: { ...llm, async_questions: true, tools: [note, shout] },
    hasty: { ...llm, async_questions: true, question_timeout: 1, on_timeout: 'continue' },
    mute: { ...llm, budget: { tokens: 10_000_000 }, tools: [note] },
    parent: { ...llm, async_questions: true, sub_agents: [`child-${api}`], tools: [note] },
    child: { ...llm, async_questions: true, sub_agents: [`mute-${api}`], tools: [note] },
    'few-steps': { ...llm, budget: { steps: 2 }, tools: [note] },
    'few-tokens': { ...llm, budget: { tokens: 1000 }, tools: [note] },
    'few-questions': { ...llm, budget: { questions: 2 }, async_questions: true },
  }).map(([name, fields]) => [`${name}-${api}`, fields]));
};

before(async () => {
  model = await startModel();
  notes = await startReceiver(({ path }) => ({ status: 200, headers: { 'content-type': 'application/json' }, body: JSON.stringify({ kept: path.split('/').at(-1) }) }));
  const service = { auth: 'none', models: { sharp: 'sharp-1' }, prices: { sharp: [3.0, 15.0, 0.3] }, max_attempts: 5 };
  proof = await Proof.start({
    agents: { ...agentsOf('anthropic'), ...agentsOf('openai') },
    settings: {
      'llm.anthropic-standin': { api: 'anthropic', base_url: model.url, ...service },
      'llm.openai-standin': { api: 'openai', base_url: `${model.url}/v1`, ...service },
    },
  });
}, options);
after(async () => {
  await proof?.stop();
  await notes?.close();
  await model?.close();
});

const question = (text, more = {}) => ({ question: text, options: [{ label: 'red', description: 'warm' }, { label: 'blue', recommended: true }], ...more });
const ask = (id, ...questions) => ({ id, name: 'ask_user_question', input: { questions } });
const call = (id, name = 'note', input = { id }) => ({ id, name, input });
const resultsTo = (script, step) => model.of(script).find(({ talk }) => talk.step === step)?.talk.results;
const answersIn = ({ content }) => JSON.parse(content).answers;
const notesOf = (prefix) => notes.callbacks.map(({ path }) => path.split('/').at(-1)).filter((id) => id.startsWith(prefix));
const texts = async (session) => (await proof.finished(session)).result?.text;
const eventsOf = async (session) => (await proof.get(200, `/agent/session/${session}/events?limit=200`)).events;

// A case for each API; `run` gets the API and the name of a script of its own, and what starts one.
function cases(name, run) {
  for (const api of apis) {
    const script = `${name} ${api}`;
    test(`${name} (${api})`, options, async () => {
      let begun = 0;  // In the payload, as conversations are told apart by how they begin.
      const begin = async (agent, says) => {
        model.scripts.set(script, says);
        begun += 1;
        return proof.trigger(`${agent}-${api}`, { script, begun });
      };
      await run({ api, script, begin, id: `${script.replaceAll(/\W+/g, '_').slice(0, 30)}_${api}` });
      assert.deepEqual(model.complaints, []);
      const { complaints } = journalComplaints(model.of(script));
      assert.deepEqual(complaints, []);
    });
  }
}
// The session, once it waits for people with this question among theirs.
const asked = (session, text) => eventually(`the question ${text}`, async () => {
  const now = await proof.get(200, `/agent/session/${session}`);
  assert.ok(['running', 'pending_input'].includes(now.status), `${now.status}: ${now.error ?? JSON.stringify(now.result)}`);
  return now.questions.some((one) => one.question === text) && now;
});
const answer = (session, body) => proof.post(200, `/agent/answer/${session}`, body);

cases('a conversation pauses twice, survives kill -9 while it waits, and each answer is the result of its own call', async ({ script, begin }) => {
  const session = await begin('asks', ({ step, results }) => [
    () => ({ text: 'First things first.', calls: [ask('ask_1', question('Which colour?'))] }),
    () => ({ calls: [ask('ask_2', question(`How much ${answersIn(results[0])['Which colour?']}?`))] }),
    () => ({ text: `${Object.values(answersIn(results[0]))[0]} of it` }),
  ][step]());
  const { questions: [first] } = await asked(session, 'Which colour?');
  assert.deepEqual([first.tool_call_id, first.choices[1].recommended, first.multi_select, first.allow_other], ['ask_1', true, false, true]);
  await proof.world.crash();
  await proof.world.restart();
  await answer(session, { answer: 'blue' });
  const { questions: [second] } = await asked(session, 'How much blue?');
  assert.equal(second.tool_call_id, 'ask_2');
  await answer(session, { answer: 'red' });
  assert.equal(await texts(session), 'red of it');
  assert.deepEqual([1, 2].map((step) => resultsTo(script, step).map(({ id }) => id)), [['ask_1'], ['ask_2']]);
  assert.equal(model.of(script).length, 3);
  assert.equal((await proof.finished(session)).questions_asked, 2);
});

cases('a batch of single and multi-select questions comes back as one result, by question', async ({ script, begin }) => {
  const several = { multiSelect: true, header: 'Sizes', options: [{ label: 'S' }, { label: 'M' }, { label: 'L' }] };
  const session = await begin('asks', ({ step }) => (step === 0 ? { calls: [ask('a', question('Which colour?'), question('Which sizes?', several), question('What else?'))] } : { text: 'done' }));
  const { questions } = await asked(session, 'Which sizes?');
  assert.deepEqual(questions.map((one) => [one.header, one.multi_select]), [[null, false], ['Sizes', true], [null, false]]);
  await answer(session, { answers: { 'Which colour?': 'red', 'Which sizes?': ['L', 'S'] } });
  await answer(session, { answers: { 'What else?': 'a ribbon, tied' } });
  assert.equal(await texts(session), 'done');
  const [result] = resultsTo(script, 1);
  assert.deepEqual(answersIn(result), { 'Which colour?': 'red', 'Which sizes?': ['S', 'L'], 'What else?': 'a ribbon, tied' });
  assert.notEqual(result.isError, true);
});

cases('an ask among other calls keeps the results before it, leaves those after it for later, and nothing runs twice', async ({ script, begin, id }) => {
  const session = await begin('asks', ({ step, results }) => (step === 0
    ? { calls: [call(`${id}_1`), call(`${id}_2`, 'shout', { say: 'hey' }), ask(`${id}_ask`, question('Go on?')), call(`${id}_3`), ask(`${id}_again`, question('Really?'))] }
    : { text: results.map((result) => result.id).join() }));
  await asked(session, 'Go on?');
  assert.deepEqual(notesOf(id), [`${id}_1`]);
  assert.deepEqual((await eventsOf(session)).filter(({ type }) => type === 'tool_ran').map(({ data }) => data.tool_call_id), [`${id}_1`, `${id}_2`]);
  await answer(session, { answer: 'red' });
  await asked(session, 'Really?');
  await answer(session, { answer: 'blue' });
  assert.equal(await texts(session), ['1', '2', 'ask', '3', 'again'].map((end) => `${id}_${end}`).join());
  assert.deepEqual(notesOf(id), [`${id}_1`, `${id}_3`]);
  const [kept, shouted, gone, , really] = resultsTo(script, 1);
  assert.match(kept.content, new RegExp(`${id}_1`));
  assert.match(shouted.content, new RegExp(`"HEY".*${session}:1:${id}_2`, 's'));
  assert.deepEqual([answersIn(gone), answersIn(really)], [{ 'Go on?': 'red' }, { 'Really?': 'blue' }]);
  assert.equal(notes.callbacks.find(({ path }) => path.endsWith(`${id}_3`)).headers['idempotency-key'], `${session}:1:${id}_3`);
});

cases('a session that is cancelled while it asks ends, and what is saved has the error as the result of that call', async ({ script, begin }) => {
  const session = await begin('asks', () => ({ calls: [ask('the_ask', question('Go on?')), call('never_run')] }));
  await asked(session, 'Go on?');
  await proof.post(200, `/agent/session/${session}/cancel`, { reason: 'no longer needed' });
  assert.equal((await proof.finished(session)).status, 'cancelled');
  const { state } = await proof.get(200, `/agent/session/${session}/record`);
  assert.deepEqual(state.tool_results.map(({ id, is_error: isError }) => [id, isError]), [['the_ask', true], ['never_run', true]]);
  assert.match(state.tool_results[0].content, /cancel/i);
  assert.deepEqual([state.remaining_tools, notesOf('never_run'), model.of(script).length], [[], [], 1]);
});

cases('a question that nobody answers in time becomes the result that says so', async ({ script, begin }) => {
  const session = await begin('hasty', ({ step }) => (step === 0 ? { calls: [ask('a', question('Anyone?'))] } : { text: 'alone then' }));
  assert.equal(await texts(session), 'alone then');
  const [{ content, isError }] = resultsTo(script, 1);
  assert.deepEqual(JSON.parse(content), { answered: false, reason: 'timeout' });
  assert.notEqual(isError, true);
});

cases('a sub-agent is offered neither ask_user_question nor spawn_agents, gets an error for calling them, and goes on', async ({ api, script, begin, id }) => {
  const child = ({ step, tools, results }) => {
    assert.deepEqual(tools, ['note']);
    if (step === 0) return { calls: [ask('c_ask', question('May I?')), { id: 'c_spawn', name: 'spawn_agents', input: { agents: [{ agent: `mute-${api}` }] } }, call(`${id}_c`)] };
    return { text: results.map(({ content }) => content).join('|') };
  };
  const session = await begin('parent', (talk) => {
    if (talk.payload.child) return child(talk);
    if (talk.step > 0) return { text: talk.results[0].content };
    assert.deepEqual(talk.tools, ['ask_user_question', 'spawn_agents', 'note']);
    return { calls: [{ id: 'p', name: 'spawn_agents', input: { agents: [1, 2].map((number) => ({ agent: `child-${api}`, payload: { script, child: number } })) } }] };
  });
  const { agents } = JSON.parse(await texts(session));
  assert.deepEqual(agents.map(({ agent, status }) => [agent, status]), Array(2).fill([`child-${api}`, 'completed']));
  for (const { result } of agents) assert.match(result.text, new RegExp(`ask_user_question is not available to sub-agents.*\\|.*spawn_agents is not available to sub-agents.*\\|.*${id}_c`));
  assert.match(model.of(script).find(({ talk }) => talk.payload.child).talk.system, /sub-agent/);
  const types = (await eventsOf(session)).map(({ type }) => type);
  assert.ok(types.includes('agents_spawned') && types.filter((type) => type === 'sub_session_ended').length === 2, types.join());
  const children = (await proof.get(200, `/agent/session/${session}/record`)).children;
  assert.deepEqual(children.map((one) => one.id).sort(), agents.map((one) => one.session_id).sort());
});

cases('a sub-agent that fails is told to the one that started it, which goes on', async ({ api, script, begin }) => {
  const session = await begin('parent', ({ payload, step, results }) => {
    if (payload.child) return { text: 'Not this.', stop: 'refusal' };
    return step > 0 ? { text: results[0].content } : { calls: [{ id: 'p', name: 'spawn_agents', input: { agents: [{ agent: `child-${api}`, payload: { script, child: 1 } }] } }] };
  });
  const { agents: [child] } = JSON.parse(await texts(session));
  assert.deepEqual([child.status, child.result], ['failed', null]);
  assert.match(child.error, /refused/);
});

cases('agents that it may not start, or that are not there, are errors that name those there are', async ({ api, script, begin }) => {
  const wrong = [{ agents: [{ agent: 'nobody' }] }, { agents: [{ agent: `asks-${api}` }] }, { agents: [] }, {}];
  const session = await begin('parent', ({ step }) => (step < wrong.length ? { calls: [{ id: `p${step}`, name: 'spawn_agents', input: wrong[step] }] } : { text: 'alone' }));
  assert.equal(await texts(session), 'alone');
  const said = wrong.map((_, i) => resultsTo(script, i + 1)[0].content);
  assert.match(said[0], new RegExp(`nobody.*child-${api}`));
  assert.match(said[1], new RegExp(`asks-${api}.*child-${api}`));
  for (const text of said) assert.match(text, /No agent was started/);
});

cases('who cancels a session cancels the sub-agents that it waits for', async ({ api, script, begin }) => {
  const held = gate();
  const session = await begin('parent', async ({ payload }) => {
    if (!payload.child) return { calls: [{ id: 'p', name: 'spawn_agents', input: { agents: [{ agent: `child-${api}`, payload: { script, child: 1 } }] } }] };
    await held.passed;
    return { text: 'too late' };
  });
  await eventually('the sub-agent\'s request', () => model.of(script).length === 2);
  assert.equal((await proof.get(200, `/agent/session/${session}`)).status, 'running');
  await proof.post(200, `/agent/session/${session}/cancel`);
  const { children: [child] } = await proof.get(200, `/agent/session/${session}/record`);
  assert.equal((await proof.finished(child.id)).status, 'cancelled');
  assert.equal((await proof.finished(session)).status, 'cancelled');
  held.open();
});

cases('an ask against the rules gets an error that names the rule, nobody is asked, and the model corrects itself', async ({ api, script, begin }) => {
  const labels = (n) => Array.from({ length: n }, (_, i) => ({ label: `option ${i}` }));
  const wrong = [
    [{ questions: [question('Five options?', { options: labels(5) })] }, /options.*4/],
    [{ questions: [{ question: 'No options?' }] }, /options.*2 to 4/],
    [{ questions: [question('One option?', { options: labels(1) })] }, /options.*2 to 4/],
    [{ questions: Array.from({ length: 5 }, (_, i) => question(`Question ${i}?`)) }, /questions.*4/],
    [{ questions: [] }, /questions/],
    [{ questions: [{ options: labels(2) }] }, /question/],
    [{ questions: [question('Why?')], urgent: true }, /urgent/],
    ...(api === 'openai' ? [['{"questions":[{"question":', /JSON/i]] : []),
  ];
  const session = await begin('asks', ({ step }) => {
    if (step < wrong.length) return { calls: [{ id: `wrong_${step}`, name: 'ask_user_question', input: wrong[step][0] }] };
    return step === wrong.length ? { calls: [ask('right', question('Better now?'))] } : { text: 'corrected' };
  });
  await asked(session, 'Better now?');
  for (const [i, [, rule]] of wrong.entries()) {
    const [{ content, isError }] = resultsTo(script, i + 1);
    assert.match(content, rule);
    if (api === 'anthropic') assert.equal(isError, true);
  }
  await answer(session, { answer: 'red' });
  assert.equal(await texts(session), 'corrected');
  assert.equal((await proof.finished(session)).questions_asked, 1);
});

cases('people answer in their own words, whatever the options', async ({ script, begin }) => {
  const words = 'neither — "éclair" \\ green\n👩‍👩‍👧‍👦';
  const session = await begin('asks', ({ step }) => (step === 0 ? { calls: [ask('a', question('Which colour?'))] } : { text: 'done' }));
  await asked(session, 'Which colour?');
  await answer(session, { answer: words });
  assert.equal(await texts(session), 'done');
  assert.deepEqual(answersIn(resultsTo(script, 1)[0]), { 'Which colour?': words });
});

cases('an agent without async_questions is not offered the ask, is told so, and an ask all the same is an error', async ({ script, begin }) => {
  const session = await begin('mute', ({ step, results }) => (step === 0 ? { calls: [ask('a', question('May I?'))] } : { text: results[0].content }));
  assert.match(await texts(session), /cannot ask/);
  const [{ talk }] = model.of(script);
  assert.deepEqual(talk.tools, ['note']);
  assert.match(talk.system, /^You help\.\n/);
  assert.match(talk.system, /cannot ask people/);
  assert.doesNotMatch(talk.system, /ask_user_question/);
});

cases('messages that come while it waits enter the conversation in order, after the resumed turn is done', async ({ script, begin }) => {
  const session = await begin('asks', ({ step, said }) => [
    () => ({ calls: [ask('a', question('Go on?'))] }),
    () => ({ calls: [call('after_the_answer')] }),
    () => ({ text: 'resumed turn done' }),
    () => ({ text: `heard: ${said.join(' / ')}` }),
  ][step]());
  await asked(session, 'Go on?');
  for (const message of ['one more thing', { number: 2 }]) await proof.post(202, `/agent/session/${session}/message`, { message });
  await answer(session, { answer: 'red' });
  const text = await texts(session);
  assert.match(text, /^heard: one more thing\s*\/?\s*\{"number":2\}$/s);
  assert.deepEqual(model.of(script).map(({ talk }) => talk.said.length > 0), [false, false, false, true]);
});

cases('a session that has used up its steps or tokens fails and says which budget it was', async ({ script, begin }) => {
  let session = await begin('few-steps', ({ step }) => ({ calls: [call(`step_${step}`)] }));
  assert.match((await proof.finished(session)).error, /budget of 2 model requests/);
  assert.equal(model.of(script).length, 2);
  session = await begin('few-tokens', ({ step }) => ({ calls: [call(`token_${step}`)], usage: [500, 100, 0] }));
  assert.match((await proof.finished(session)).error, /budget of 1000 tokens/);
  assert.equal(model.of(script).length, 4);
});

cases('who has asked enough gets an error for the next ask, and goes on without', async ({ script, begin }) => {
  const session = await begin('few-questions', ({ step, results }) => (step < 2 ? { calls: [ask(`ask_${step}`, question(`Colour ${step}?`), ...(step === 0 ? [question('Size?')] : []))] } : { text: results[0].content }));
  await asked(session, 'Size?');
  await answer(session, { answers: { 'Colour 0?': 'red', 'Size?': 'blue' } });
  assert.match(await texts(session), /No more questions/);
  assert.equal(model.of(script).length, 3);
});

cases('a refusal, a reply that was cut off and a conversation that is too long end in a failure that says so', async ({ api, begin }) => {
  const ends = [
    [{ text: 'I would rather not.', stop: 'refusal' }, /refused.*I would rather not/s],
    [{ text: 'And then', stop: 'max_tokens' }, /cut off.*max_reply_tokens/],
    ...(api === 'anthropic' ? [
      [{ text: 'x', stop: 'context_full' }, /context/],
      [{ status: 400, body: { type: 'error', error: { type: 'invalid_request_error', message: 'prompt is too long: 9 tokens > 8 maximum' } } }, /too long/],
    ] : [[{ status: 400, body: { error: { message: 'This model\'s maximum context length is 10 tokens.', type: 'invalid_request_error', param: 'messages', code: 'context_length_exceeded' } } }, /context/]]),
  ];
  for (const [says, error] of ends) {
    const session = await proof.finished(await begin('mute', () => says));
    assert.equal(session.status, 'failed');
    assert.match(session.error, error);
    assert.equal(session.attempts, 1);
  }
});

cases('a request that the service refuses for good fails at once, and one that may pass is asked again when the service says', async ({ api, script, begin }) => {
  const error = (status, type) => ({ status, body: api === 'anthropic' ? { type: 'error', error: { type, message: `it is ${type}` } } : { error: { message: `it is ${type}`, type } } });
  const refused = await proof.finished(await begin('mute', () => error(401, 'authentication_error')));
  assert.deepEqual([refused.status, refused.attempts], ['failed', 1]);
  assert.match(refused.error, /401.*it is authentication_error/s);
  assert.equal(model.of(script).length, 1);

  let tries = 0;
  const session = await begin('mute', () => {
    tries += 1;
    if (tries === 1) return { ...error(429, 'rate_limit_error'), headers: { 'retry-after': '2' } };
    if (tries === 2) return { ...error(529, 'overloaded_error'), headers: { 'retry-after-ms': '30', 'retry-after': '3600' } };
    return { text: `after ${tries}` };
  });
  assert.equal(await texts(session), 'after 3');
  const [, first, second, third] = model.of(script).map(({ at }) => at);
  assert.ok(second - first >= 2000 && second - first < 8000, `asked again after ${second - first} ms`);
  assert.ok(third - second < 4000, `asked again after ${third - second} ms`);
  const retries = (await eventsOf(session)).filter(({ type }) => type === 'turn_failed').map(({ data }) => data.retry_in_ms);
  assert.deepEqual(retries, [2000, 30]);
});

cases('a service that stays down is given up after as many attempts as the settings say', async ({ script, begin }) => {
  const session = await proof.finished(await begin('mute', () => ({ status: 503, headers: { 'retry-after-ms': '5' }, body: 'upstream is <down>' })));
  assert.equal(session.status, 'failed');
  assert.match(session.error, /503/);
  assert.equal(model.of(script).length, 5);
});

cases('what a session used and cost is told', async ({ begin }) => {
  const session = await begin('mute', ({ step }) => (step === 0 ? { calls: [call('usage')], usage: [1_000_000, 100_000, 0] } : { text: 'dear', usage: [2_000_000, 100_000, 1_000_000] }));
  const { usage } = await proof.finished(session);
  assert.deepEqual(usage, { steps: 2, input_tokens: 3_000_000, output_tokens: 200_000, cached_tokens: 1_000_000, cost_usd: 9.3 });
  const replied = (await eventsOf(session)).filter(({ type }) => type === 'model_replied').map(({ data }) => [data.tool_calls, data.input_tokens, data.output_tokens]);
  assert.deepEqual(replied, [[1, 1_000_000, 100_000], [0, 2_000_000, 100_000]]);
});

cases('what the model said goes back byte for byte, with thoughts and blocks that nobody knows', async ({ script, begin }) => {
  const blocks = [{ type: 'thinking', thinking: 'hm \u00e9', signature: 'c2ln' }, { type: 'novelty', weight: 1.5, deep: [{ a: null }] }];
  const session = await begin('asks', ({ step }) => (step === 0 ? { text: 'Tab\t"quoted" \u2028 \ud83d\ude00', calls: [call('bytes')], blocks, indent: 3 } : { text: 'same' }));
  assert.equal(await texts(session), 'same');
  assert.equal(model.of(script).length, 2);
});

cases('a tool that is not there, and one that fails, are errors that the model reads', async ({ api, script, begin }) => {
  const session = await begin('asks', ({ step }) => (step === 0 ? { calls: [call('a', 'sing'), call('b', 'note', {})] } : { text: 'done' }));
  assert.equal(await texts(session), 'done');
  const [sing, note] = resultsTo(script, 1);
  assert.match(sing.content, /no tool "sing".*note/s);
  assert.match(note.content, /id/);
  if (api === 'anthropic') assert.deepEqual([sing.isError, note.isError], [true, true]);
});

test('a model that pauses goes on with its own words back', options, async () => {
  model.scripts.set('pauses', ({ step, request }) => {
    if (step === 0) return { text: 'wait', stop: 'paused' };
    assert.equal(request.messages.at(-1).role, 'assistant');
    return { text: 'there' };
  });
  assert.equal(await texts(await proof.trigger('mute-anthropic', { script: 'pauses' })), 'there');
  model.complaints.length = 0;
});

test('agents tell their model, tools and sub-agents, but not their prompt', options, async () => {
  const { agents } = await proof.get(200, '/agent/agents');
  const parent = agents.find(({ name }) => name === 'parent-openai');
  assert.deepEqual([parent.runner, parent.model, parent.tools, parent.sub_agents], ['llm', 'openai-standin/sharp', ['note'], ['child-openai']]);
  assert.doesNotMatch(JSON.stringify(parent), /You help/);
});
