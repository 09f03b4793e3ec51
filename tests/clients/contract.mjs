// Holds responses against the OpenAPI document that the server itself serves.
import assert from 'node:assert/strict';
import addFormats from 'ajv-formats';
import Ajv2020 from 'ajv/dist/2020.js';

// Whatever is answered, no browser may make more of it than it says.
const onEveryResponse = { 'x-content-type-options': 'nosniff', 'referrer-policy': 'no-referrer', 'x-robots-tag': 'noindex' };

const mediaType = (header) => (header ?? '').split(';')[0].trim().toLowerCase();

export class Contract {
  #ajv = addFormats(new Ajv2020({ strict: true, strictTypes: false, strictRequired: false, allowUnionTypes: true, allErrors: true }));
  #operations = [];
  #compiled = new Map();

  // What all contracts of this process have seen.
  static seen = new Set();
  static seenCodes = new Set();

  constructor(document) {
    this.document = document;
    for (const [name, schema] of Object.entries(document.components.schemas)) this.#ajv.addSchema(this.#local(schema), name);
    for (const [path, item] of Object.entries(document.paths)) {
      const pattern = new RegExp(`^${path.replace(/[.]/g, '\\.').replace(/\{[^}]+\}/g, '[^/]+')}$`);
      for (const [method, operation] of Object.entries(item)) {
        this.#operations.push({ path, pattern, method: method.toUpperCase(), ...operation });
      }
    }
  }

  // The schemas refer to each other inside the document; to ajv each is a document of its own.
  #local(schema) {
    return JSON.parse(JSON.stringify(schema), (key, value) => (key === '$ref' ? value.replace('#/components/schemas/', '') : value));
  }

  #follow(node) {
    return node.$ref ? node.$ref.slice(2).split('/').reduce((at, key) => at[key], this.document) : node;
  }

  // A list of complaints, empty when `value` fits.
  complaints(schema, value) {
    const key = JSON.stringify(schema);
    if (!this.#compiled.has(key)) this.#compiled.set(key, this.#ajv.compile(this.#local(schema)));
    const validate = this.#compiled.get(key);
    return validate(value) ? [] : validate.errors.map((e) => `${e.instancePath || '/'} ${e.message} ${JSON.stringify(e.params)}`);
  }

  assertFits(schema, value, what) {
    const complaints = this.complaints(schema, value);
    assert.equal(complaints.length, 0, `${what} does not fit its schema:\n${complaints.join('\n')}\n${JSON.stringify(value)}`);
  }

  assertNamed(name, value) {
    this.assertFits({ $ref: `#/components/schemas/${name}` }, value, name);
  }

  operation(operationId) {
    const found = this.#operations.find((operation) => operation.operationId === operationId);
    assert.ok(found, `no operation is called ${operationId}`);
    return found;
  }

  // The one at this path, if there is one.
  operationAt(method, target) {
    const path = target.split('?')[0];
    return this.#operations.find((operation) => operation.method === method && operation.pattern.test(path));
  }

  operations() {
    return this.#operations;
  }

  example(operationId, name) {
    return structuredClone(this.operation(operationId).requestBody.content['application/json'].examples[name].value);
  }

  requestSchema(operationId) {
    return this.operation(operationId).requestBody.content['application/json'].schema;
  }

  // Fails unless status, content type, headers and body are documented for this path and method. Gives the response back.
  check(response) {
    const { status } = response;
    const path = response.path.split('?')[0];
    const what = `${response.method} ${response.path} → ${status}`;
    const here = this.#operations.filter((operation) => operation.pattern.test(path));
    const operation = here.find((candidate) => candidate.method === response.method);
    const name = operation?.operationId ?? 'elsewhere';
    if (!operation) {
      const expected = here.length > 0 ? 405 : 404;
      assert.equal(status, expected, `${what}, should be ${expected}: ${response.text}`);
    }
    const documented = (operation?.responses ?? this.document['x-elsewhere'])[status];
    assert.ok(documented, `${what}: this status is not documented: ${response.text ?? ''}`);
    const { content, headers = {} } = this.#follow(documented);

    for (const [header, { required, schema }] of Object.entries(headers)) {
      const text = [response.headers[header.toLowerCase()]].flat()[0];
      assert.ok(text !== undefined || !required, `${what} lacks the header ${header}`);
      if (text !== undefined) this.assertFits(schema, schema.type === 'integer' ? Number(text) : text, `${what}, ${header}`);
    }
    for (const [header, value] of Object.entries(onEveryResponse)) assert.equal(response.headers[header], value, `${what}, ${header}`);
    if (content) {
      const type = mediaType(response.headers['content-type']);
      assert.ok(content[type], `${what}: the content type "${type}" is not documented`);
      if (type === 'application/json') this.assertFits(content[type].schema, response.json, what);
      if (type === 'text/html') assert.match(response.text, /^<!doctype html>\n<html lang="en">[^]+<\/html>\n$/, what);
      Contract.seen.add(`${name} ${status} ${type}`);
    } else {
      assert.equal(response.text, '', `${what}: a body is not documented`);
      Contract.seen.add(`${name} ${status} -`);
    }
    if (response.json?.error) Contract.seenCodes.add(`${name} ${status} ${response.json.error.code}`);
    return response;
  }

  // What `list` gives for the content of each documented response, with the operation and the status before it.
  #each(list) {
    const all = [];
    const add = (name, responses) => {
      for (const [status, response] of Object.entries(responses)) {
        all.push(...list(this.#follow(response).content ?? { '-': {} }).map((entry) => `${name} ${status} ${entry}`));
      }
    };
    for (const { operationId, responses } of this.#operations) add(operationId, responses);
    add('elsewhere', this.document['x-elsewhere']);
    return all;
  }

  // Everything documented, as check() would record it.
  documented() {
    return this.#each((content) => Object.keys(content));
  }

  // The codes in the documented examples of errors.
  exampleCodes() {
    return this.#each((content) => {
      const { example, examples = {} } = content['application/json'] ?? {};
      return [example, ...Object.values(examples).map(({ value }) => value)].filter((value) => value?.error).map((value) => value.error.code);
    });
  }

  assertNotice(event, callback) {
    const { requestBody, parameters } = this.document.webhooks[event].post;
    this.assertFits(requestBody.content['application/json'].schema, JSON.parse(callback.raw), `the notice ${event}`);
    for (const { name, required, schema } of parameters) {
      const text = callback.headers[name.toLowerCase()];
      assert.ok(text !== undefined || !required, `the notice ${event} lacks the header ${name}`);
      if (text !== undefined) this.assertFits(schema, schema.type === 'integer' ? Number(text) : text, `${event}, ${name}`);
    }
  }
}
