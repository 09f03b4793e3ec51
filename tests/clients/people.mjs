// People with a browser, as far as HTTP shows: pages, their forms, and the cookie that a login is.
import assert from 'node:assert/strict';

export const form = (fields) => ({ body: new URLSearchParams(fields).toString(), type: 'application/x-www-form-urlencoded' });

// What a page's form holds already.
export function hiddenFields({ text }) {
  const fields = [...text.matchAll(/<input type="hidden" name="(\w+)" value="([^"]*)">/g)];
  assert.ok(fields.length > 0, text);
  return Object.fromEntries(fields.map(([, name, value]) => [name, value.replaceAll('&#39;', "'").replaceAll('&quot;', '"').replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&')]));
}

// What a page is made of, by its own word.
export function assetsOf({ text }) {
  const assets = [...text.matchAll(/(?:href|src)="(\/assets\/[^"]+)"/g)].map(([, target]) => target);
  assert.ok(assets.length > 0, text);
  return [...new Set(assets)];
}

// The login page's form, and the headers of the browser that fetched it.
export async function openLogin(proof, target = '/login') {
  const page = await proof.send(200, 'GET', target, { as: {} });
  const [cookie] = page.headers['set-cookie'];
  assert.match(cookie, /^holdpoint-login=[\w-]{43}; Path=\/login; HttpOnly; SameSite=Strict$/);
  return { fields: hiddenFields(page), as: { cookie: cookie.split(';')[0] } };
}

// The headers that every later request of this person carries.
export async function logIn(proof, name, password) {
  const { fields, as } = await openLogin(proof);
  const { headers } = await proof.send(303, 'POST', '/login', { as, ...form({ ...fields, name, password }) });
  const [cookie] = headers['set-cookie'];
  assert.match(cookie, /^holdpoint=[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax$/);
  return { cookie: cookie.split(';')[0] };
}
