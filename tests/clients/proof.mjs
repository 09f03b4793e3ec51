// A world whose every response, good or bad, must be one that the contract served at /openapi.json documents. In a closed
// world each call brings a key with the one scope that the contract asks for, unless it says who it is.
import assert from 'node:assert/strict';
import { Contract } from './contract.mjs';
import { startWorld } from './harness.mjs';

export const options = { timeout: 60_000 };
export const nobody = '019a8b3c-0000-7000-8000-000000000000';

// The usual code of a status, and the field to blame; those with several say which.
const codes = { 400: 'bad_json', 405: 'method_not_allowed', 413: 'too_large', 415: 'unsupported_type', 422: 'invalid' };
const fields = { 400: 'body', 413: 'body', 415: 'Content-Type' };

// A body as messages show it.
const brief = (body) => (Buffer.isBuffer(body) ? `${body.length} bytes` : (JSON.stringify(body) ?? '').slice(0, 300));

export class Proof {
  static async start(settings) {
    const world = await startWorld(settings);
    return new Proof(world, new Contract((await world.request('GET', '/openapi.json')).json));
  }

  constructor(world, contract) {
    this.world = world;
    this.contract = contract;
  }

  stop() {
    return this.world.stop();
  }

  async #credential(method, target) {
    const scopes = this.contract.operationAt(method === 'HEAD' ? 'GET' : method, target)?.['x-scopes'];
    return this.world.closed && scopes ? this.world.key(scopes.find((scope) => !scope.includes('{'))) : {};
  }

  // One request, held against the contract; `status` is what the test expects. `as`: headers that say who calls.
  async send(status, method, target, { body, as, headers = {}, ...more } = {}) {
    const who = as ?? await this.#credential(method, target);
    const response = await this.world.request(method, target, { body, headers: { ...who, ...headers }, ...more });
    assert.equal(response.status, status, `${method} ${target} ${brief(body)} → ${response.status} ${response.text}`);
    return this.contract.check(response);
  }

  call = async (status, method, target, body, more) => (await this.send(status, method, target, { body, ...more })).json;
  get = (status, target, more) => this.call(status, 'GET', target, undefined, more);
  post = (status, target, body, more) => this.call(status, 'POST', target, body, more);

  // A refusal in all its particulars: the code, and the field to blame, or none.
  refused = async (status, target, body, { code = codes[status], field = fields[status], method = 'POST', ...more } = {}) => {
    const { error } = await this.call(status, method, target, body, more);
    assert.deepEqual([error.code, error.field], [code, field], `${method} ${target} ${brief(body)} → ${error.message}`);
  };

  stream = async (target, headers = {}) => this.contract.check(
    await this.world.stream(target, { ...(await this.#credential('GET', target)), ...headers }),
  );

  settled = (id) => this.get(200, `/agent/session/${id}?wait=10`);
  finished = (id) => this.get(200, `/agent/session/${id}?wait=10&until=finished`);
  trigger = async (agent, payload = {}) => (await this.post(202, `/agent/webhook/${agent}`, payload)).session_id;

  // A session that waits for its answer.
  parked = async (agent, payload) => {
    const session = await this.settled(await this.trigger(agent, payload));
    assert.equal(session.status, 'pending_input', session.error);
    return session;
  };
}
