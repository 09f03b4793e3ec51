// What somebody typed to start an agent with, and the same for a shell.

// Where JSON.parse stopped, as far as the browser tells: { line, column }, counted from 1.
export function placeOf(message, text) {
  const named = /line (\d+) column (\d+)/.exec(message);
  if (named) return { line: Number(named[1]), column: Number(named[2]) };
  const position = /position (\d+)/.exec(message);
  if (!position) return null;
  const before = text.slice(0, Number(position[1])).split('\n');
  return { line: before.length, column: before.at(-1).length + 1 };
}

const reasonOf = (message) => message
  .replace(/^JSON\.parse: |^JSON Parse error: /, '')
  .replace(/\s*(in JSON )?at (position|line) .*$/, '')
  .replace(/\s*\(line \d+ column \d+\)$/, '')
  .replace(/, ".*" is not valid JSON$/s, '')
  .replace(/^(.)/, (letter) => letter.toUpperCase());

// { text } to send as it is, or { complaint }. Nothing at all is an empty object, as the server takes it.
export function readPayload(typed) {
  if (typed.trim() === '') return { text: '{}' };
  let value;
  try {
    value = JSON.parse(typed);
  } catch ({ message }) {
    const place = placeOf(message, typed);
    return { complaint: `This is not JSON${place ? ` (line ${place.line}, column ${place.column})` : ''}: ${reasonOf(message)}.` };
  }
  if (value === null || typeof value !== 'object' || Array.isArray(value)) {
    return { complaint: 'The payload must be a JSON object: {"key": "value"}.' };
  }
  return { text: typed };
}

export const quoted = (text) => `'${text.replaceAll("'", `'\\''`)}'`;

// `open`: the server asks for no credential.
export const curlFor = ({ origin, agent, text, open }) => [
  "curl -H 'Content-Type: application/json'",
  ...(open ? [] : ['-H "Authorization: Bearer $HOLDPOINT_KEY"']),
  `-d ${quoted(text)}`,
  quoted(`${origin}/agent/webhook/${encodeURIComponent(agent)}`),
].join(' \\\n  ');
