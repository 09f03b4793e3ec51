// Round trips over Slack: ask → message → click or form → answer → edited message, on the real server and a stand-in of
// Slack that Slack's own clients have judged.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { eventually, startWorld } from './harness.mjs';
import { ask, assertPending, colours, delivered, deploy, names, outcome, questionNow, settledLine } from './rounds.mjs';
import { startSlack } from './slack_standin.mjs';

const options = { timeout: 60_000 };
// Asks twice, one after the other, in the same channel.
const asksTwice = {
  async_questions: true,
  channels: ['slack:C0TWICE'],
  turn: ({ reason, state, resume }) => (reason === 'start' || state?.asked === 1
    ? { ask: { questions: [{ question: reason === 'start' ? 'First?' : 'Second?', options: ['Yes', 'No'] }] }, state: { asked: (state?.asked ?? 0) + 1 } }
    : { result: resume }),
};
const guarded = {
  async_questions: true,
  channels: ['slack:C0GUARDED'],
  answerers: ['ana'],
  turn: ({ reason, resume }) => (reason === 'start' ? { ask: { questions: [deploy] } } : { result: resume }),
};

const settingsOf = (slack, more = {}) => ({ slack: { api_url: slack.apiUrl, bot_token: slack.botToken, signing_secret: slack.signingSecret, users: ['U0ANA=ana'], ...more } });
const seen = ({ blocks }) => JSON.stringify(blocks);

// The message once it says how its only question ended, without anything left to click.
async function settledMessage(slack, world, message, id, ms = 10_000) {
  const line = settledLine(await outcome(world, id, ms));
  await eventually(`the message to say ${line}`, () => seen(message).includes(line) && slack.controls(message).length === 0, ms);
  return line;
}

// Begun first: what Slack does to a connection that has lasted is not what it does to a new one.
const byTheSocket = (async () => {
  const slack = await startSlack();
  slack.socketMode = true;
  const world = await startWorld({ settings: settingsOf(slack, { signing_secret: '', app_token: slack.appToken }) });
  return { slack, world };
})();
byTheSocket.catch(() => {});  // Told where it is awaited.

