// Judges what the server asked of models. The stand-ins take nearly anything; the services do not: so every rule that they
// enforce, and our own that a transcript only grows, is checked here.
import { rawItems, rawMembers } from './raw_json.mjs';

const toolName = /^[a-zA-Z0-9_-]{1,64}$/;
const isObject = (value) => typeof value === 'object' && value !== null && !Array.isArray(value);
const isText = (value) => typeof value === 'string' && value !== '';
const isCount = (value) => Number.isInteger(value) && value > 0;

function* namesComplaints(tools, nameOf, schemaOf) {
  const seen = new Set();
  for (const tool of tools) {
    const name = nameOf(tool);
    if (!toolName.test(name ?? '')) yield `a tool's name is ${JSON.stringify(name)}`;
    if (seen.has(name)) yield `the tool ${name} is there twice`;
    seen.add(name);
    if (schemaOf(tool)?.type !== 'object') yield `the schema of the tool ${name} is not an object's`;
  }
}

function* anthropicTools({ tools, messages }) {
  if (tools === undefined) {
    if (JSON.stringify(messages).includes('"tool_use_id"')) yield 'there are results of tools, but no tools';
    return;
  }
  if (!Array.isArray(tools)) return yield 'tools is no list';
  for (const tool of tools) if (!isText(tool?.description)) yield `the tool ${tool?.name} has no description`;
  yield* namesComplaints(tools, (tool) => tool?.name, (tool) => tool?.input_schema);
}

// One message of the person's side, where `open` are the calls that the message before it left open.
function* anthropicResults(content, open) {
  const blocks = typeof content === 'string' ? [] : content;
  const answered = new Set();
  let others = false;
  for (const block of blocks) {
    if (block.type !== 'tool_result') {
      others = true;
      continue;
    }
    if (others) yield `the result of ${block.tool_use_id} comes after other content`;
    if (answered.has(block.tool_use_id)) yield `${block.tool_use_id} has two results`;
    else if (!open.has(block.tool_use_id)) yield `a result of ${block.tool_use_id}, which the message before did not call`;
    answered.add(block.tool_use_id);
    if (typeof block.content !== 'string' && !Array.isArray(block.content)) yield `the result of ${block.tool_use_id} has no content`;
    if (block.is_error !== undefined && typeof block.is_error !== 'boolean') yield `is_error of ${block.tool_use_id} is no boolean`;
  }
  for (const id of open) if (!answered.has(id)) yield `${id} has no result in the next message`;
}

function* anthropicMessages({ messages }) {
  if (!Array.isArray(messages) || messages.length === 0) return yield 'there are no messages';
  const ids = new Set();
  let open = new Set();
  let before;
  for (const [i, message] of messages.entries()) {
    const { role, content } = message ?? {};
    if (role !== 'user' && role !== 'assistant') return yield `message ${i} is by ${role}`;
    if (i === 0 && role !== 'user') yield 'the first message is not the user\'s';
    if (role === before) yield `messages ${i - 1} and ${i} are both by ${role}`;
    if (!isText(content) && !(Array.isArray(content) && content.length > 0 && content.every((block) => isText(block?.type)))) {
      return yield `message ${i} has no content`;
    }
    const blocks = typeof content === 'string' ? [] : content;
    if (blocks.some((block) => block.type === 'text' && !isText(block.text))) yield `message ${i} has an empty text`;
    if (role === 'user') {
      yield* anthropicResults(content, open);
      open = new Set();
    } else {
      if (open.size > 0) yield `the calls ${[...open]} have no results in the next message`;
      if (blocks.some((block) => block.type === 'tool_result')) yield `message ${i} is the assistant's and has a result`;
      open = new Set();
      for (const { id, input } of blocks.filter((block) => block.type === 'tool_use')) {
        if (!isText(id)) yield 'a call has no id';
        if (ids.has(id)) yield `the id ${id} is there twice`;
        if (!isObject(input)) yield `the input of ${id} is no object`;
        ids.add(id);
        open.add(id);
      }
    }
    before = role;
  }
  if (before !== 'user') yield 'the last message is not the user\'s';
}

function* anthropicComplaints(request) {
  if (!isText(request.model)) yield 'no model';
  if (!isCount(request.max_tokens)) yield 'no max_tokens';
  if (request.system !== undefined && !isText(request.system)) yield 'system is no text';
  yield* anthropicMessages(request);
  yield* anthropicTools(request);
}

