// The storm's model, as a process of its own: aimock, which plays the plans and makes trouble by chance, behind a proxy that notes
// every exchange as the bytes that went over the wire, since aimock's journal has requests in its own words only.
//   node llm_storm_model.mjs <rate of 429> <rate of disconnects>
// The first line it prints is the address; GET /exchanges there gives what was noted, and GET /journal aimock's own journal.
import http from 'node:http';
import { LLMock } from '@copilotkit/aimock';
import { apiOf } from './llm_journal.mjs';
import { payloadIn } from './model_standin.mjs';
import { stepsOf, sumUp, valuesIn } from './llm_storm_plan.mjs';

const [rateLimitRate, disconnectRate] = process.argv.slice(2).map(Number);

// aimock gives requests of both APIs in the words of OpenAI's.
function reply({ messages }) {
  const payload = payloadIn(messages.find(({ role }) => role === 'user').content);
  const steps = stepsOf(payload);
  const step = messages.filter(({ role }) => role === 'assistant').length;
  if (step < steps.length) {
    return { content: `Step ${step}.`, toolCalls: steps[step].map(({ id, name, input }) => ({ id, name, arguments: JSON.stringify(input) })) };
  }
  const results = new Map(messages.filter(({ role }) => role === 'tool').map((message) => [message.tool_call_id, message.content]));
  return { content: sumUp(payload.run, steps.flat().flatMap(({ id }) => valuesIn(results.get(id) ?? `value:lost-${id}`))) };
}

const mock = new LLMock({ port: 0, host: '127.0.0.1', strict: true, journalMaxEntries: 0, logLevel: 'silent', chaos: { rateLimitRate, disconnectRate } });
mock.addFixture({ match: { predicate: () => true }, response: reply });
const behind = new URL(await mock.start());

const exchanges = [];
const connections = new http.Agent({ keepAlive: true });
const forward = (request, body) => new Promise((resolve, reject) => {
  const sent = http.request({ agent: connections, host: behind.hostname, port: behind.port, method: request.method, path: request.url, headers: { ...request.headers, host: behind.host } }, async (response) => {
    try {
      const chunks = [];
      for await (const chunk of response) chunks.push(chunk);
      resolve({ response, text: Buffer.concat(chunks) });
    } catch (error) {
      reject(error);
    }
  });
  sent.on('error', reject);
  sent.end(body);
});

const proxy = http.createServer(async (request, response) => {
  const json = (value) => response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(value));
  if (request.method === 'GET') {
    if (request.url === '/exchanges') return json(exchanges);
    return json(mock.getRequests().map(({ path, response: { status, chaosAction } }) => ({ path, status, chaosAction })));
  }
  const chunks = [];
  try {
    for await (const chunk of request) chunks.push(chunk);
  } catch {
    return undefined;  // The server was killed while it asked: nobody has heard it.
  }
  const body = Buffer.concat(chunks);
  const note = { api: apiOf(request.url), request: body.toString('utf8'), status: 0, reply: null };
  exchanges.push(note);
  try {
    const { response: from, text } = await forward(request, body);
    Object.assign(note, { status: from.statusCode, reply: text.toString('utf8') });
    return response.writeHead(from.statusCode, from.headers).end(text);
  } catch {
    return request.socket.destroy();
  }
});
proxy.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${proxy.address().port}`));
