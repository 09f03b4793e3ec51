// The checker of model requests finds each fault, so that its silence means something.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { journalComplaints, requestComplaints } from './llm_journal.mjs';

const use = (id, name = 'look') => ({ type: 'tool_use', id, name, input: { n: 1 } });
const gave = (id, more = {}) => ({ type: 'tool_result', tool_use_id: id, content: 'ok', ...more });
const goodAnthropic = () => ({
  model: 'm', max_tokens: 100, system: 'Be kind.',
  tools: [{ name: 'look', description: 'Looks.', input_schema: { type: 'object' } }, { name: 'ask', description: 'Asks.', input_schema: { type: 'object' } }],
  messages: [
    { role: 'user', content: '{"n":1}' },
    { role: 'assistant', content: [{ type: 'text', text: 'Well.' }, use('a'), use('b', 'ask')] },
    { role: 'user', content: [gave('a'), gave('b', { is_error: true })] },
    { role: 'assistant', content: [use('c')] },
    { role: 'user', content: [gave('c'), { type: 'text', text: 'And this.' }] },
  ],
});
const calls = (...ids) => ({ role: 'assistant', content: null, tool_calls: ids.map((id) => ({ id, type: 'function', function: { name: 'look', arguments: '{"n":1}' } })) });
const tells = (id) => ({ role: 'tool', tool_call_id: id, content: 'ok' });
const goodOpenai = () => ({
  model: 'm', max_completion_tokens: 100,
  tools: [{ type: 'function', function: { name: 'look', description: 'Looks.', parameters: { type: 'object' } } }],
  messages: [{ role: 'system', content: 'Be kind.' }, { role: 'user', content: '{"n":1}' }, calls('a', 'b'), tells('a'), tells('b'), { role: 'assistant', content: 'Done.', refusal: null }, { role: 'user', content: 'More.' }],
});

const broken = {
  anthropic: {
    'no model': (r) => { delete r.model; },
    'no max_tokens': (r) => { delete r.max_tokens; },
    'no max_tokens ': (r) => { r.max_tokens = 0; },
    'system is no text': (r) => { r.system = ''; },
    'there are no messages': (r) => { r.messages = []; },
    'message 0 is by system': (r) => { r.messages.unshift({ role: 'system', content: 'x' }); },
    'the first message is not the user\'s': (r) => { r.messages.shift(); },
    'messages 0 and 1 are both by user': (r) => { r.messages.unshift({ role: 'user', content: 'x' }); },
    'messages 5 and 6 are both by assistant': (r) => { r.messages.push({ role: 'assistant', content: 'x' }, { role: 'assistant', content: 'y' }, { role: 'user', content: 'z' }); },
    'the last message is not the user\'s': (r) => { r.messages.push({ role: 'assistant', content: 'x' }); },
    'message 0 has no content': (r) => { r.messages[0].content = ''; },
    'message 4 has no content': (r) => { r.messages[4].content = []; },
    'message 1 has an empty text': (r) => { r.messages[1].content[0].text = ''; },
    'message 1 is the assistant\'s and has a result': (r) => { r.messages[1].content.unshift(gave('z')); },
    'a call has no id': (r) => { r.messages[1].content.push({ type: 'tool_use', name: 'look', input: {} }); },
    'the id a is there twice': (r) => { r.messages[3].content.push(use('a')); r.messages[4].content.unshift(gave('a')); },
    'the input of c is no object': (r) => { r.messages[3].content[0].input = '{}'; },
    'b has no result in the next message': (r) => { r.messages[2].content.pop(); },
    'b has two results': (r) => { r.messages[2].content.push(gave('b')); },
    'a result of a, which the message before did not call': (r) => { r.messages[4].content.unshift(gave('a')); },
    'the result of c comes after other content': (r) => { r.messages[4].content.reverse(); },
    'the result of a has no content': (r) => { delete r.messages[2].content[0].content; },
    'is_error of b is no boolean': (r) => { r.messages[2].content[1].is_error = 'yes'; },
    'a tool\'s name is "two words"': (r) => { r.tools[0].name = 'two words'; },
    'the tool look is there twice': (r) => { r.tools.push(r.tools[0]); },
    'the tool look has no description': (r) => { delete r.tools[0].description; },
    'the schema of the tool look is not an object\'s': (r) => { r.tools[0].input_schema = {}; },
    'there are results of tools, but no tools': (r) => { delete r.tools; },
  },
  openai: {
    'no model': (r) => { r.model = ''; },
    'no max_completion_tokens': (r) => { delete r.max_completion_tokens; },
    'there are no messages': (r) => { delete r.messages; },
    'message 1 is by human': (r) => { r.messages[1].role = 'human'; },
    'message 1 has no content': (r) => { r.messages[1].content = ''; },
    'message 2 has no content': (r) => { r.messages.splice(2, 3, { role: 'assistant', content: null }); },
    'message 7 is the system\'s': (r) => { r.messages.push({ role: 'system', content: 'x' }, { role: 'user', content: 'y' }); },
    'the first message is not the user\'s': (r) => { r.messages.splice(0, 2); },
    'messages 5 and 6 are both by assistant': (r) => { r.messages.splice(6, 0, { role: 'assistant', content: 'x' }); },
    'tool_calls of message 5 is no list with calls': (r) => { r.messages[5].tool_calls = []; },
    'a call has no id': (r) => { delete r.messages[2].tool_calls[0].id; },
    'the id a is there twice': (r) => { r.messages.push(calls('a'), tells('a')); },
    'the call a is none of a function': (r) => { r.messages[2].tool_calls[0].function.arguments = { n: 1 }; },
    'b has no result right after its call': (r) => { r.messages.splice(4, 1); },
    'a has two results, or one too late': (r) => { r.messages.splice(5, 0, tells('a')); },
    'a result of z, which nobody called': (r) => { r.messages.splice(5, 0, tells('z')); },
    'the result of a is no text': (r) => { r.messages[3].content = { ok: true }; },
    'the last message is neither the user\'s nor a tool\'s': (r) => { r.messages.pop(); },
    'tools is no list with tools': (r) => { r.tools = []; },
    'a tool is a undefined': (r) => { delete r.tools[0].type; },
    'a tool\'s name is "two words"': (r) => { r.tools[0].function.name = 'two words'; },
    'the schema of the tool look is not an object\'s': (r) => { r.tools[0].function.parameters = { type: 'string' }; },
  },
};

