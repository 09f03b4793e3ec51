// A scripted model that speaks both APIs: it replies to each conversation by the script that the payload names, notes every
// exchange as the bytes that went over the wire, and judges each request.
import { apiOf, requestComplaints } from './llm_journal.mjs';
import { startStandin } from './standin.mjs';

const textOf = (content) => (typeof content === 'string' ? content : (content ?? []).map((block) => block.text ?? '').join(''));

// The first object in a text.
export function payloadIn(text) {
  return JSON.parse(text.slice(text.indexOf('{'), text.lastIndexOf('}') + 1));
}

/**
 * A request as scripts read it, alike for both APIs: {api, request, system, tools, payload, step, results, said}. `step` counts what
 * the model has said so far, `results` are those of its last calls in order, {id, content, isError}, and `said` is what people said
 * since the payload.
 */
export function readTalk(api, request) {
  const { messages } = request;
  const users = messages.filter(({ role }) => role === 'user').map(({ content }) => textOf(typeof content === 'string' ? content : content.filter(({ type }) => type === 'text'))).filter((text) => text !== '');
  const last = messages.findLastIndex(({ role }) => role === 'assistant');
  const after = messages.slice(last + 1);
  const results = api === 'anthropic'
    ? after.flatMap(({ content }) => (typeof content === 'string' ? [] : content)).filter(({ type }) => type === 'tool_result').map((block) => ({ id: block.tool_use_id, content: textOf(block.content), isError: block.is_error === true }))
    : after.filter(({ role }) => role === 'tool').map(({ tool_call_id: id, content }) => ({ id, content, isError: undefined }));
  return {
    api, request, results,
    system: api === 'anthropic' ? request.system ?? '' : textOf(messages.find(({ role }) => role === 'system' || role === 'developer')?.content),
    tools: (request.tools ?? []).map((tool) => tool.name ?? tool.function.name),
    payload: payloadIn(users[0]),
    step: messages.filter(({ role }) => role === 'assistant').length,
    said: users.slice(1),
  };
}

const stops = {
  anthropic: { done: 'end_turn', tools: 'tool_use', max_tokens: 'max_tokens', refusal: 'refusal', paused: 'pause_turn', context_full: 'model_context_window_exceeded' },
  openai: { done: 'stop', tools: 'tool_calls', max_tokens: 'length', refusal: 'content_filter' },
};

// What the model says, in the words of the API: {text, calls: [{id, name, input}], stop, usage: [in, out, cached], blocks}.
export function inWordsOf(api, { text, calls = [], stop = calls.length > 0 ? 'tools' : 'done', usage = [10, 5, 0], blocks = [] }) {
  const [input, output, cached = 0] = usage;
  if (api === 'anthropic') {
    const content = [...blocks, ...(text === undefined ? [] : [{ type: 'text', text }]), ...calls.map(({ id, name, input: given }) => ({ type: 'tool_use', id, name, input: given }))];
    // The input that came from a cache is not among the other's here.
    return { id: 'msg_1', type: 'message', role: 'assistant', model: 'm', content, stop_reason: stops.anthropic[stop], stop_sequence: null,
      usage: { input_tokens: input - cached, cache_creation_input_tokens: 0, cache_read_input_tokens: cached, output_tokens: output } };
  }
  const toolCalls = calls.map(({ id, name, input: given }) => ({ id, type: 'function', function: { name, arguments: typeof given === 'string' ? given : JSON.stringify(given) } }));
  const message = { role: 'assistant', content: text ?? null, refusal: null, annotations: [], ...(toolCalls.length > 0 ? { tool_calls: toolCalls } : {}) };
  return { id: 'chatcmpl-1', object: 'chat.completion', created: 1, model: 'm', choices: [{ index: 0, message, logprobs: null, finish_reason: stops.openai[stop] }],
    usage: { prompt_tokens: input, completion_tokens: output, total_tokens: input + output, prompt_tokens_details: { cached_tokens: cached } } };
}

/**
 * `scripts`: name → (talk) → what the model says, or {status, headers, body} in place of it; the payload's `script` names one.
 * `indent` in what it says sends the reply with that much space in it.
 */
export async function startModel() {
  const scripts = new Map();
  const exchanges = [];
  const complaints = [];
  const standin = await startStandin(async ({ path, raw, headers }) => {
    const api = apiOf(path);
    complaints.push(...requestComplaints(api, raw).map((complaint) => `${complaint}: ${raw.slice(0, 1000)}`));
    const talk = readTalk(api, JSON.parse(raw));
    const exchange = { api, path, request: raw, headers, talk, at: Date.now(), status: 0, reply: null };
    exchanges.push(exchange);
    const said = await scripts.get(talk.payload.script)(talk);
    const { status = 200, headers: more = {}, body } = said.body === undefined ? { body: JSON.stringify(inWordsOf(api, said), null, said.indent) } : said;
    Object.assign(exchange, { status, reply: typeof body === 'string' ? body : JSON.stringify(body) });
    return { status, headers: { 'content-type': 'application/json', ...more }, body: exchange.reply };
  });
  return {
    ...standin, scripts, exchanges, complaints,
    // The exchanges of one script, oldest first.
    of: (script) => exchanges.filter(({ talk }) => talk.payload.script === script),
  };
}
