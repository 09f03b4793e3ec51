import path from 'node:path';
import { eventually, startReceiver, startWorld } from '../clients/harness.mjs';
import { openTab, startBrowser } from './world.mjs';
const demo = (script) => ({ runner: 'command', command: ['python3', path.resolve('../../tools/demo/agents', script)], async_questions: true });
const receiver = await startReceiver(({ path: t }) => (t === '/dead' ? { status: 410 } : {}));
let n = 0;
const world = await startWorld({ agents: {
  'deploy-approval': { ...demo('deploy_approval.py'), question_callback: `${receiver.url}/x`, callback_events: ['question_pending', 'question_settled', 'session_completed'] },
  'nightly-report': { async_questions: true, question_callback: `${receiver.url}/dead`, turn: (t) => t.reason === 'start' ? (n++ < 2 ? { error: 'the index is locked by another process', retry: true } : { ask: { questions: [{ question: 'Roll version 4.2.0 out to all customers now?\nThe canary has run for two hours.', header: 'Release', options: ['All of them', 'One in ten', 'Not now'] }] }, state: { step: 2, list: Array.from({ length: 250 }, (_, i) => ({ i, name: `row ${i}` })) } }) : { error: 'the warehouse answered 503 Service Unavailable and would not take the report', retry: false } },
  many: { turn: (t) => t.turn < 400 ? { continue: true } : { result: 'done' } },
} });
const call = async (m, t, body) => { const r = await world.request(m, t, { body }); if (r.status >= 300) throw new Error(`${t} ${r.status} ${r.text}`); return r.json; };
const start = async (a, p) => (await call('POST', `/agent/webhook/${a}`, p)).session_id;
const deploy = await start('deploy-approval', { service: 'shop', version: '4.2.0', commit: '9f8e7d6c', changes: ['checkout', 'search'] });
const { questions } = await call('GET', `/agent/session/${deploy}?wait=20`);
const report = await start('nightly-report', { day: '2026-11-16' });
const waiting = await start('deploy-approval', { service: 'billing', version: '1.0.1' });
await call('POST', `/agent/answer/${deploy}`, { question_id: questions[0].id, answer: 'staging', answered_by: 'ana' });
await call('POST', `/agent/answer/${deploy}`, { question_id: questions[1].id, answer: ['unit tests', 'load test'], answered_by: 'ben' });
await call('GET', `/agent/session/${report}?wait=20`);
await new Promise((r) => setTimeout(r, 3000));
await call('POST', `/agent/answer/${deploy}`, { question_id: questions[2].id, answer: 'after lunch, when everybody is back at their desk', answered_by: 'ana' });
await call('POST', `/agent/answer/${report}`, { answer: 'One in ten', answered_by: 'ana' });
await call('POST', `/agent/session/${waiting}/message`, { message: { hurry: true, by: 'noon' } });
const many = await start('many', {});
await call('GET', `/agent/session/${many}?wait=50&until=finished`);
for (const id of [deploy, report]) await call('GET', `/agent/session/${id}?wait=20&until=finished`);
const browser = await startBrowser();
const looks = { l1280: { viewport: { width: 1280, height: 900 } }, d1024: { colorScheme: 'dark', viewport: { width: 1024, height: 900 } }, p390: { viewport: { width: 390, height: 800 }, isMobile: true, hasTouch: true } };
const only = process.argv[2];
for (const [look, options] of Object.entries(looks)) {
  if (only && !look.includes(only)) continue;
  const tab = await openTab(browser, options);
  const real = await world.request('GET', `/agent/session/${deploy}/record`);
  if (real.status === 404) await tab.page.route('**/record', async (route) => route.fulfill({ json: { id: '', payload: { service: 'shop', version: '4.2.0', nested: { a: [1, 2, 3], b: null, c: true } }, state: { list: Array.from({ length: 250 }, (_, i) => ({ i })) }, resume: null, messages: [], children: [], may_cancel: true, may_retry: true, may_message: true } }));
  for (const [name, id] of Object.entries({ deploy, report, waiting, many })) {
    await tab.page.goto(`${world.address()}/session/${id}`);
    await tab.page.locator('.story .row').first().waitFor();
    await tab.page.screenshot({ path: `/tmp/session/${name}-${look}.png`, fullPage: name !== 'many' });
    const w = await tab.page.evaluate(() => document.documentElement.scrollWidth);
    if (w > options.viewport.width) console.log('WIDE', name, look, w);
  }
  await tab.page.goto(`${world.address()}/sessions`);
  await tab.page.locator('main').waitFor();
  await tab.page.waitForTimeout(500);
  await tab.page.screenshot({ path: `/tmp/session/list-${look}.png` });
  await tab.page.goto(`${world.address()}/session/00000000-0000-7000-8000-000000000000`);
  await tab.page.locator('.state').waitFor();
  await tab.page.screenshot({ path: `/tmp/session/unknown-${look}.png` });
  console.log(look, tab.complaints.filter((c) => !c.includes('404')));
  await tab.close();
}
await browser.close(); await world.stop(); await receiver.close();
