// Round trips over Discord: ask → message → click or form → answer → edited message, on the real server and a stand-in
// of Discord that keeps its rate limits and refuses what Discord's types and limits refuse.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { startDiscord } from './discord_standin.mjs';
import { eventually, startWorld } from './harness.mjs';
import { ask, assertPending, colours, delivered, deploy, names, outcome, questionNow, settledLine } from './rounds.mjs';

const options = { timeout: 60_000 };
const [anaId, benId] = ['80351110224678912', '80351110224678913'];
const channel = (n) => `15000000000000${String(n).padStart(4, '0')}`;
const guarded = {
  async_questions: true,
  channels: [`discord:${channel(900)}`],
  answerers: ['ana'],
  turn: ({ reason, resume }) => (reason === 'start' ? { ask: { questions: [deploy] } } : { result: resume }),
};
const settingsOf = (discord) => ({ discord: { api_url: discord.apiUrl, bot_token: discord.botToken, public_key: discord.publicKey, users: [`${anaId}=ana`] } });
const unescape = (text) => text.replace(/\\([!-/:-@[-`{-~])/g, '$1');

describe('discord', { concurrency: true }, () => {
  let discord;
  let world;
  let ana;
  let ben;
  const seen = (message) => unescape(discord.textOf(message));
  before(async () => {
    discord = await startDiscord();
    world = await startWorld({ agents: { guarded }, settings: settingsOf(discord) });
    discord.deliverTo = () => world.address();
    [ana, ben] = [discord.person(anaId, 'ana'), discord.person(benId, 'ben')];
  }, options);
  after(async () => {
    try {
      await world?.stop();
    } finally {
      await discord?.close();
    }
    // Whatever these tests did, Discord was sent nothing that it would refuse, and never too early.
    assert.deepEqual(discord?.refused.filter(({ path }) => !path.includes('/99/')), []);
    assert.deepEqual(discord?.hasty, []);
  }, options);
  const asked = async (where, questions, more) => {
    const { ids, session } = await ask(world, `discord:${channel(where)}`, questions, more);
    const [message] = await discord.take(channel(where));
    return { ids, session, message };
  };
  const ok = (responses) => responses.forEach(({ status, ms, text }) => {
    assert.equal(status, 200, text);
    assert.ok(ms < 3000, `answered after ${ms} ms`);
  });
  const settledMessage = async (message, id, ms = 10_000) => {
    const line = settledLine(await outcome(world, id, ms));
    await eventually(`the message to say ${line}`, () => seen(message).includes(line) && discord.controls(message).length === 0, ms);
    return line;
  };
  const word = (user, pattern) => eventually(`a word to ${user}: ${pattern}`, () => discord.notices.find((notice) => notice.user === user && pattern.test(unescape(notice.text))));

  test('a button answers, and the message says who did at once', options, async () => {
    const { message, ids: [id], session } = await asked(1, deploy);
    assert.match(seen(message), /Deploy build 118\?[^]*Goes live at once/);
    ok(await ana.press(message, 'Yes'));
    assert.ok(seen(message).includes(`Answered by ana (${anaId}): Yes`), 'it takes no second call');
    const question = await questionNow(world, id);
    assert.deepEqual([question.answered_via, question.answered_by, question.selected], ['discord', `ana (${anaId})`, ['Yes']]);
    await settledMessage(message, id);
    const { status, result } = (await world.request('GET', `/agent/session/${session}?wait=10&until=finished`)).json;
    assert.deepEqual([status, result.answers[deploy.question]], ['completed', 'Yes']);
    const deliveries = await delivered(world, session);
    assert.deepEqual(deliveries.map(({ channel: to, event, status: end }) => [to, event, end]).sort(), [['discord', 'question_pending', 'delivered'], ['discord', 'question_settled', 'delivered']]);
  });

  test('a select answers', options, async () => {
    const { message, ids: [id] } = await asked(2, { question: 'Which one?', options: ['a', 'b', 'c', 'd', 'e'] });
    ok(await ben.choose(message, ({ type }) => type === 3, 'd'));
    assert.equal(await settledMessage(message, id), `Answered by ben (${benId}): d`);
  });

  const formOf = (id) => eventually('the form', () => discord.modals.find(({ custom_id: form }) => form.includes(id)));

  test('several are chosen in a form', options, async () => {
    const { message, ids: [id] } = await asked(3, { ...colours, allow_other: false });
    ok(await ana.press(message, 'Choose…'));
    const form = await formOf(id);
    await assertPending(world, id);
    ok(await ana.submit(form, [['blue', 'red']]));
    assert.equal(await settledMessage(message, id), `Answered by ana (${anaId}): red, blue`);
  });

  test('own words go through a form', options, async () => {
    const { message, ids: [id] } = await asked(4, deploy);
    ok(await ben.press(message, 'Other…'));
    const form = await formOf(id);
    await assertPending(world, id);
    ok(await ben.submit(form, ['Only to *staging* @everyone <@123> & `x`\n']));
    assert.equal((await outcome(world, id)).answer, 'Only to *staging* @everyone <@123> & `x`');
    await settledMessage(message, id);
    // A form that was still open when the question was settled.
    ok(await ben.submit(form, ['Too late']));
    await word(benId, /^Too late: Answered by ben/);
  });

  test('an empty form is refused, and the question waits', options, async () => {
    const { message, ids: [id] } = await asked(5, names);
    ok(await ben.press(message, 'Answer…'));
    const form = await formOf(id);
    ok(await ben.submit(form, ['   ']));
    await assertPending(world, id);
    ok(await ben.submit(form, ['Holdpoint']));
    assert.equal(await settledMessage(message, id), `Answered by ben (${benId}): Holdpoint`);
  });

  test('cancel asks back, and then ends the request', options, async () => {
    const { message, ids, session } = await asked(6, [deploy, names]);
    ok(await ana.press(message, (part) => /cancel/i.test(part.label ?? '')));
    const doubt = await eventually('the question back', () => discord.notices.findLast(({ user, message: own }) => user === anaId && own && JSON.stringify(own.components).includes(':y')));
    await assertPending(world, ...ids);
    ok(await ana.press(doubt.message, (part) => part.custom_id.endsWith(':y')));
    for (const id of ids) assert.equal((await outcome(world, id)).status, 'cancelled');
    await eventually('the message to say so', () => seen(message).split(`Cancelled by ana (${anaId})`).length === 3 && discord.controls(message).length === 0);
    assert.equal((await world.request('GET', `/agent/session/${session}`)).json.status, 'cancelled');
    assert.deepEqual(discord.controls(doubt.message), []);
  });

  test('three questions of one ask are answered one by one, in one message', options, async () => {
    const { message, ids: [first, second, third], session } = await asked(7, [deploy, { ...colours, allow_other: false }, names]);
    ok(await ana.press(message, 'No'));
    await outcome(world, first);
    await eventually('the first answer to show', () => seen(message).includes(`Answered by ana (${anaId}): No`));
    await assertPending(world, second, third);
    assert.ok(!discord.controls(message).some(({ custom_id: control }) => control.includes(first)));
    ok(await ben.press(message, 'Choose…'));
    ok(await ben.submit(await formOf(second), [['green']]));
    ok(await ana.press(message, 'Answer…'));
    ok(await ana.submit(await formOf(third), ['Ada']));
    await settledMessage(message, third);
    assert.equal((await discord.take(channel(7))).length, 1);
    const { result } = (await world.request('GET', `/agent/session/${session}?wait=10&until=finished`)).json;
    assert.deepEqual(Object.values(result.answers), ['No', ['green'], 'Ada']);
    for (const line of [`Answered by ana (${anaId}): No`, `Answered by ben (${benId}): green`]) assert.ok(seen(message).includes(line));
  });

  test('a deadline takes the buttons away', options, async () => {
    const { message, ids: [id] } = await asked(8, deploy, { timeout: 2 });
    const lagging = structuredClone(message);
    assert.equal(await settledMessage(message, id), 'Expired: nobody answered in time');
    ok(await ana.press(lagging, 'Yes'));
    await word(anaId, /^Too late: Expired: nobody answered in time\.$/);
  });

  test('the same click four times is one answer', options, async () => {
    const { message, ids: [id], session } = await asked(9, deploy);
    const lagging = structuredClone(message);
    ok(await ana.press(lagging, 'Yes', { times: 4 }));
    assert.equal(await settledMessage(message, id), `Answered by ana (${anaId}): Yes`);
    ok(await ana.press(lagging, 'Yes', { times: 4 }));
    const deliveries = await delivered(world, session);
    assert.equal(deliveries.filter(({ event }) => event === 'question_settled').length, 1);
    assert.equal((await questionNow(world, id)).answered_by, `ana (${anaId})`);
  });

  test('a late click gets a private word and changes nothing', options, async () => {
    const { message, ids: [id] } = await asked(10, deploy);
    const lagging = structuredClone(message);
    ok(await ana.press(message, 'Yes'));
    const line = await settledMessage(message, id);
    ok(await ben.press(lagging, 'No'));
    await word(benId, /^Too late: Answered by ana \(\d+\): Yes\.$/);
    ok(await ben.press(lagging, 'Other…'));
    ok(await ben.press(lagging, 'Cancel'));
    assert.equal((await questionNow(world, id)).answered_by, `ana (${anaId})`);
    assert.ok(seen(message).includes(line));
    assert.ok(!discord.modals.some(({ custom_id: form }) => form.includes(id)));
  });

  test('clicks that arrive in another order than the questions were asked answer their own', options, async () => {
    const older = await asked(11, { ...deploy, question: 'Older?' });
    const newer = await ask(world, `discord:${channel(11)}`, { ...deploy, question: 'Newer?' });
    const [, second] = await discord.take(channel(11), 2);
    const lagging = structuredClone(older.message);
    ok(await ana.press(older.message, 'Yes'));
    ok(await ben.press(lagging, 'No', { times: 4 }));
    await assertPending(world, newer.ids[0]);
    ok(await ana.press(second, 'No'));
    assert.deepEqual([(await outcome(world, older.ids[0])).answer, (await outcome(world, newer.ids[0])).answer], ['Yes', 'No']);
  });

  test('only those whom the agent lists may answer', options, async () => {
    await world.request('POST', '/agent/webhook/guarded', { body: {} });
    const [message] = await discord.take(channel(900));
    const { id } = (await world.request('GET', '/agent/questions')).json.questions.find(({ agent_name: agent }) => agent === 'guarded');
    ok(await ben.press(message, 'Yes'));
    await word(benId, /^You are not among those who may answer this\.$/);
    ok(await discord.person('80351110224678999', 'ana').press(message, 'Yes'));
    await assertPending(world, id);
    ok(await ana.press(message, 'Yes'));
    assert.equal(await settledMessage(message, id), `Answered by ana (${anaId}): Yes`);
  });

  test('a channel that wants no more is left alone for as long as it says, and no other waits for it', options, async () => {
    discord.limit('POST', channel(20), 2.5);
    const started = Date.now();
    await ask(world, `discord:${channel(20)}`, { ...deploy, question: 'One?' });
    await eventually('the refusal', () => discord.calls.find(({ status, path }) => status === 429 && path.includes(channel(20))));
    await ask(world, `discord:${channel(20)}`, { ...deploy, question: 'Two?' });
    await asked(21, deploy);
    assert.ok(Date.now() - started < 2400, 'another channel had to wait');
    await discord.take(channel(20), 2, 20_000);
    assert.ok(Date.now() - started >= 2500);
  });

  test('the bucket that Discord\'s headers describe is never overdrawn', options, async () => {
    await Promise.all(Array.from({ length: 8 }, (_, i) => ask(world, `discord:${channel(22)}`, { ...deploy, question: `Number ${i}?` })));
    await discord.take(channel(22), 8, 40_000);
    const refusals = discord.calls.filter(({ status, path }) => status === 429 && path.includes(channel(22))).length;
    assert.ok(refusals <= 3, `${refusals} calls were refused`);
  });

  test('what Discord fails to take is sent again', options, async () => {
    discord.trouble('POST', channel(23), { respond: () => ({ status: 502, body: '<html>bad gateway</html>' }) });
    const { ids: [id] } = await ask(world, `discord:${channel(23)}`, deploy);
    const [message] = await discord.take(channel(23), 1, 30_000);
    discord.trouble('PATCH', channel(23), { respond: () => ({ status: 500, body: { message: '500: Internal Server Error', code: 0 } }) });
    ok(await ana.press(message, 'Yes'));
    await settledMessage(message, id);
  });

  test('a slow answer of Discord is waited for', options, async () => {
    discord.trouble('POST', channel(24), { slow: 8000 });
    const { ids: [id], session } = await ask(world, `discord:${channel(24)}`, deploy);
    const [message] = await discord.take(channel(24), 1, 20_000);
    ok(await ana.press(message, 'Yes'));
    await settledMessage(message, id);
    assert.deepEqual((await delivered(world, session)).map(({ attempts }) => attempts), [1, 1]);
  });

  test('an edit that is slow is not the last word', options, async () => {
    const { message, ids: [first, second], session } = await asked(26, [deploy, { ...deploy, question: 'And test?' }]);
    discord.trouble('PATCH', channel(26), { slow: 3000 });
    const pick = (id) => (part) => part.custom_id === `hp:${id}:o:0`;
    ok(await ana.press(message, pick(first)));
    await eventually('the edit to be on its way', () => discord.calls.find(({ method, path }) => method === 'PATCH' && path.includes(channel(26))));
    ok(await ben.press(message, pick(second)));
    await delivered(world, session, 20_000);
    for (const line of [`Answered by ana (${anaId}): Yes`, `Answered by ben (${benId}): Yes`]) assert.ok(seen(message).includes(line), seen(message));
    assert.deepEqual(discord.controls(message), []);
  });

  test('a question that is answered while its message is on its way is settled there, too', options, async () => {
    discord.trouble('POST', channel(27), { hold: 2000 });
    const { ids: [id], session } = await ask(world, `discord:${channel(27)}`, deploy);
    const [message] = await discord.take(channel(27));
    await world.request('POST', `/agent/answer/${session}`, { body: { answer: 'No', answered_by: 'eve' } });
    await settledMessage(message, id);
  });

  test('a message that Discord took without saying so is not sent twice', options, async () => {
    discord.trouble('POST', channel(25), { lose: true });
    const { ids: [id], session } = await ask(world, `discord:${channel(25)}`, deploy);
    const [message] = await discord.take(channel(25));
    await eventually('the second attempt', () => discord.calls.filter(({ method, path }) => method === 'POST' && path.includes(channel(25))).length >= 2, 30_000);
    assert.equal((await discord.take(channel(25))).length, 1);
    await eventually('the delivery', async () => (await world.request('GET', `/agent/deliveries?session=${session}`)).json.deliveries[0].status === 'delivered');
    // Answered elsewhere: only the edit can tell them here.
    await world.request('POST', `/agent/answer/${session}`, { body: { answer: 'No', answered_by: 'cy' } });
    assert.equal(await settledMessage(message, id), 'Answered by cy: No');
  });

  test('a channel that is not there is named', options, async () => {
    const { session } = await ask(world, 'discord:99', deploy);
    const delivery = await eventually('the attempt', async () => (await world.request('GET', `/agent/deliveries?session=${session}`)).json.deliveries.find(({ last_error: error }) => error));
    assert.equal(delivery.status, 'pending');
    assert.match(delivery.last_error, /channel/);
  });
});

describe('discord, when it matters', () => {
  let discord;
  let world;
  let ana;
  before(async () => {
    discord = await startDiscord();
    world = await startWorld({ settings: settingsOf(discord) });
    discord.deliverTo = () => world.address();
    ana = discord.person(anaId, 'ana');
  }, options);
  after(async () => {
    try {
      await world?.stop();
    } finally {
      await discord?.close();
    }
    assert.deepEqual(discord?.refused, []);
  }, options);

  test('an answer outlives kill -9, and its message is edited by the next process', options, async () => {
    const trouble = discord.trouble('PATCH', channel(1), { times: Infinity, drop: true });
    const { ids: [id] } = await ask(world, `discord:${channel(1)}`, deploy);
    const [message] = await discord.take(channel(1));
    // As if our answer had not reached them: Discord shows the message as it was.
    const [{ status }] = await ana.press(message, 'Yes');
    assert.equal(status, 200);
    message.components = message.edits.at(0).components;
    await world.crash();
    trouble.times = 0;
    await world.restart();
    const line = settledLine(await outcome(world, id));
    await eventually('the edit', () => unescape(discord.textOf(message)).includes(line) && discord.controls(message).length === 0, 30_000);
  });

  test('a message that was on its way at kill -9 is not sent twice', options, async () => {
    discord.trouble('POST', channel(3), { hold: 3000 });
    const { ids: [id], session } = await ask(world, `discord:${channel(3)}`, deploy);
    const [message] = await discord.take(channel(3));
    await world.crash();
    await world.restart();
    await eventually('the delivery', async () => (await world.request('GET', `/agent/deliveries?session=${session}`)).json.deliveries[0].status === 'delivered', 60_000);
    assert.equal((await discord.take(channel(3))).length, 1);
    await world.request('POST', `/agent/answer/${session}`, { body: { answer: 'No', answered_by: 'eve' } });
    await outcome(world, id);
    await eventually('the edit', () => discord.controls(message).length === 0);
  });

  test('two hundred clicks at once are each answered within Discord\'s three seconds', options, async (t) => {
    Object.assign(discord, { perBucket: 1000, per: 1000 });
    const rounds = await Promise.all(Array.from({ length: 200 }, (_, i) => ask(world, `discord:${channel(2)}`, { ...deploy, question: `Number ${i}?` })));
    const messages = await discord.take(channel(2), 200, 30_000);
    const responses = (await Promise.all(messages.map((message, i) => discord.person(String(9000 + i), `person${i}`).press(message, i % 2 ? 'Yes' : 'No')))).flat();
    assert.deepEqual(responses.filter(({ status }) => status !== 200), []);
    const slowest = Math.max(...responses.map(({ ms }) => ms));
    t.diagnostic(`the slowest took ${slowest} ms`);
    assert.ok(slowest < 3000, `the slowest took ${slowest} ms`);
    for (const { ids: [id] } of rounds) assert.equal((await outcome(world, id)).status, 'answered');
  });
});