describe('slack', { concurrency: true }, () => {
  let slack;
  let world;
  let ana;
  let ben;
  before(async () => {
    slack = await startSlack();
    world = await startWorld({ agents: { twice: asksTwice, guarded }, settings: settingsOf(slack) });
    slack.deliverTo = () => world.address();
    [ana, ben] = [slack.person('U0ANA', 'ana'), slack.person('U0BEN', 'ben')];
  }, options);
  after(async () => {
    try {
      await world?.stop();
    } finally {
      await slack?.close();
    }
    const log = world.log.join('\n');
    for (const secret of [slack.botToken, slack.signingSecret, `${slack.url}/actions/`]) assert.ok(!log.includes(secret), 'a secret is in the log');
    // Whatever these tests did, Slack was sent nothing that it would refuse, and never too early.
    assert.deepEqual(slack?.refused.filter(({ args }) => args?.channel !== '#nowhere'), []);
    assert.deepEqual(slack?.hasty, []);
  }, options);
  const asked = async (channel, questions, more) => {
    const { ids, session } = await ask(world, `slack:${channel}`, questions, more);
    const [message] = await slack.take(channel.replace('#ops', 'C0OPS'));
    return { ids, session, message };
  };
  const ok = (acks) => acks.forEach(({ status, ms }) => {
    assert.equal(status, 200);
    assert.ok(ms < 3000, `acknowledged after ${ms} ms`);
  });

  test('a button answers, and the message says who did', options, async () => {
    const { message, ids: [id], session } = await asked('#ops', deploy);
    assert.match(seen(message), /Deploy build 118\?.*Goes live at once/);
    ok(await ana.press(message, 'Yes'));
    const line = await settledMessage(slack, world, message, id);
    assert.equal(line, 'Answered by ana (U0ANA): Yes');
    const question = await questionNow(world, id);
    assert.deepEqual([question.answered_via, question.selected], ['slack', ['Yes']]);
    const { status, result } = (await world.request('GET', `/agent/session/${session}?wait=10&until=finished`)).json;
    assert.deepEqual([status, result.answers[deploy.question]], ['completed', 'Yes']);
    const deliveries = await delivered(world, session);
    assert.deepEqual(deliveries.map(({ channel, event, status: end }) => [channel, event, end]).sort(), [['slack', 'question_pending', 'delivered'], ['slack', 'question_settled', 'delivered']]);
    // By the click itself, and by the outbox.
    assert.ok(message.edits.length <= 2);
  });

  test('a menu answers', options, async () => {
    const { message, ids: [id] } = await asked('C0MENU', { question: 'Which one?', options: ['a', 'b', 'c', 'd', 'e'] });
    ok(await ben.choose(message, ({ type }) => type === 'static_select', 'd'));
    assert.equal(await settledMessage(slack, world, message, id), 'Answered by ben (U0BEN): d');
  });

  test('several are chosen and then submitted', options, async () => {
    const { message, ids: [id] } = await asked('C0SEVERAL', colours);
    const boxes = ({ type }) => type === 'checkboxes' || type === 'multi_static_select';
    ok(await ana.choose(message, boxes, ['blue']));
    ok(await ana.choose(message, boxes, ['blue', 'red']));
    await assertPending(world, id);
    // What ana ticked is not what ben submits.
    ok(await ben.press(message, 'Submit'));
    await eventually('a word to ben', () => slack.notices.find(({ user, text }) => user === 'U0BEN' && /Choose an option/.test(text)));
    await assertPending(world, id);
    ok(await ana.press(message, 'Submit'));
    assert.equal(await settledMessage(slack, world, message, id), 'Answered by ana (U0ANA): red, blue');
  });

  test('own words go through a form', options, async () => {
    const { message, ids: [id] } = await asked('C0OWN', deploy);
    ok(await ben.press(message, 'Other…'));
    const view = await eventually('the form', () => slack.views.find(({ user, private_metadata: metadata }) => user === 'U0BEN' && metadata.includes(id)));
    await assertPending(world, id);
    const [acked] = await ben.submit(view, ['Only to *staging* <!channel> & tell @everyone\n']);
    assert.deepEqual([acked.status, acked.payload], [200, undefined]);
    const question = await outcome(world, id);
    assert.equal(question.answer, 'Only to *staging* <!channel> & tell @everyone');
    await settledMessage(slack, world, message, id);
    // A form that was still open when the question was settled.
    const [late] = await ben.submit(view, ['Too late']);
    assert.match(JSON.stringify(late.payload), /Too late: Answered by ben/);
    assert.equal((await questionNow(world, id)).answer, question.answer);
  });

  test('an empty form is sent back with what is wrong', options, async () => {
    const { message, ids: [id] } = await asked('C0EMPTY', names);
    ok(await ben.press(message, 'Answer…'));
    const view = await eventually('the form', () => slack.views.find(({ private_metadata: metadata }) => metadata.includes(id)));
    const [{ payload }] = await ben.submit(view, ['   ']);
    assert.equal(payload.response_action, 'errors');
    await assertPending(world, id);
    ok(await ben.submit(view, ['Holdpoint']));
    assert.equal(await settledMessage(slack, world, message, id), 'Answered by ben (U0BEN): Holdpoint');
  });

  test('cancel ends the request', options, async () => {
    const { message, ids, session } = await asked('C0CANCEL', [deploy, names]);
    ok(await ana.press(message, 'Cancel'));
    for (const id of ids) assert.equal((await outcome(world, id)).status, 'cancelled');
    await eventually('the message to say so', () => seen(message).split('Cancelled by ana (U0ANA)').length === 3 && slack.controls(message).length === 0);
    assert.equal((await world.request('GET', `/agent/session/${session}`)).json.status, 'cancelled');
  });

  test('three questions of one ask are answered one by one, in one message', options, async () => {
    const { message, ids: [first, second, third], session } = await asked('C0BATCH', [deploy, colours, names]);
    ok(await ana.press(message, 'No'));
    await eventually('the first answer to show', () => seen(message).includes('Answered by ana (U0ANA): No'));
    await assertPending(world, second, third);
    const controls = slack.controls(message).map(({ action_id: action }) => action);
    assert.ok(controls.includes('submit') && !controls.some((action) => action.startsWith('pick:')), `${controls}`);
    ok(await ben.choose(message, ({ type }) => type === 'checkboxes' || type === 'multi_static_select', ['green']));
    ok(await ben.press(message, 'Submit'));
    await eventually('the second answer to show', () => seen(message).includes('Answered by ben (U0BEN): green'));
    ok(await ana.press(message, 'Answer…'));
    const view = await eventually('the form', () => slack.views.find(({ private_metadata: metadata }) => metadata.includes(third)));
    ok(await ana.submit(view, ['Ada']));
    await settledMessage(slack, world, message, third);
    assert.deepEqual((await slack.take('C0BATCH')).length, 1);
    const { result } = (await world.request('GET', `/agent/session/${session}?wait=10&until=finished`)).json;
    assert.deepEqual(Object.values(result.answers), ['No', ['green'], 'Ada']);
    assert.ok(seen(message).includes('Answered by ana (U0ANA): No'));
  });

  test('a deadline takes the buttons away', options, async () => {
    const { message, ids: [id] } = await asked('C0EXPIRES', { ...deploy, default: 'No' }, { timeout: 2, on_timeout: 'default' });
    const lagging = structuredClone(message);
    assert.equal(await settledMessage(slack, world, message, id), 'Expired: nobody answered in time, so the default counts: No');
    ok(await ana.press(lagging, 'Yes'));
    await eventually('a word to ana', () => slack.notices.find(({ user, text }) => user === 'U0ANA' && /Too late: Expired/.test(text)));
  });

  test('the same click four times is one answer', options, async () => {
    const { message, ids: [id], session } = await asked('C0FOUR', deploy);
    const lagging = structuredClone(message);
    ok(await ana.press(lagging, 'Yes', { times: 4 }));
    assert.equal(await settledMessage(slack, world, message, id), 'Answered by ana (U0ANA): Yes');
    ok(await ana.press(lagging, 'Yes', { times: 4 }));
    const { events } = (await world.request('GET', `/agent/session/${session}/events`)).json;
    assert.equal(events.filter((event) => /answered/.test(JSON.stringify(event))).length, 1, JSON.stringify(events));
    const deliveries = await delivered(world, session);
    assert.equal(deliveries.filter(({ event }) => event === 'question_settled').length, 1);
  });

  test('a late click gets a private word and changes nothing', options, async () => {
    const { message, ids: [id] } = await asked('C0LATE', deploy);
    const lagging = structuredClone(message);
    ok(await ana.press(message, 'Yes'));
    const line = await settledMessage(slack, world, message, id);
    ok(await ben.press(lagging, 'No'));
    await eventually('a word to ben', () => slack.notices.find(({ user, text }) => user === 'U0BEN' && text === `Too late: ${line}.`));
    ok(await ben.press(lagging, 'Other…'));
    ok(await ben.press(lagging, 'Cancel'));
    assert.equal((await questionNow(world, id)).answered_by, 'ana (U0ANA)');
    assert.ok(seen(message).includes(line));
    assert.equal(slack.views.filter(({ private_metadata: metadata }) => metadata.includes(id)).length, 0);
  });

  test('an old message answers nothing that came after it', options, async () => {
    const { json: { session_id: session } } = await world.request('POST', '/agent/webhook/twice', { body: {} });
    const [first] = await slack.take('C0TWICE');
    const lagging = structuredClone(first);
    ok(await ana.press(first, 'Yes'));
    const [, second] = await slack.take('C0TWICE', 2);
    ok(await ben.press(lagging, 'No', { times: 2 }));
    await eventually('a word to ben', () => slack.notices.find(({ user, text }) => user === 'U0BEN' && /Too late: Answered by ana \(U0ANA\): Yes/.test(text)));
    const { questions } = (await world.request('GET', `/agent/questions?session=${session}`)).json;
    assert.deepEqual(questions.map(({ question, status }) => [question, status]).sort(), [['First?', 'answered'], ['Second?', 'pending']]);
    ok(await ben.press(second, 'No'));
    const { result } = (await world.request('GET', `/agent/session/${session}?wait=10&until=finished`)).json;
    assert.equal(result.answers['Second?'], 'No');
  });

  test('clicks that arrive in another order than the questions were asked answer their own', options, async () => {
    const older = await ask(world, 'slack:C0ORDER', { ...deploy, question: 'Older?' });
    await slack.take('C0ORDER');
    const newer = await ask(world, 'slack:C0ORDER', { ...deploy, question: 'Newer?' });
    const [first, second] = await slack.take('C0ORDER', 2);
    ok(await ana.press(second, 'No'));
    await assertPending(world, older.ids[0]);
    ok(await ana.press(first, 'Yes'));
    assert.deepEqual([(await outcome(world, older.ids[0])).answer, (await outcome(world, newer.ids[0])).answer], ['Yes', 'No']);
  });

  test('only those whom the agent lists may answer', options, async () => {
    await world.request('POST', '/agent/webhook/guarded', { body: {} });
    const [message] = await slack.take('C0GUARDED');
    const { questions } = (await world.request('GET', '/agent/questions')).json;
    const { id } = questions.find(({ agent_name: agent }) => agent === 'guarded');
    ok(await ben.press(message, 'Yes'));
    await eventually('a word to ben', () => slack.notices.find(({ user, text }) => user === 'U0BEN' && text === 'You are not among those who may answer this.'));
    ok(await ben.press(message, 'Cancel'));
    await eventually('another word to ben', () => slack.notices.find(({ user, text }) => user === 'U0BEN' && text === 'You may not cancel this request.'));
    // Whoever takes ana's name has not got her id.
    ok(await slack.person('U0EVE', 'ana').press(message, 'Yes'));
    await assertPending(world, id);
    ok(await ana.press(message, 'Yes'));
    assert.equal(await settledMessage(slack, world, message, id), 'Answered by ana (U0ANA): Yes');
  });

  test('a channel that wants no more is left alone for as long as it says, and no other waits for it', options, async () => {
    slack.limit('chat.postMessage', 'C0LIMITED', 3);
    const started = Date.now();
    const first = await ask(world, 'slack:C0LIMITED', { ...deploy, question: 'One?' });
    await eventually('the refusal', () => slack.calls.find(({ status, raw }) => status === 429 && raw.includes('C0LIMITED')));
    await ask(world, 'slack:C0LIMITED', { ...deploy, question: 'Two?' });
    const { message } = await asked('C0FREE', deploy);
    assert.ok(message && Date.now() - started < 2500, 'another channel had to wait');
    await slack.take('C0LIMITED', 2, 20_000);
    assert.ok(Date.now() - started >= 3000);
    assert.equal(slack.calls.filter(({ path, raw }) => path === '/api/chat.postMessage' && raw.includes('C0LIMITED')).length, 3);
    await delivered(world, first.session);
  });

  test('many asks in one channel all get there, at Slack\'s pace', options, async () => {
    slack.paced.add('C0PACED');
    await Promise.all(Array.from({ length: 5 }, (_, i) => ask(world, 'slack:C0PACED', { ...deploy, question: `Number ${i}?` })));
    await slack.take('C0PACED', 5, 40_000);
  });

  test('an edit that is put off is made later', options, async () => {
    const { message, ids: [id] } = await asked('C0LATEEDIT', deploy);
    slack.trouble('chat.update', 'C0LATEEDIT', { respond: () => ({ status: 503, body: 'upstream connect error' }) });
    ok(await ana.press(message, 'Yes'));
    await settledMessage(slack, world, message, id, 30_000);
  });

  for (const [channel, said] of [
    ['C0FAILS', { status: 503, body: { ok: false, error: 'service_unavailable' } }],
    ['C0FAILSTOO', { body: { ok: false, error: 'internal_error' } }],
    ['C0FAILSDUMBLY', { status: 500, body: '<html>oops</html>' }],
  ]) {
    test(`what Slack fails to take is sent again: ${JSON.stringify(said.body)}`, options, async () => {
      slack.trouble('chat.postMessage', channel, { respond: () => said });
      const { ids: [id] } = await ask(world, `slack:${channel}`, deploy);
      const [message] = await slack.take(channel, 1, 30_000);
      ok(await ana.press(message, 'Yes'));
      await settledMessage(slack, world, message, id);
    });
  }

  test('a slow answer of Slack is waited for, and no second message is sent meanwhile', options, async () => {
    slack.trouble('chat.postMessage', 'C0SLOW', { slow: 8000 });
    const { ids: [id], session } = await ask(world, 'slack:C0SLOW', deploy);
    const [message] = await slack.take('C0SLOW', 1, 20_000);
    ok(await ana.press(message, 'Yes'));
    await settledMessage(slack, world, message, id);
    assert.equal((await slack.take('C0SLOW')).length, 1);
    assert.deepEqual((await delivered(world, session)).map(({ attempts }) => attempts), [1, 1]);
  });

  test('an edit that is slow is not the last word', options, async () => {
    const { message, ids: [, second] } = await asked('C0OVERTAKEN', [deploy, { ...deploy, question: 'And test?' }]);
    slack.trouble('chat.update', 'C0OVERTAKEN', { slow: 3000 });
    ok(await ana.press(message, ({ action_id: action }, { block_id: block }) => action === 'pick:0' && !block.includes(second)));
    await eventually('the edit to be on its way', () => slack.calls.find(({ path, raw }) => path === '/api/chat.update' && raw.includes('C0OVERTAKEN')));
    ok(await ben.press(message, ({ action_id: action }, { block_id: block }) => action === 'pick:0' && block.includes(second)));
    await settledMessage(slack, world, message, second, 20_000);
    await delivered(world, (await questionNow(world, second)).session_id, 20_000);
    for (const line of ['Answered by ana (U0ANA): Yes', 'Answered by ben (U0BEN): Yes']) assert.ok(seen(message).includes(line), seen(message));
    assert.deepEqual(slack.controls(message), []);
  });

  test('a question that is answered while its message is on its way is settled there, too', options, async () => {
    slack.trouble('chat.postMessage', 'C0CROSSED', { slow: 2000 });
    const { ids: [id], session } = await ask(world, 'slack:C0CROSSED', deploy);
    await eventually('the message to be on its way', () => slack.calls.find(({ raw }) => raw.includes('C0CROSSED')));
    await world.request('POST', `/agent/answer/${session}`, { body: { answer: 'No', answered_by: 'eve' } });
    const [message] = await slack.take('C0CROSSED');
    await settledMessage(slack, world, message, id);
  });

  test('a question that is answered while its channel rests is asked there no more', options, async () => {
    slack.limit('chat.postMessage', 'C0RESTS', 2);
    const { session } = await ask(world, 'slack:C0RESTS', deploy);
    await eventually('the refusal', () => slack.calls.find(({ status, raw }) => status === 429 && raw.includes('C0RESTS')));
    await world.request('POST', `/agent/answer/${session}`, { body: { answer: 'No', answered_by: 'eve' } });
    await delivered(world, session, 20_000);
    const found = [...slack.messages.values()].filter(({ channel }) => channel === 'C0RESTS');
    assert.deepEqual(found.flatMap((message) => slack.controls(message)), []);
  });

  test('a message that Slack took without saying so is sent again, and both of them work', options, async () => {
    slack.trouble('chat.postMessage', 'C0LOST', { lose: true });
    const { ids: [id] } = await ask(world, 'slack:C0LOST', deploy);
    const [lost, known] = await slack.take('C0LOST', 2, 30_000);
    ok(await ana.press(known, 'Yes'));
    const line = await settledMessage(slack, world, known, id);
    // Nobody knows the other one's name; whoever clicks there is told, and it is settled by that.
    ok(await ben.press(lost, 'No'));
    await eventually('a word to ben', () => slack.notices.find(({ user, text }) => user === 'U0BEN' && text === `Too late: ${line}.`));
    await eventually('the lost message to be settled', () => seen(lost).includes(line) && slack.controls(lost).length === 0);
  });

  test('a channel that is not there is named, and asked again once it is mended', options, async () => {
    const { session } = await ask(world, 'slack:#nowhere', deploy);
    const delivery = await eventually('the attempt', async () => (await world.request('GET', `/agent/deliveries?session=${session}`)).json.deliveries.find(({ last_error: error }) => error));
    assert.equal(delivery.status, 'pending');
    assert.match(delivery.last_error, /#nowhere/);
  });

  test('text that looks like markup calls nobody', options, async () => {
    const { message } = await asked('C0MARKUP', { question: '<!channel> <@U0ANA> *bold* & `code`', options: ['<!here>', '@everyone'] });
    assert.ok(!/<!|<@/.test(message.text), message.text);
    ok(await ana.press(message, '<!here>'));
    await eventually('the answer to show', () => /Answered by ana \(U0ANA\): <!here>/.test(seen(message)));
  });
});

describe('slack, by Socket Mode', () => {
  let slack;
  let world;
  let ana;
  before(async () => {
    ({ slack, world } = await byTheSocket);
    ana = slack.person('U0ANA', 'ana');
    await slack.connected();
  }, options);
  after(async () => {
    try {
      await world?.stop();
    } finally {
      await slack?.close();
    }
    assert.deepEqual(slack?.refused, []);
    assert.ok(!world.log.join('\n').includes(slack.appToken), 'a secret is in the log');
  }, options);
  const round = async (channel, n = 1) => {
    const { ids: [id] } = await ask(world, `slack:${channel}`, deploy);
    const message = (await slack.take(channel, n)).at(-1);
    const acks = await ana.press(message, 'Yes', { times: 4 });
    assert.ok(acks.every(({ ms }) => ms < 3000));
    await settledMessage(slack, world, message, id);
  };

  test('clicks come over the socket, and each envelope is acknowledged once', options, async () => {
    await round('C0SOCKET');
    const { ids: [id] } = await ask(world, 'slack:C0FORM', names);
    const [message] = await slack.take('C0FORM');
    await ana.press(message, 'Answer…');
    const view = await eventually('the form', () => slack.views.find(({ private_metadata: metadata }) => metadata.includes(id)));
    const [refusal] = await ana.submit(view, [' ']);
    assert.equal(refusal.payload.response_action, 'errors');
    await ana.submit(view, ['Ada']);
    assert.equal((await outcome(world, id)).answer, 'Ada');
    const ids = slack.acks.map(({ envelope_id: envelope }) => envelope);
    assert.equal(new Set(ids).size, ids.length);
    assert.equal(ids.length, 7, 'four clicks, one that opens a form, two that send it');
  });

  test('when Slack says disconnect another connection takes over, and no click is lost between the two', options, async () => {
    const lasting = await slack.connected();
    await eventually('a connection that has lasted', () => Date.now() - lasting.openedAt > 10_500, 15_000);
    const { ids } = await ask(world, 'slack:C0BETWEEN', deploy);
    const [message] = await slack.take('C0BETWEEN');
    const old = await slack.disconnect({ reason: 'warning', hangUpAfter: 10_000 });
    assert.equal(old, lasting);
    // On its way when Slack said goodbye.
    const acked = await ana.press(message, 'Yes', { over: old });
    assert.equal(acked.length, 1);
    await outcome(world, ids[0]);
    const fresh = await slack.connected();
    assert.notEqual(fresh, old);
    assert.ok(fresh.openedAt - old.openedAt > 10_000);
    await round('C0AGAIN');
    await eventually('the old one to be closed by us', () => old.readyState === old.CLOSED, 5000);
  });

  test('a connection that breaks is made anew', options, async () => {
    const old = await slack.connected();
    old.terminate();
    await eventually('another connection', () => [...slack.sockets].some((ws) => ws !== old && ws.readyState === ws.OPEN), 15_000);
    await round('C0BROKEN');
    const { channels } = (await world.request('GET', '/agent/operations')).json;
    assert.deepEqual(channels.map(({ name, set_up: setUp, connection }) => [name, setUp, connection]),
      [['url', false, null], ['slack', true, 'connected'], ['discord', false, null], ['email', false, null]]);
  });

  test('two hundred clicks at once are each acknowledged within Slack\'s three seconds', options, async (t) => {
    const rounds = await Promise.all(Array.from({ length: 200 }, (_, i) => ask(world, 'slack:C0FLOOD', { ...deploy, question: `Number ${i}?` })));
    const messages = await slack.take('C0FLOOD', 200, 30_000);
    const acks = (await Promise.all(messages.map((message, i) => slack.person(`U${i}`, `person${i}`).press(message, 'Yes')))).flat();
    const slowest = Math.max(...acks.map(({ ms }) => ms));
    t.diagnostic(`the slowest took ${slowest} ms`);
    assert.ok(slowest < 3000, `the slowest took ${slowest} ms`);
    for (const { ids: [id] } of rounds) assert.equal((await outcome(world, id)).status, 'answered');
  });

  test('frames that nobody expects do no harm', options, async () => {
    const ws = await slack.connected();
    for (const text of ['', '{', '[]', 'null', '{"type":"hello"}', '{"type":"something_new","envelope_id":"x","payload":{}}', '{"type":"interactive"}', '{"envelope_id":"y","type":"interactive","payload":{"type":"block_actions"}}']) ws.send(text);
    ws.ping();
    await eventually('the good one to be acknowledged', () => slack.acks.some(({ envelope_id: id }) => id === 'y'));
    await round('C0FRAMES');
  });
});

describe('slack, when it matters', () => {
  let slack;
  let world;
  let ana;
  before(async () => {
    slack = await startSlack();
    world = await startWorld({ settings: settingsOf(slack) });
    slack.deliverTo = () => world.address();
    ana = slack.person('U0ANA', 'ana');
  }, options);
  after(async () => {
    try {
      await world?.stop();
    } finally {
      await slack?.close();
    }
    assert.deepEqual(slack?.refused, []);
  }, options);

  test('an answer outlives kill -9, and its message is edited by the next process', options, async () => {
    const trouble = slack.trouble('chat.update', 'C0CRASH', { times: Infinity, drop: true });
    const { session, ids: [id] } = await ask(world, 'slack:C0CRASH', deploy);
    const [message] = await slack.take('C0CRASH');
    // Not by a click, whose own message changes at once without the outbox.
    const { status } = await world.request('POST', `/agent/answer/${session}`, { body: { answer: 'Yes', answered_by: 'eve' } });
    assert.equal(status, 200);
    await world.crash();
    assert.ok(slack.controls(message).length > 0);
    trouble.times = 0;
    await world.restart();
    assert.equal(await settledMessage(slack, world, message, id, 30_000), 'Answered by eve: Yes');
  });

  test('an edit of a busy workspace waits as long as Slack says', options, async () => {
    const { ids: [id] } = await ask(world, 'slack:C0BUSY', deploy);
    const [message] = await slack.take('C0BUSY');
    slack.limit('chat.update', 'C0BUSY', 2);
    await ana.press(message, 'Yes');
    await settledMessage(slack, world, message, id, 20_000);
    assert.deepEqual(slack.hasty, []);
  });

  test('two hundred clicks at once are each acknowledged within Slack\'s three seconds', options, async (t) => {
    const rounds = await Promise.all(Array.from({ length: 200 }, (_, i) => ask(world, 'slack:C0LOAD', { ...deploy, question: `Number ${i}?` })));
    const messages = await slack.take('C0LOAD', 200, 30_000);
    const acks = (await Promise.all(messages.map((message, i) => slack.person(`U${i}`, `person${i}`).press(message, i % 2 ? 'Yes' : 'No')))).flat();
    assert.deepEqual(acks.filter(({ status }) => status !== 200), []);
    const slowest = Math.max(...acks.map(({ ms }) => ms));
    t.diagnostic(`the slowest took ${slowest} ms`);
    assert.ok(slowest < 3000, `the slowest took ${slowest} ms`);
    for (const { ids: [id] } of rounds) assert.equal((await outcome(world, id)).status, 'answered');
    await eventually('every message to be settled', () => messages.every((message) => slack.controls(message).length === 0), 40_000);
  });
});
