// The reader of event streams, without a page.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { makeParser } from '../../src/web/live.js';

const read = (pieces) => {
  const [events, ids] = [[], []];
  const parse = makeParser((event) => events.push(event), (id) => ids.push(id));
  pieces.forEach(parse);
  return { events, ids };
};
const stream = ': following\nid: 7\n\nid: 8\nevent: state_change\ndata: {"type":"question_asked","data":{"question":"q"}}\n\n: still here\nid: 12\n\n';

test('events and the place of the stream are read alike, wherever the network cuts it', () => {
  const wanted = { events: [{ type: 'question_asked', data: { question: 'q' } }], ids: ['7', '8', '12'] };
  assert.deepEqual(read([stream]), wanted);
  assert.deepEqual(read([...stream]), wanted);
  for (let at = 1; at < stream.length; at += 1) assert.deepEqual(read([stream.slice(0, at), stream.slice(at)]), wanted, `cut at ${at}`);
  assert.deepEqual(read([stream.replaceAll('\n', '\r\n')]), wanted, 'lines that end in CRLF');
});

test('an event that has not come in whole is not told, and moves no place', () => {
  assert.deepEqual(read([stream.slice(0, stream.indexOf('}}\n') + 3)]), { events: [], ids: ['7'] });
});
