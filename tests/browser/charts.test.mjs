// The figures' geometry and words, without a browser.
import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import { bars, labelRoom, stack, timeAxis, tookWords } from '../../src/web/charts.js';
import { askingWords, eventWords, targetWords, verdict } from '../../src/web/figures.js';
import { paced } from '../../src/web/pace.js';
import { curlFor, placeOf, quoted, readPayload } from '../../src/web/payload.js';

const bounds = [10, 60, 300, 900, 3600, 14_400];
const near = (a, b) => assert.ok(Math.abs(a - b) < 1e-6, `${a} is not ${b}`);
const sum = (numbers) => numbers.reduce((a, b) => a + b, 0);

test('a stacked bar is as wide as its counts, fills its line, and hides nobody', () => {
  assert.deepEqual(stack([1, 3, 0]), [25, 75, 0]);
  assert.deepEqual(stack([0, 0]), [0, 0]);
  const widths = stack([1, 10_000, 0, 2, 40_000], 2);
  assert.deepEqual([widths[0], widths[2], widths[3]], [2, 0, 2]);
  near(sum(widths), 100);
  near(widths[4] / widths[1], 4);
  // Raising one makes another too narrow, which is raised in turn.
  const close = stack([1, 51, 1948], 2.6);
  assert.deepEqual(close.slice(0, 2), [2.6, 2.6]);
  near(sum(close), 100);
});

test('the time axis is logarithmic, ends at the first bound that covers all, and keeps what is quicker than a second at its start', () => {
  const axis = timeAxis([{ times: [3, 1, 0, 0, 0, 0, 0], median_seconds: 4, p95_seconds: 59 }], bounds);
  assert.equal(axis.high, 60);
  assert.deepEqual(axis.ticks.map(({ seconds }) => seconds), [1, 10, 60]);
  near(axis.place(Math.sqrt(60)), 50);
  assert.deepEqual([axis.place(0.2), axis.place(1), axis.place(60), axis.place(1e9)], [0, 0, 100, 100]);
  const long = timeAxis([{ times: [0, 0, 0, 0, 0, 0, 1], median_seconds: 20_000, p95_seconds: 20_000 }], bounds);
  assert.equal(long.high, 86_400);
  assert.equal(timeAxis([{ times: [0, 0, 0, 0, 0, 0, 1], median_seconds: 1e6, p95_seconds: 1e6 }], bounds).high, 1e6);
  assert.equal(timeAxis([], bounds).high, 60);
});

test('bars stand between their bounds, the tallest is full, and the last goes to the end', () => {
  const times = [2, 4, 0, 0, 0, 0, 1];
  const axis = timeAxis([{ times, median_seconds: 30, p95_seconds: 20_000 }], bounds);
  const shapes = bars(times, bounds, axis);
  assert.deepEqual(shapes.map(({ count, height }) => [count, height]), [[2, 0.5], [4, 1], [1, 0.25]]);
  near(shapes[0].at + shapes[0].width, shapes[1].at);
  near(shapes[2].at, axis.place(14_400));
  near(shapes[2].at + shapes[2].width, 100);
  assert.deepEqual(shapes.map(tookWords),
    ['2 answers took less than 10 s', '4 answers took 10 s to 1 min', '1 answer took 4 h or longer']);
});

test('labels of the axis keep their distance, more so on narrow screens, and both ends have one', () => {
  const { ticks } = timeAxis([{ times: [0, 0, 0, 0, 0, 0, 1], median_seconds: 500_000, p95_seconds: 500_000 }], bounds);
  const room = labelRoom(ticks);
  assert.equal(room[0], 'always');
  assert.equal(room.at(-1), 'always');
  assert.ok(room.includes('wide'), room.join());
  for (const [kinds, least] of [[['always'], 15], [['always', 'wide'], 7]]) {
    const places = ticks.filter((_, i) => kinds.includes(room[i])).map(({ at }) => at);
    places.slice(1).forEach((at, i) => assert.ok(at - places[i] >= least, `${at} is too near ${places[i]}`));
  }
});

