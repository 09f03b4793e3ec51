// Starts the real server on a fresh folder, with agents and callback receivers that live in this process.
// Every wait in here has a deadline: a test that hangs says what it was waiting for.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import net from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const here = path.dirname(fileURLToPath(import.meta.url));
export const contractFile = path.join(here, '../../src/http/openapi.json');
export const publicUrl = 'https://holdpoint.example.org';
export const maxBodyBytes = 200_000;

export async function within(ms, what, promise) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`waited ${ms} ms for ${what}`)), ms);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

// Asks again until `probe` gives something other than undefined or false.
export async function eventually(what, probe, ms = 10_000) {
  const end = Date.now() + ms;
  for (;;) {
    const found = await probe();
    if (found !== undefined && found !== false) return found;
    if (Date.now() > end) throw new Error(`waited ${ms} ms for ${what}`);
    await sleep(20);
  }
}

// A gate that an agent waits at until the test opens it.
export function gate() {
  let open;
  const passed = new Promise((resolve) => { open = resolve; });
  return { open, passed };
}

async function listen(answer) {
  const server = http.createServer(async (request, response) => {
    try {
      const chunks = [];
      for await (const chunk of request) chunks.push(chunk);
      const { status = 200, headers = {}, body = '' } = await answer(request, Buffer.concat(chunks));
      response.writeHead(status, headers).end(body);
    } catch (error) {
      response.writeHead(500).end(String(error?.stack ?? error));
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

// A receiver of callbacks. `respond(callback, path)` chooses the response; 204 by default.
export async function startReceiver(respond = () => ({})) {
  const callbacks = [];
  const server = await listen(async (request, body) => {
    const callback = { method: request.method, path: request.url, headers: request.headers, raw: body.toString('utf8') };
    callbacks.push(callback);
    return { status: 204, ...(await respond(callback)) };
  });
  return {
    ...server,
    callbacks,
    // The callbacks that `wanted` holds for, once there are `n` of them.
    take: (what, wanted, n = 1, ms = 10_000) => eventually(what, () => {
      const found = callbacks.filter(wanted);
      return found.length >= n && found;
    }, ms),
  };
}

export function findBinary() {
  const binary = process.env.HOLDPOINT_BINARY ?? path.join(here, '../../build/release/holdpoint');
  if (!existsSync(binary)) throw new Error(`no server at ${binary}: build it, or set HOLDPOINT_BINARY`);
  return path.resolve(binary);
}

// JSON is YAML, so that front matter needs no YAML writer.
const frontMatter = (fields) => `---\n${Object.entries(fields).map(([key, value]) => `${key}: ${JSON.stringify(value)}\n`).join('')}---\n`;

// Strings, numbers, booleans and lists of them are written alike in JSON and TOML; tables are not.
const inToml = (value) => (typeof value === 'object' && !Array.isArray(value)
  ? `{ ${Object.entries(value).map(([name, member]) => `${JSON.stringify(name)} = ${inToml(member)}`).join(', ')} }` : JSON.stringify(value));
const toml = (values) => Object.entries(values).map(([name, value]) => `${name} = ${inToml(value)}\n`).join('');

// A response as it came over the wire, in the form that `request` gives it.
export function parseResponse(method, target, raw) {
  const end = raw.indexOf('\r\n\r\n');
  const [first, ...lines] = raw.slice(0, end).split('\r\n');
  const headers = Object.fromEntries(lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]));
  const text = raw.slice(end + 4);
  const isJson = /^application\/json\b/.test(headers['content-type'] ?? '');
  return { method, path: target, status: Number(first.split(' ')[1]), headers, text, ...(isJson ? { json: JSON.parse(text) } : {}) };
}

/**
 * `agents`: name → front matter, plus `turn(request)` for an agent that lives in this process:
 * it gets the turn as parsed JSON and returns the reply object. `prompt` is what stands below the front matter.
 * `limits`: what differs from the defaults of that section.
 * `settings`: further sections, as name → what differs from the defaults there.
 * `closed`: there is an admin's key, so that every call needs a credential; `world.key(…)` makes them.
 */
export async function startWorld({ agents = {}, limits = {}, settings = {}, closed = false } = {}) {
  const binary = findBinary();
  const folder = mkdtempSync(path.join(tmpdir(), 'holdpoint-clients-'));
  const turns = [];
  const agentServer = await listen(async (request, body) => {
    const raw = body.toString('utf8');
    turns.push(raw);
    const reply = await agents[decodeURIComponent(request.url.slice(1))].turn(JSON.parse(raw));
    return { headers: { 'content-type': 'application/json' }, body: JSON.stringify(reply) };
  });

  mkdirSync(path.join(folder, 'agents'));
  for (const [name, { turn, prompt = '', ...fields }] of Object.entries(agents)) {
    const runner = turn ? { runner: 'http', url: `${agentServer.url}/${name}` } : {};
    writeFileSync(path.join(folder, 'agents', `${name}.md`), frontMatter({ name, ...runner, ...fields }) + prompt);
  }
  writeFileSync(path.join(folder, 'settings.toml'), `
[server]
listen = "127.0.0.1:0"
public_url = "${publicUrl}"
[database]
url = "sqlite:holdpoint.db"
[agents]
dir = "agents"
[limits]
max_body_bytes = ${maxBodyBytes}
${toml(limits)}[outgoing]
allow_private = ["127.0.0.0/8"]
${Object.entries(settings).map(([section, values]) => `[${section}]\n${toml(values)}`).join('')}`);

  const log = [];
  const tail = () => log.slice(-20).join('\n');
  let running;  // {server, exited, host, port}
  const killServer = () => running?.server.kill('SIGKILL');
  process.once('exit', killServer);

  const start = async () => {
    const server = spawn(binary, ['serve', '--settings', path.join(folder, 'settings.toml')], {
      cwd: folder,
      stdio: ['ignore', 'ignore', 'pipe'],
      // Ours, such as HOLDPOINT_BINARY, must not become settings of the server. Once it has a port it keeps it, for clients that come back.
      env: { ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('HOLDPOINT_'))),
        ...(running?.port ? { HOLDPOINT_SERVER_LISTEN: `${running.host}:${running.port}` } : {}) },
    });
    const exited = new Promise((resolve) => {
      server.once('error', (error) => resolve({ code: `${error}` }));
      server.once('exit', (code, signal) => resolve({ code, signal }));
    });
    running = { server, exited };
    const listening = new Promise((resolve) => {
      let rest = '';
      server.stderr.setEncoding('utf8').on('data', (text) => {
        const lines = (rest + text).split('\n');
        rest = lines.pop();
        for (const line of lines) {
          log.push(line);
          if (!line.includes('"server_listening"')) continue;
          const entry = JSON.parse(line);
          if (entry.event === 'server_listening') resolve(entry.address);
        }
      });
    });
    const early = exited.then(({ code, signal }) => { throw new Error(`the server ended at once with ${signal ?? code}\n${tail()}`); });
    early.catch(() => {});
    const address = await within(10_000, 'the log line server_listening', Promise.race([listening, early]));
    const colon = address.lastIndexOf(':');
    Object.assign(running, { host: address.slice(0, colon), port: Number(address.slice(colon + 1)) });
  };

  const connections = new http.Agent({ keepAlive: true, maxSockets: 64 });
  const world = { log, turns, folder, closed };

  const stop = async () => {
    process.removeListener('exit', killServer);
    connections.destroy();
    running.server.kill('SIGTERM');
    try {
      const { code, signal } = await within(12_000, `the server to stop after SIGTERM\n${tail()}`, running.exited);
      if (code !== 0) throw new Error(`the server ended with ${signal ?? code}\n${tail()}`);
    } finally {
      killServer();
      await agentServer.close();
      rmSync(folder, { recursive: true, force: true });
    }
  };

  try {
    await start();
    const open = (method, target, { headers = {}, body, type = 'application/json', ms = 10_000, signal, agent = connections } = {}) => {
      const bytes = body === undefined || Buffer.isBuffer(body) ? body : Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
      const sent = { ...(bytes ? { 'content-length': bytes.length, ...(type ? { 'content-type': type } : {}) } : {}), ...headers };
      if (!bytes && method === 'POST') sent['content-length'] = 0;
      return new Promise((resolve, reject) => {
        const request = http.request({ host: running.host, port: running.port, method, path: target, headers: sent, agent, signal: signal ?? AbortSignal.timeout(ms) }, resolve);
        request.on('error', (error) => reject(new Error(`${method} ${target}: ${error.message}`, { cause: error })));
        request.end(bytes);
      });
    };

    /**
     * One request. A `body` that is an object goes out as JSON; a string or Buffer goes out as it is, with `type`.
     * Gives {method, path, status, headers, text}; `json` is there when the response says it is JSON.
     */
    world.request = async (method, target, options) => {
      const response = await open(method, target, options);
      const chunks = [];
      for await (const chunk of response) chunks.push(chunk);
      const text = Buffer.concat(chunks).toString('utf8');
      const isJson = method !== 'HEAD' && /^application\/json\b/.test(response.headers['content-type'] ?? '');
      return { method, path: target, status: response.statusCode, headers: response.headers, text, ...(isJson ? { json: JSON.parse(text) } : {}) };
    };

    // `n` connections that are served, and stay open until they are released: streams of events, as the server hangs up on those
    // that only wait for the next request. Our own others are closed, and those it still has to let go of are waited for.
    world.hold = async (n) => {
      connections.destroy();
      const held = [];
      const one = () => new Promise((resolve) => {
        const socket = net.connect({ host: running.host, port: running.port }).on('error', resolve).on('close', resolve);
        socket.once('data', (bytes) => {
          if (bytes.toString().startsWith('HTTP/1.1 200')) held.push(socket);
          else socket.destroy();
          resolve();
        });
        socket.write('GET /agent/events HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n\r\n');
      });
      const release = () => held.forEach((socket) => socket.destroy());
      try {
        await eventually(`${n} connections that are served`, async () => {
          await Promise.all(Array.from({ length: n - held.length }, one));
          return held.length === n;
        });
      } catch (error) {
        release();
        throw error;
      }
      return { release };
    };

    // Sends `text` as it is, on a connection of its own; gives all that comes back until the server hangs up.
    world.raw = async (text) => {
      const socket = net.connect({ host: running.host, port: running.port });
      socket.write(text);
      const read = async () => {
        const chunks = [];
        for await (const chunk of socket) chunks.push(chunk);
        return Buffer.concat(chunks).toString('utf8');
      };
      return within(10_000, `the server to hang up after\n${text.slice(0, 300)}`, read()).finally(() => socket.destroy());
    };

    // Server-sent events. `next()` gives the next event as {id, event, data}; comments are counted, not given.
    world.stream = async (target, headers = {}) => {
      const ended = new AbortController();
      const response = await within(10_000, `the head of the stream ${target}`,
        open('GET', target, { headers: { accept: 'text/event-stream', ...headers }, signal: ended.signal, agent: false }));
      const frames = [];
      let rest = '';
      let comments = 0;
      response.setEncoding('utf8').on('data', (text) => {
        const blocks = (rest + text).split('\n\n');
        rest = blocks.pop();
        for (const block of blocks) {
          const lines = block.split('\n');
          comments += lines.filter((line) => line.startsWith(':')).length;
          const fields = Object.fromEntries(lines.filter((line) => line && !line.startsWith(':')).map((line) => {
            const colon = line.indexOf(':');
            return [line.slice(0, colon), line.slice(colon + 1).replace(/^ /, '')];
          }));
          if (fields.data !== undefined) frames.push({ ...fields, data: JSON.parse(fields.data) });
        }
      }).on('error', () => {});
      return {
        method: 'GET', path: target, status: response.statusCode, headers: response.headers,
        next: (ms = 10_000) => eventually(`an event on ${target}`, () => frames.shift(), ms),
        pending: () => frames.length,
        comments: () => comments,
        close: () => ended.abort(),
      };
    };

    // A key with these scopes, as a header; always the same one for the same scopes.
    const made = new Map();
    const makeKey = async (scopes) => {
      const { status, json, text } = await world.request('POST', '/agent/keys', {
        body: { name: scopes.join(' '), scopes }, headers: made.size > 0 ? await made.get('admin') : {},
      });
      if (status !== 201) throw new Error(`no key for ${scopes}: ${status} ${text}`);
      return { authorization: `Bearer ${json.key}` };
    };
    world.key = (...scopes) => {
      const name = scopes.join(' ');
      if (!made.has(name)) made.set(name, makeKey(scopes));
      return made.get(name);
    };

    const ready = () => eventually('the server to be ready', async () => (await world.request('GET', '/readyz')).status === 200);
    // Where it listens now.
    world.address = () => `http://${running.host}:${running.port}`;
    // kill -9, and the same server again on the same folder.
    world.crash = async () => {
      killServer();
      await within(10_000, 'the killed server to be gone', running.exited);
      connections.destroy();
    };
    world.restart = async () => {
      await start();
      await ready();
    };

    // Another command of the same binary, with the same settings: {code, out}. `more` goes into the environment.
    world.command = async (args, more = {}) => {
      const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('HOLDPOINT_')));
      const child = spawn(binary, [...args, '--settings', path.join(folder, 'settings.toml')], { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'], env: { ...env, ...more } });
      const chunks = [];
      for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => chunks.push(text));
      const [code] = await within(20_000, args.join(' '), once(child, 'close'));
      return { code, out: chunks.join('') };
    };

    await ready();
    if (closed) await world.key('admin');
  } catch (error) {
    await stop().catch(() => {});
    throw error;
  }
  return { ...world, stop };
}
