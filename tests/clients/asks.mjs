// Asks as hostile, careless and foreign writers would write them, each within the rules of POST /agent/ask.
import fc from 'fast-check';

const snippets = [
  'Deploy build 118 to production?', 'plain words', 'a', 'ß', '字字字', '\n', '\n\n', '\t', '\r\n', '  ', ' ',
  // Those who would be called.
  '<!channel>', '<!here>', '<!everyone>', '<!subteam^S123>', '<@U0123ABCD>', '<#C0123ABCD>', '@channel', '@here', '@everyone', '@EVERYONE', '<@80351110224678912>', '<@!80351110224678912>',
  '<@&41771983423143936>', '<#41771983423143936>', '@ana', '#general',
  // What would be shown as something else.
  '*bold*', '_slanted_', '~struck~', '**bold**', '__under__', '***all***', '||spoiler||', '`code`', '```\nblock\n```', '> quote', '\n>>> quote', '\n# Heading', '\n-# small', '\n- item', '\n1. item', '\n2) item',
  '[click](https://evil.example/login)', '<https://evil.example|your bank>', 'https://evil.example/a_b*c', 'discord.gg/abc', 'mailto:a@evil.example', ':smile:', '<:party:41771983423143936>', '<a:party:41771983423143936>',
  '<t:1618953630:R>', '</deploy:816437322781949972>', '<!date^1392734382^{date}^https://evil.example|now>', '<b>bold</b>', '<script>alert(1)</script>', '&amp;', '&lt;!channel&gt;', '&', '<', '>', '"', '\'', '\\', '\\*', '\\\\', '%s', '{{x}}', '${x}', '$$',
  // Letters that are more than they look.
  '👩‍👩‍👧‍👦', '🏴‍☠️', '🇩🇪', '👍🏽', '❤️', '😀', '𝕏', '\u0065\u0301', 'Z͑ͫ̓a̴̵l̷g̶o̸', 'مرحبا بالعالم', 'שלום עולם', '\u202Eorder\u202C', '\u200B', '\u200D', '\u2060', '\uFEFF', '\u2028', '\u00AD', '\u0007', '\u001b[31m', '\u007f', '\uFFFD',
];

const cut = (text, length) => Array.from(text).slice(0, length).join('');
// As long as one of `lengths` in code points; 0 is as it comes.
const words = (lengths) => fc.record({
  parts: fc.array(fc.constantFrom(...snippets), { minLength: 1, maxLength: 12 }),
  joint: fc.constantFrom(' ', ' ', '', '\n'),
  length: fc.constantFrom(...lengths),
}).map(({ parts, joint, length }) => {
  const once = `${parts.join(joint)}${joint}.`;
  return length === 0 ? cut(once, 150) : cut(once.repeat(Math.ceil(length / Array.from(once).length)), length);
});
// Around each limit of the platforms, and up to our own.
const questionText = words([0, 0, 0, 0, 12, 149, 150, 151, 1999, 2000, 2001, 2999, 3000, 3001, 3999, 4000]);
const labelText = words([0, 0, 0, 1, 44, 46, 74, 75, 76, 79, 80, 81, 99, 100, 101, 199, 200]);
const descriptionText = words([0, 0, 74, 75, 76, 99, 100, 101, 500, 1000]);
const emoji = fc.constantFrom('🚀', '👩‍👩‍👧‍👦', '❤️', '❤', 'abc', ':x:', '<@U1>', '<!here>', '😀😀', '   ', '*');
const ownText = words([0, 0, 1, 500, 3000, 4000, 10_000]);
const person = fc.oneof(fc.constant('ana (U0123ABCD)'), words([0, 40, 200]).map((name) => `${cut(name, 150)} (80351110224678912)`));

const isBlank = (text) => /^[ \t\n\v\f\r]*$/.test(text);
const solid = (text, i) => (isBlank(text) ? `x${i}` : text);
// The same words in front, so that those cut short look alike.
const unique = (labels) => labels.map((label, i) => (labels.indexOf(label) === i ? solid(label, i) : cut(`${i} ${label}`, 200)));

const question = fc.record({
  question: questionText,
  header: fc.option(words([0]).map((text) => cut(text, 12)), { nil: undefined }),
  labels: fc.oneof(fc.constant([]), fc.array(labelText, { minLength: 2, maxLength: 4 }), fc.array(labelText, { minLength: 5, maxLength: 25 }), fc.array(labelText, { minLength: 25, maxLength: 25 })),
  described: fc.array(fc.record({ description: fc.option(descriptionText, { nil: undefined }), emoji: fc.option(emoji, { nil: undefined }) }), { minLength: 25, maxLength: 25 }),
  plain: fc.boolean(),
  recommended: fc.nat(30),
  multi: fc.boolean(),
  other: fc.boolean(),
  style: fc.constantFrom(undefined, 'buttons', 'select'),
}).map(({ question: text, header, labels, described, plain, recommended, multi, other, style }) => ({
  question: solid(text, 0),
  header,
  style,
  multi_select: multi && labels.length > 0,
  allow_other: other || labels.length === 0,
  ...(labels.length === 0 ? {} : {
    options: unique(labels).map((label, i) => (plain ? label : { label, ...described[i], recommended: i === recommended })),
  }),
}));

export const labelsOf = ({ options = [] }) => options.map((option) => option.label ?? option);

const context = fc.oneof(fc.constant(undefined), fc.dictionary(words([0]).map((text) => cut(text, 60)), fc.oneof(words([0, 300, 3000]), fc.integer(), fc.constant(null), fc.constant({ deep: ['<!channel>', '@everyone'] })), { maxKeys: 8 }));

// How one question ended, or null while it waits.
const end = fc.record({
  status: fc.constantFrom('answered', 'answered', 'answered', 'timed_out', 'defaulted', 'cancelled'),
  by: person,
  own: ownText,
  places: fc.uniqueArray(fc.nat(24), { minLength: 1, maxLength: 25 }),
  wantsOwn: fc.boolean(),
});
function settle(asked, { status, by, own, places, wantsOwn }) {
  if (status === 'timed_out') return { status };
  if (status === 'cancelled') return { status, by };
  const labels = labelsOf(asked);
  const chosen = [...new Set(places.map((place) => place % Math.max(labels.length, 1)))].sort((a, b) => a - b);
  const selected = labels.length === 0 ? [] : chosen.slice(0, asked.multi_select ? chosen.length : 1).map((place) => labels[place]);
  const writes = labels.length === 0 || (wantsOwn && asked.allow_other);
  return {
    status, ...(status === 'answered' ? { by } : {}),
    selected: writes && !asked.multi_select ? [] : selected,
    ...(writes ? { text: solid(own, 0) } : {}),
  };
}

// {ask, agent, may_cancel, ends}, `ends` being one end for each question.
export const asks = fc.record({
  questions: fc.array(question, { minLength: 1, maxLength: 4 }).map((list) => list.map((item, i) => (
    list.findIndex(({ question: text }) => text === item.question) === i ? item : { ...item, question: cut(`${i} ${item.question}`, 4000) }))),
  context,
  agent: fc.constantFrom('external', 'deploy', 'write_poem', 'A-b_c.9'),
  mayCancel: fc.boolean(),
  ends: fc.array(end, { minLength: 4, maxLength: 4 }),
}).map(({ questions, context: known, agent, mayCancel, ends }) => ({
  ask: { questions, ...(known ? { context: known } : {}) },
  agent,
  may_cancel: mayCancel,
  ends: questions.map((asked, i) => settle(asked, ends[i])),
}));
