// A server with something of everything on it: requests of all kinds that wait, sessions that ended in every way, and a delivery that
// nobody takes.
import http from 'node:http';
import { once } from 'node:events';
import { eventually } from '../clients/harness.mjs';
import { password, startServer } from './world.mjs';

// One turn after the other by a program: asks, or fails, or ends, as its payload says.
const program = `
import json, sys
turn = json.load(sys.stdin)
payload = turn["payload"]
if payload.get("log"): print(payload["log"], file=sys.stderr)
if payload.get("error"): print(json.dumps({"error": payload["error"]}))
elif turn["reason"] == "start" and payload.get("ask"): print(json.dumps({"ask": payload["ask"], "state": payload.get("state")}))
else: print(json.dumps({"result": payload.get("result")}))
`;
export const programmed = { runner: 'command', command: ['python3', '-c', program], async_questions: true };

// Takes no callback. `url`: where it listens.
export async function startRefuser(status = 410) {
  const listener = http.createServer((request, response) => {
    request.resume();
    response.writeHead(status).end();
  });
  listener.listen(0, '127.0.0.1');
  await once(listener, 'listening');
  return {
    url: `http://127.0.0.1:${listener.address().port}`,
    stop() {
      listener.closeAllConnections();
      listener.close();
    },
  };
}

export const release = {
  header: 'Release',
  question: 'Roll version 4.2.0 out to all customers now?',
  options: [
    { label: 'All of them', description: 'Ten thousand machines in about twenty minutes', recommended: true },
    { label: 'One in ten', description: 'and ask me again tomorrow' },
    { label: 'Not now' },
  ],
};
export const context = { version: '4.2.0', commit: '9f8e7d6', canary: 'two hours in eu-west and us-east, no error' };
// What does not break at a space, and what is no text.
const unwieldy = { digest: '9f8e7d6c5b4a39281706f5e4d3c2b1a0'.repeat(4), recipients: { lists: ['all', 'board'], count: 1204 } };
const deploy = {
  questions: [
    { question: 'Deploy to which environment?', header: 'Environment', options: [{ label: 'staging', recommended: true }, 'production'], allow_other: false },
    { question: 'Which checks shall run first?', header: 'Checks', options: ['unit tests', 'smoke tests', 'load test'], multi_select: true },
    { question: 'A note for the deployment log?', header: 'Note' },
  ],
  context: { service: 'billing', version: '2.7.1' },
};

// Ends with a closed server where ana answers, vera looks on and root is an admin. What it gives names what is there.
export async function startScene() {
  const refuser = await startRefuser();
  const server = await startServer({
    agents: {
      'release-train': { question_timeout: 7200 },
      'support-desk': { question_timeout: 900, on_timeout: 'continue' },
      'deploy-approval': programmed,
      'night-watch': { question_timeout: 1500, question_callback: `${refuser.url}/hooks/night-watch` },
      'quarterly-newsletter-and-announcements': { question_timeout: 86_400, allow_cancel: false },
    },
    settings: '[outgoing]\nallow_private = ["127.0.0.0/8"]\n',
  });
  const stop = async () => {
    refuser.stop();
    await server.stop();
  };
  try {
    const scene = await fill(server);
    return { server, ...scene, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function fill(server) {
  const trigger = async (agent, payload) => (await server.call('POST', `/agent/webhook/${agent}`, payload)).session_id;
  const until = (session, status) => eventually(`${session} to be ${status}`, async () => {
    const found = await server.call('GET', `/agent/session/${session}`);
    return found.status === status && found;
  });
  const answer = (session, given, by) => server.call('POST', `/agent/answer/${session}`, { answer: given, answered_by: by });

  const answered = await server.ask({ question: 'Delete the 14 test accounts?', options: ['Yes', 'No'] }, {}, 'support-desk');
  const cancelled = await server.ask({ question: 'Restart the importer?', options: ['Yes', 'No'] });
  const dead = await server.ask({ question: 'The disk of db-3 is nearly full. Add another?', header: 'Disk', options: ['Add 200 GB', 'Leave it'] }, {}, 'night-watch');
  const several = await server.ask({ question: 'Which reports shall I send?', multi_select: true, options: ['Sales', 'Stock', 'Returns', 'Complaints', 'Forecast'] }, {}, 'support-desk');
  const free = await server.ask({ question: 'What shall the subject line of the autumn newsletter say?' }, unwieldy, 'quarterly-newsletter-and-announcements');
  const waiting = await server.ask(release, context, 'release-train');
  const link = {};
  for (const [name, { id }] of Object.entries({ answered, cancelled, several, free, waiting })) link[name] = await server.link(id, 'ana@example.org');
  await answer(answered.session, 'Yes', 'ben@example.org');
  await server.call('POST', `/agent/session/${cancelled.session}/cancel`, { reason: 'not needed any more' });
  await eventually('a dead delivery', async () => (await server.call('GET', '/agent/deliveries?status=dead')).deliveries.length > 0);

  const failed = await trigger('deploy-approval', { service: 'search', error: 'the registry refused the image: no such tag 9.9.9' });
  const done = await trigger('deploy-approval', { service: 'search', ask: deploy, state: { service: 'search' }, log: 'looking at 3 services', result: { deployed: true, environment: 'staging' } });
  const { questions } = await until(done, 'pending_input');
  await server.call('POST', `/agent/answer/${done}`, {
    answers: Object.fromEntries([['staging'], ['unit tests', 'smoke tests'], ['after lunch']].map((given, i) => [questions[i].id, given])), answered_by: 'ana',
  });
  const batch = await trigger('deploy-approval', { service: 'billing', ask: deploy, state: { service: 'billing' } });
  await until(batch, 'pending_input');
  await until(done, 'completed');
  await until(failed, 'failed');

  await server.closeUp();
  await server.addUser('ana', 'answerer');
  await server.addUser('vera', 'viewer');
  await server.addUser('root', 'admin');
  const batchQuestions = (await server.call('GET', `/agent/session/${batch}`)).questions.map(({ id }) => id);
  return { answered, cancelled, dead, several, free, waiting, link, failed, done, batch, batchQuestions };
}

export async function logIn(page, server, name, next = '/') {
  await page.goto(`${server.url}/login?next=${encodeURIComponent(next)}`);
  await page.getByLabel('Name').fill(name);
  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: 'Log in' }).click();
  await page.waitForURL((url) => url.pathname === next.split(/[?#]/)[0]);
}

// Until a page with script has shown what it has to show, and says that it is live.
export async function settled(page) {
  await page.locator('#lamp.live').waitFor();
  await page.waitForFunction(() => document.querySelector('#content')?.children.length && !document.querySelector('.skeleton'));
}
