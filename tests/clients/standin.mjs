// What the stand-ins of the two platforms share: an HTTP server that notes every call and makes trouble on demand.
import { once } from 'node:events';
import http from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

/**
 * `answer(call)` gives {status, headers, body}; a body that is an object goes out as JSON.
 * Trouble comes before the answer, in place of it, or after it has had its effect:
 *   trouble({ when, times, slow, respond, drop, hold, lose }): `slow` waits so many ms before anything happens, `hold`
 *   after it, `respond()` answers in place of the platform, `drop` hangs up before anything happened, `lose` afterwards, so that the caller cannot know.
 */
export async function startStandin(answer) {
  const calls = [];
  const troubles = [];
  const take = (call) => {
    const found = troubles.find((trouble) => trouble.times > 0 && trouble.when(call));
    if (found) found.times -= 1;
    return found;
  };
  const server = http.createServer(async (request, response) => {
    try {
      const chunks = [];
      for await (const chunk of request) chunks.push(chunk);
      const call = { at: Date.now(), method: request.method, path: request.url, headers: request.headers, raw: Buffer.concat(chunks).toString('utf8') };
      calls.push(call);
      const trouble = take(call);
      if (trouble?.drop) return request.socket.destroy();
      if (trouble?.slow) await sleep(trouble.slow);
      const { status = 200, headers = {}, body = '' } = trouble?.respond?.(call) ?? await answer(call);
      call.status = status;
      if (trouble?.hold) await sleep(trouble.hold);
      if (trouble?.lose) return request.socket.destroy();
      const isText = typeof body === 'string';
      return response.writeHead(status, { ...(isText ? {} : { 'content-type': 'application/json; charset=utf-8' }), ...headers }).end(isText ? body : JSON.stringify(body));
    } catch (error) {
      return response.writeHead(599).end(String(error?.stack ?? error));
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    server,
    calls,
    url: `http://127.0.0.1:${server.address().port}`,
    trouble: (what) => {
      const trouble = { when: () => true, times: 1, ...what };
      troubles.push(trouble);
      return trouble;
    },
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

// One request of the platform to us, with how long we took.
export async function post(url, headers, body) {
  const started = Date.now();
  const response = await fetch(url, { method: 'POST', headers, body, redirect: 'manual', signal: AbortSignal.timeout(20_000) });
  const text = await response.text();
  const isJson = /^application\/json\b/.test(response.headers.get('content-type') ?? '');
  return { status: response.status, headers: response.headers, text, ms: Date.now() - started, ...(isJson && text ? { json: JSON.parse(text) } : {}) };
}
