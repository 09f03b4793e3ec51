// Parts of a JSON text as they were written, for checks that hold bytes against bytes: parsing and printing would even out what differs.
const string = /"(?:[^"\\]|\\.)*"/y;
const blank = /[ \t\n\r]*/y;
const scalar = /[^,\]}\s]+/y;

function match(pattern, text, at) {
  pattern.lastIndex = at;
  const found = pattern.exec(text);
  if (!found) throw new Error(`no JSON at ${at}: ${text.slice(at, at + 40)}`);
  return pattern.lastIndex;
}
const skipBlank = (text, at) => match(blank, text, at);

// Where the value that begins at `at` ends.
function endOf(text, at) {
  if (text[at] === '"') return match(string, text, at);
  if (text[at] !== '{' && text[at] !== '[') return match(scalar, text, at);
  let depth = 0;
  for (let i = at; i < text.length;) {
    if (text[i] === '"') {
      i = match(string, text, i);
      continue;
    }
    if (text[i] === '{' || text[i] === '[') depth += 1;
    if (text[i] === '}' || text[i] === ']') depth -= 1;
    i += 1;
    if (depth === 0) return i;
  }
  throw new Error(`no end of what begins at ${at}`);
}

// The items of an array, each as its text.
export function rawItems(text) {
  const items = [];
  for (let at = skipBlank(text, text.indexOf('[') + 1); text[at] !== ']';) {
    const end = endOf(text, at);
    items.push(text.slice(at, end));
    at = skipBlank(text, end);
    if (text[at] === ',') at = skipBlank(text, at + 1);
  }
  return items;
}

// The members of an object: name → text of the value.
export function rawMembers(text) {
  const members = {};
  for (let at = skipBlank(text, text.indexOf('{') + 1); text[at] !== '}';) {
    const nameEnd = match(string, text, at);
    const name = JSON.parse(text.slice(at, nameEnd));
    const begin = skipBlank(text, skipBlank(text, nameEnd) + 1);
    const end = endOf(text, begin);
    members[name] = text.slice(begin, end);
    at = skipBlank(text, end);
    if (text[at] === ',') at = skipBlank(text, at + 1);
  }
  return members;
}