const good = { anthropic: goodAnthropic, openai: goodOpenai };
for (const api of Object.keys(good)) {
  test(`requests to ${api} as they should be are found valid, and each rule that one breaks is named`, () => {
    assert.deepEqual(requestComplaints(api, JSON.stringify(good[api]())), []);
    assert.match(requestComplaints(api, '{"model"').join(), /^no JSON/);
    for (const [expected, breaks] of Object.entries(broken[api])) {
      const request = good[api]();
      breaks(request);
      const found = requestComplaints(api, JSON.stringify(request));
      assert.ok(found.includes(expected.trim()), `wanted "${expected}", got ${JSON.stringify(found)}`);
    }
  });
}

// A conversation of two requests, as texts: spaces and escapes as the model wrote them.
const says = { anthropic: '[{"type":"text", "text":"caf\\u00e9"},{"type":"tool_use","id":"a","name":"look","input":{"n":1.0}}]', openai: '{"role":"assistant","content":"caf\\u00e9", "refusal":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"look","arguments":"{\\"n\\":1.0}"}}]}' };
const tools = { anthropic: '[{"name":"look","description":"Looks.","input_schema":{"type":"object"}}]', openai: '[{"type":"function","function":{"name":"look","description":"Looks.","parameters":{"type":"object"}}}]' };
const request = (api, messages) => `{"model":"m","max_tokens":9,"tools":${tools[api]},"messages":[${messages.join(',')}]}`;
const begins = '{"role":"user","content":"{\\"n\\":1}"}';
const spoken = (api, said = says[api]) => (api === 'anthropic' ? `{"role":"assistant","content":${said}}` : said);
const result = { anthropic: '{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"ok"}]}', openai: '{"role":"tool","tool_call_id":"a","content":"ok"}' };
const reply = { anthropic: `{"id":"1","content": ${says.anthropic} ,"stop_reason":"tool_use"}`, openai: `{"id":"1","choices":[{"index":0, "message":${says.openai.replace('"content"', '"annotations":[], "content"')}}]}` };

for (const api of Object.keys(good)) {
  test(`a conversation with ${api} that grows by what was said is found valid, and one that changed anything is not`, () => {
    const first = { api, request: request(api, [begins]), status: 200, reply: reply[api] };
    const failed = { ...first, status: 429, reply: '{"error":{}}' };
    const second = { api, request: request(api, [begins, spoken(api), result[api]]), status: 200, reply: reply[api] };
    const check = (...exchanges) => journalComplaints(exchanges).complaints.join('\n');
    assert.equal(check(failed, first, { ...first, status: 0, reply: null }, second, second), '');
    assert.equal(journalComplaints([first, second]).conversations, 1);

    assert.match(check(failed, second), /the model did not say this/);
    assert.match(check(first, { ...second, request: request(api, [begins, spoken(api, says[api].replace('\\u00e9', 'é')), result[api]]) }), /the model did not say this/);
    assert.match(check(first, { ...second, request: request(api, [begins, spoken(api, says[api].replace('1.0', '1')), result[api]]) }), /the model did not say this/);
    assert.match(check(first, second, first), /went back from 3 to 1 messages/);
    assert.match(check(first, second, { ...second, request: second.request.replace('"content":"ok"', '"content":"no"') }), /message 2 is not what it was/);
    assert.match(check(first, { ...second, request: second.request.replace('"model":"m"', '"model":"n"') }), /another model/);
    assert.match(check({ ...first, request: first.request.replace('"max_tokens":9,', '') }), /no max_/);
  });
}
