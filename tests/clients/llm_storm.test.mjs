// Five hundred sessions of model agents while the service limits and hangs up, and the server is killed again and again: all end
// as planned, no tool runs again once its result is kept, and every request that a model got is valid.
// A run is repeated, as far as chance allows, with HOLDPOINT_STORM_SEED; HOLDPOINT_STORM_KILLS makes it worse.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { eventually, startReceiver, startWorld, within } from './harness.mjs';
import { journalComplaints } from './llm_journal.mjs';
import { answerTo, apis, sessionsOf, stepsOf, sumUp, valuesOf } from './llm_storm_plan.mjs';

const here = path.dirname(fileURLToPath(import.meta.url));
const seed = Number(process.env.HOLDPOINT_STORM_SEED ?? 20261116);
const count = 500;
const kills = Number(process.env.HOLDPOINT_STORM_KILLS ?? 40);
const deadline = 240_000;

// Mulberry32: the same numbers for the same seed.
function dice(state) {
  let now = state;
  return () => {
    now = (now + 0x6d2b79f5) | 0;
    let t = Math.imul(now ^ (now >>> 15), 1 | now);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

async function startModel() {
  const child = spawn(process.execPath, [path.join(here, 'llm_storm_model.mjs'), '0.1', '0.05'], { stdio: ['ignore', 'pipe', 'inherit'] });
  const end = () => child.kill('SIGKILL');
  process.once('exit', end);
  const [url] = await within(20_000, 'the storm\'s model to listen', once(createInterface({ input: child.stdout }), 'line'));
  return {
    url,
    read: async (what) => (await fetch(`${url}/${what}`)).json(),
    close: () => {
      process.removeListener('exit', end);
      end();
    },
  };
}

// Notes when each tool started: key of the call → times in ms.
class Runs {
  constructor() {
    this.byKey = new Map();
  }

  add(key, at) {
    this.byKey.set(key, [...(this.byKey.get(key) ?? []), at]);
  }
}

const agents = (model, receiver, script, log) => Object.fromEntries(apis.flatMap((api) => {
  const tools = [
    { name: 'fetch_value', description: 'Fetches a value.', input: { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] }, http: { method: 'POST', url: `${receiver.url}/value/{id}` } },
    { name: 'run_value', description: 'Makes a value.', input: { type: 'object' }, command: ['sh', script, log] },
  ];
  const llm = { runner: 'llm', model: `${api}-storm/steady`, prompt: 'You do as planned.', tools };
  return [[`storm-${api}`, { ...llm, async_questions: true, sub_agents: apis.map((one) => `leaf-${one}`) }], [`leaf-${api}`, llm]];
}));

// One request that is sent until the server, killed or not, has answered it.
const insist = (world, what, method, target, more) => eventually(what, async () => {
  try {
    const response = await world.request(method, target, more);
    return response.status < 500 && response.status !== 429 && response;
  } catch {
    return false;
  }
}, deadline);

async function allPages(world, target, list) {
  const found = [];
  for (let cursor = ''; cursor !== null;) {
    const { json } = await insist(world, target, 'GET', `${target}${target.includes('?') ? '&' : '?'}limit=200${cursor && `&cursor=${cursor}`}`);
    found.push(...json[list]);
    cursor = json.next_cursor;
  }
  return found;
}

// Answers whatever waits, in any order, until told to stop.
async function person(world, roll, state, progress) {
  while (!state.over) {
    const { json } = await insist(world, 'the questions that wait', 'GET', '/agent/questions?status=pending&limit=100');
    const waiting = json.questions.map((question) => [roll(), question]).sort(([a], [b]) => a - b).map(([, question]) => question);
    await Promise.all(waiting.map(async (question) => {
      const { status, text } = await insist(world, 'an answer to be taken', 'POST', `/agent/answer/${question.session_id}`,
        { body: { question_id: question.id, answer: answerTo(question), answered_by: 'the storm' } });
      if (status !== 200) state.problems.push(`an answer was refused: ${status} ${text}`);
      else progress();
    }));
    if (waiting.length === 0) await sleep(10);
  }
}

async function historyOf(world, session) {
  const events = [];
  for (let after = 0; ;) {
    const { json } = await insist(world, 'the history', 'GET', `/agent/session/${session}/events?limit=200&after=${after}`);
    events.push(...json.events);
    if (json.events.length < 200) return events;
    after = json.events.at(-1).seq;
  }
}

// What has not ended, in short.
async function leftOver(world) {
  const left = (await allPages(world, '/agent/sessions', 'sessions')).filter((session) => !settled(session));
  const [first] = left;
  return `${left.length} are left${first ? `, such as ${JSON.stringify(first)}\n${JSON.stringify((await historyOf(world, first.id)).slice(-8))}` : ''}`;
}

const settled = (session) => ['completed', 'failed', 'cancelled'].includes(session.status);

async function inBatches(items, size, each) {
  for (let i = 0; i < items.length; i += size) await Promise.all(items.slice(i, i + size).map(each));
}

test(`${count} sessions of model agents end as planned under ${kills} times kill -9, rate limits and lost connections`, { timeout: deadline + 60_000 }, async (t) => {
  const roll = dice(seed);
  const folder = mkdtempSync(path.join(tmpdir(), 'holdpoint-storm-'));
  const script = path.join(folder, 'run_value.sh');
  const log = path.join(folder, 'runs');
  writeFileSync(script, 'echo "$HOLDPOINT_TOOL_CALL $(date +%s%3N)" >> "$1"\necho "value:command-${HOLDPOINT_TOOL_CALL##*:}"\n');
  const state = { over: false, done: 0, killed: 0, problems: [] };

  // Kills come at random points of the work, so that they are under load however fast the machine is.
  const planned = sessionsOf(count);
  const children = planned.flatMap(({ payload }) => stepsOf(payload).flat()).flatMap(({ name, input }) => (name === 'spawn_agents' ? input.agents : []));
  const calls = [...planned, ...children].flatMap(({ payload }) => stepsOf(payload).flat());
  // What `progress` counts at the least: each http call, and each question.
  const work = calls.filter(({ name }) => name === 'fetch_value').length + calls.flatMap(({ input }) => input.questions ?? []).length;
  const moments = Array.from({ length: kills }, () => Math.floor(work * (0.02 + 0.8 * roll()))).sort((a, b) => a - b);
  let storming = Promise.resolve();
  let world;
  const killOnce = async () => {
    await sleep(roll() * 40);
    await world.crash();
    state.killed += 1;
    await world.restart();
  };
  const progress = () => {
    state.done += 1;
    while (moments.length > 0 && state.done >= moments[0]) {
      moments.shift();
      storming = storming.then(killOnce);
      storming.catch((error) => state.problems.push(String(error)));
    }
  };

  const runs = new Runs();
  const receiver = await startReceiver(({ path: target, headers }) => {
    runs.add(headers['idempotency-key'], Date.now());
    progress();
    return { status: 200, headers: { 'content-type': 'application/json' }, body: JSON.stringify({ value: `value:http-${target.split('/').at(-1)}` }) };
  });
  const model = await startModel();
  // A step that every kill hits is not to be given up.
  const service = { auth: 'none', models: { steady: 'steady-1' }, max_attempts: kills + 20 };
  world = await startWorld({
    agents: agents(model, receiver, script, log),
    limits: { requests_per_key_per_second: 100_000 },
    settings: {
      'llm.anthropic-storm': { api: 'anthropic', base_url: model.url, ...service },
      'llm.openai-storm': { api: 'openai', base_url: `${model.url}/v1`, ...service },
    },
  });
  try {
    const started = Date.now();
    const answering = person(world, roll, state, progress);
    const ids = new Map();  // run → session
    await inBatches(planned, 25, async ({ agent, payload }) => {
      const { status, json, text } = await insist(world, 'a trigger to be taken', 'POST', `/agent/webhook/${agent}`, { body: payload, headers: { 'idempotency-key': payload.run } });
      if (status !== 202 && status !== 200) throw new Error(`${status} ${text}`);
      ids.set(payload.run, json.session_id);
    });
    await eventually('all sessions to end', async () => {
      assert.deepEqual(state.problems, []);
      for (const status of ['running', 'pending_input']) {
        const { json } = await insist(world, 'the sessions', 'GET', `/agent/sessions?status=${status}&limit=1`);
        if (json.sessions.length > 0) return sleep(100, false);
      }
      return true;
    }, deadline).catch(async (error) => { throw new Error(`${error.message}, with ${state.killed} kills: ${await leftOver(world)}`); });
    await storming;
    state.over = true;
    await answering;
    assert.deepEqual(state.problems, []);
    assert.ok(state.killed >= 20, `only ${state.killed} kills`);
    const stormed = Date.now() - started;

    // All as planned, sub-sessions too.
    const sessions = await allPages(world, '/agent/sessions', 'sessions');
    const byId = new Map(sessions.map((session) => [session.id, session]));
    const wrong = planned.filter(({ payload }) => byId.get(ids.get(payload.run)).result?.text !== sumUp(payload.run, valuesOf(payload)));
    assert.equal(wrong.length, 0, wrong.slice(0, 5).map(({ payload }) => {
      const { id, status, result, error } = byId.get(ids.get(payload.run));
      return `${payload.plan} ${id} ${status} ${JSON.stringify(result)} ${error}\n  wanted ${sumUp(payload.run, valuesOf(payload))}`;
    }).join('\n'));
    assert.deepEqual(sessions.filter(({ status }) => status !== 'completed'), []);
    assert.equal(sessions.length, count + children.length);

    // Every tool has one result, and never started after that was kept.
    assert.ok(existsSync(log));
    for (const line of readFileSync(log, 'utf8').trimEnd().split('\n')) runs.add(line.split(' ')[0], Number(line.split(' ')[1]));
    const kept = new Map();  // session:…:call → when its result was kept
    await inBatches(sessions, 20, async ({ id }) => {
      for (const { type, at, data } of await historyOf(world, id)) {
        if (type !== 'tool_ran') continue;
        const key = `${id} ${data.tool_call_id}`;
        if (kept.has(key)) state.problems.push(`${key} has two results`);
        if (data.outcome !== 'done') state.problems.push(`${key} ended as ${data.outcome}`);
        kept.set(key, Date.parse(at));
      }
    });
    let again = 0;
    const met = new Set();
    for (const [key, times] of runs.byKey) {
      const [session, , call] = key.split(':');
      const name = `${session} ${call}`;
      if (met.has(name)) state.problems.push(`${name} ran under two keys`);
      met.add(name);
      again += times.length - 1;
      if (!kept.has(name)) state.problems.push(`${key} ran, and its history does not say so`);
      for (const at of times) if (at > kept.get(name)) state.problems.push(`${key} started ${at - kept.get(name)} ms after its result was kept`);
    }
    const wanted = calls.filter(({ name }) => name === 'fetch_value' || name === 'run_value').length;
    assert.equal(met.size, wanted);
    assert.deepEqual(state.problems.slice(0, 10), []);

    // Every request was valid, and there was trouble.
    const exchanges = await model.read('exchanges');
    const { complaints, conversations } = journalComplaints(exchanges);
    assert.equal(complaints.length, 0, complaints.slice(0, 5).join('\n'));
    assert.equal(conversations, count + children.length);
    const journal = await model.read('journal');
    const trouble = (kind) => journal.filter(({ chaosAction }) => chaosAction === kind).length;
    assert.ok(trouble('rateLimit') > 50 && trouble('disconnect') > 20, `${trouble('rateLimit')} and ${trouble('disconnect')} troubles`);
    assert.ok(journal.length > exchanges.length * 0.95 && journal.length <= exchanges.length, `${journal.length} of ${exchanges.length} requests in the journal`);
    assert.deepEqual(journal.filter(({ status, chaosAction }) => !chaosAction && status !== 200), []);
    t.diagnostic(`seed ${seed}: ${sessions.length} sessions in ${Math.round(stormed / 1000)} s, ${state.killed} kills; ${exchanges.length} requests, of which ${trouble('rateLimit')} were limited and ${trouble('disconnect')} cut off; ${wanted} tool calls, ${again} of them run again`);
  } finally {
    state.over = true;
    await storming.catch(() => {});
    await world.stop();
    model.close();
    await receiver.close();
    rmSync(folder, { recursive: true, force: true });
  }
});