function* openaiMessages({ messages }) {
  if (!Array.isArray(messages) || messages.length === 0) return yield 'there are no messages';
  const ids = new Set();
  let open = [];
  let before = 'nobody';
  for (const [i, message] of messages.entries()) {
    const { role, content } = message ?? {};
    if (!['system', 'developer', 'user', 'assistant', 'tool'].includes(role)) return yield `message ${i} is by ${role}`;
    if (role === 'tool') {
      const id = message.tool_call_id;
      if (!open.includes(id)) yield ids.has(id) ? `${id} has two results, or one too late` : `a result of ${id}, which nobody called`;
      open = open.filter((one) => one !== id);
      if (typeof content !== 'string') yield `the result of ${id} is no text`;
    } else {
      for (const id of open) yield `${id} has no result right after its call`;
      open = [];
    }
    if ((role === 'system' || role === 'developer') && i > 0) yield `message ${i} is the system's`;
    if (before === 'nobody' && role !== 'user' && role !== 'system' && role !== 'developer') yield 'the first message is not the user\'s';
    if (['system', 'developer', 'user'].includes(role) && !isText(content)) yield `message ${i} has no content`;
    if (role === 'assistant') {
      if (before === 'assistant') yield `messages ${i - 1} and ${i} are both by assistant`;
      const { tool_calls: calls } = message;
      if (calls !== undefined && (!Array.isArray(calls) || calls.length === 0)) yield `tool_calls of message ${i} is no list with calls`;
      if (typeof content !== 'string' && !calls?.length && !message.refusal) yield `message ${i} has no content`;
      for (const { id, type, function: called } of calls ?? []) {
        if (!isText(id)) yield 'a call has no id';
        if (ids.has(id)) yield `the id ${id} is there twice`;
        if (type !== 'function' || !isText(called?.name) || typeof called?.arguments !== 'string') yield `the call ${id} is none of a function`;
        ids.add(id);
        open.push(id);
      }
    }
    before = role;
  }
  for (const id of open) yield `${id} has no result right after its call`;
  if (before !== 'user' && before !== 'tool') yield 'the last message is neither the user\'s nor a tool\'s';
}

function* openaiComplaints(request) {
  if (!isText(request.model)) yield 'no model';
  if (!isCount(request.max_completion_tokens ?? request.max_tokens)) yield 'no max_completion_tokens';
  yield* openaiMessages(request);
  const { tools } = request;
  if (tools === undefined) return;
  if (!Array.isArray(tools) || tools.length === 0) return yield 'tools is no list with tools';
  for (const tool of tools) if (tool?.type !== 'function') yield `a tool is a ${tool?.type}`;
  yield* namesComplaints(tools, (tool) => tool?.function?.name, (tool) => tool?.function?.parameters);
}

export const apiOf = (path) => (path.endsWith('/v1/messages') ? 'anthropic' : 'openai');

// What is wrong with the body of one request; an empty list if nothing.
export function requestComplaints(api, raw) {
  let request;
  try {
    request = JSON.parse(raw);
  } catch (error) {
    return [`no JSON: ${error.message}`];
  }
  return [...(api === 'anthropic' ? anthropicComplaints(request) : openaiComplaints(request))];
}

// The texts of {messages, said, rest}: what the model said in this reply, and all of the request besides the messages.
function transcript(raw) {
  const { messages, ...rest } = rawMembers(raw);
  return { messages: rawItems(messages), rest: JSON.stringify(rest) };
}
// Chat completions take back all members of a message but its annotations.
const spoken = (message) => {
  const { annotations, ...members } = rawMembers(message);
  return JSON.stringify(Object.entries(members).sort());
};
const saidIn = (api, reply) => (api === 'anthropic' ? rawMembers(reply).content : spoken(rawMembers(rawItems(rawMembers(reply).choices)[0]).message));
const saidBy = (api, message) => (api === 'anthropic' ? rawMembers(message).content : spoken(message));

// A conversation is known by what it begins with: the tests see to it that no two sessions begin alike.
function beginning(api, raw) {
  const { messages } = transcript(raw);
  return `${api} ${messages.find((message) => JSON.parse(message).role === 'user')}`;
}

function* growthComplaints(api, exchanges) {
  const [first] = exchanges;
  let longest = transcript(first.request);
  const replies = new Map();  // How many messages were sent → what was said to them, at any time.
  for (const exchange of exchanges) {
    const now = transcript(exchange.request);
    if (now.rest !== longest.rest) yield 'a later request has another model, other tools or instructions';
    const common = Math.min(now.messages.length, longest.messages.length);
    const at = now.messages.findIndex((message, i) => i < common && message !== longest.messages[i]);
    if (at >= 0) yield `message ${at} is not what it was: ${now.messages[at].slice(0, 200)} / ${longest.messages[at].slice(0, 200)}`;
    if (now.messages.length < longest.messages.length) yield `the conversation went back from ${longest.messages.length} to ${now.messages.length} messages`;
    if (now.messages.length > longest.messages.length) {
      const said = saidBy(api, now.messages[longest.messages.length]);
      if (!(replies.get(longest.messages.length) ?? []).includes(said)) yield `the model did not say this: ${said?.slice(0, 300)}`;
      longest = now;
    }
    if (exchange.status === 200 && exchange.reply) replies.set(now.messages.length, [...(replies.get(now.messages.length) ?? []), saidIn(api, exchange.reply)]);
  }
}

/**
 * `exchanges`: {api, request, status, reply} in the order in which the requests came, bodies as their texts; `reply` is null where
 * none was sent. Gives what is wrong, with the conversation it is about.
 */
export function journalComplaints(exchanges) {
  const complaints = [];
  const conversations = new Map();
  for (const exchange of exchanges) {
    const found = requestComplaints(exchange.api, exchange.request);
    complaints.push(...found.map((complaint) => `${complaint} in ${exchange.request.slice(0, 2000)}`));
    if (found.length > 0) continue;
    const begins = beginning(exchange.api, exchange.request);
    conversations.set(begins, [...(conversations.get(begins) ?? []), exchange]);
  }
  for (const [begins, list] of conversations) {
    complaints.push(...[...growthComplaints(list[0].api, list)].map((complaint) => `${complaint} in the conversation ${begins.slice(0, 200)}`));
  }
  return { complaints, conversations: conversations.size };
}
