// Calls to the server, in the name of whoever opened the page.

export const me = JSON.parse(document.body.dataset.me);

// As the server judges: `admin` brings everything but asking and answering.
export const may = (scope) => me.kind === 'open' || me.scopes.includes(scope)
  || (me.scopes.includes('admin') && scope !== 'questions:ask' && scope !== 'questions:answer');

// What the server said instead of yes. `status` 0: it could not be reached, and whether it got the call is unknown.
export class Refusal extends Error {
  constructor(status, body) {
    super(body?.error?.message ?? (status === 0 ? 'the server cannot be reached' : `the server answered with ${status}`));
    this.status = status;
    this.code = body?.error?.code ?? '';
    this.field = body?.error?.field ?? '';
    this.body = body;
  }

  // The same call may work later, unchanged.
  get passing() { return this.status === 0 || this.status === 429 || this.status >= 500; }
}

// A text is sent as it is: it is JSON already.
const send = async (method, path, body, signal, parse = JSON.parse) => {
  const headers = { accept: 'application/json' };
  if (body !== undefined) headers['content-type'] = 'application/json';
  if (method !== 'GET' && me.csrf) headers['x-csrf-token'] = me.csrf;
  let response;
  try {
    response = await fetch(path, { method, headers, signal, body: typeof body === 'string' ? body : JSON.stringify(body) });
    const text = await response.text();
    return { response, json: text ? parse(text) : null };
  } catch (error) {
    if (signal?.aborted && signal.reason?.name !== 'TimeoutError') throw error;
    // A yes that broke off says nothing.
    return { response: !response || response.ok ? { ok: false, status: 0 } : response, json: null };
  }
};

// The answer's JSON, read by `parse`; throws Refusal. Gives up after 20 s.
export async function call(method, path, body, signal = AbortSignal.timeout(20_000), parse = JSON.parse) {
  let { response, json } = await send(method, path, body, signal, parse);
  if (response.status === 403 && json?.error?.code === 'csrf') {
    // The page has been open for long: what it was given has run out.
    const fresh = await send('GET', '/agent/me', undefined, signal);
    if (fresh.response.ok) Object.assign(me, fresh.json);
    ({ response, json } = await send(method, path, body, signal, parse));
  }
  if (response.ok) return json;
  if (response.status === 401) dispatchEvent(new Event('signed-out'));
  throw new Refusal(response.status, json);
}

export const get = (path, signal, parse) => call('GET', path, undefined, signal, parse);
export const post = (path, body, signal) => call('POST', path, body, signal);

// `path` with the given parameters; empty ones are left out.
export const withQuery = (path, parameters) => {
  const query = new URLSearchParams(Object.entries(parameters).filter(([, value]) => value !== null && value !== undefined && value !== ''));
  return query.size ? `${path}?${query}` : path;
};