test('a channel is called what it is', () => {
  const channel = { set_up: true, delivered: 0, retrying: 0, dead: 0, last_delivered_at: null, last_error_at: null };
  const [early, late] = ['2026-11-16T10:00:00.000Z', '2026-11-16T11:00:00.000Z'];
  const word = (facts) => verdict({ ...channel, ...facts }).word;
  assert.equal(word({ set_up: false }), 'Not set up');
  assert.equal(word({ set_up: false, dead: 2 }), 'Not set up');
  assert.equal(word({}), 'Nothing sent yet');
  assert.equal(word({ delivered: 4, last_delivered_at: early }), 'Working');
  assert.equal(word({ delivered: 4, dead: 1, last_delivered_at: late, last_error_at: early }), 'Working');
  assert.equal(word({ delivered: 4, retrying: 1, last_delivered_at: late, last_error_at: early }), 'Retrying');
  assert.equal(word({ delivered: 4, retrying: 1, last_delivered_at: early, last_error_at: late }), 'Failing');
  assert.equal(word({ dead: 1, last_error_at: late }), 'Failing');
  assert.equal(word({ delivered: 4, last_delivered_at: early, last_error_at: late }), 'Working');
});

test('how often an agent asks is said in a sentence that fits the figures', () => {
  const figures = { sessions: 10, asked: 4, questions: 13, failed: 0, answered: 3, median_seconds: 125 };
  assert.deepEqual(askingWords(figures), ['Asked in 4 of 10 sessions, 1.3 questions a session.', 'Answered in 2 min 5 s at the median.']);
  assert.deepEqual(askingWords(undefined), ['No sessions yet.']);
  assert.deepEqual(askingWords({ ...figures, asked: 0, questions: 0, failed: 1 }), ['Asked in none of 10 sessions.', '1 session failed.']);
  assert.deepEqual(askingWords({ ...figures, sessions: 1, asked: 1, questions: 1, answered: 0, median_seconds: null }),
    ['Asked in 1 of 1 session, 1 question a session.', 'No answers yet.']);
  assert.equal(targetWords('slack:#ops'), 'Slack #ops');
  assert.equal(targetWords('email:a:b@example.org'), 'Email a:b@example.org');
  assert.equal(eventWords('question_pending'), 'Question pending');
});

test('a payload is sent as it was typed, or refused with the place where it stops being JSON', () => {
  assert.deepEqual(readPayload('{"n": 12345678901234567890}'), { text: '{"n": 12345678901234567890}' });
  assert.deepEqual(readPayload(' \n'), { text: '{}' });
  for (const wrong of ['[1]', '"x"', 'null', '7']) assert.match(readPayload(wrong).complaint, /must be a JSON object/);
  assert.match(readPayload('{"a": 1,\n "b" 2}').complaint, /^This is not JSON \(line 2, column 6\): /);
  assert.match(readPayload('{').complaint, /^This is not JSON/);
  assert.deepEqual(placeOf('JSON.parse: expected x at line 3 column 7 of the JSON data', ''), { line: 3, column: 7 });
  assert.equal(placeOf('JSON Parse error: Unexpected EOF', '{'), null);
});

test('the curl command survives quotes, and names a key only where one is needed', () => {
  assert.equal(quoted("it's"), `'it'\\''s'`);
  const call = { origin: 'http://h:1', agent: 'write-poem', text: `{"a": "it's $HOME"}` };
  assert.equal(curlFor({ ...call, open: true }),
    `curl -H 'Content-Type: application/json' \\\n  -d '{"a": "it'\\''s $HOME"}' \\\n  'http://h:1/agent/webhook/write-poem'`);
  assert.match(curlFor({ ...call, open: false }), /Bearer \$HOLDPOINT_KEY/);
});

test('however often it is asked for, paced work runs at once, then once a gap', async () => {
  mock.timers.enable({ apis: ['setTimeout'] });
  try {
    let runs = 0;
    const settle = async () => { for (let i = 0; i < 10; i += 1) await Promise.resolve(); };
    const ask = paced(async () => { runs += 1; }, 2000);
    for (let i = 0; i < 5; i += 1) ask();
    await settle();
    assert.equal(runs, 1);
    mock.timers.tick(1999);
    await settle();
    assert.equal(runs, 1);
    mock.timers.tick(1);
    await settle();
    assert.equal(runs, 2);
    mock.timers.tick(2000);
    await settle();
    assert.equal(runs, 2);
    ask();
    await settle();
    assert.equal(runs, 3);
  } finally {
    mock.timers.reset();
  }
});
