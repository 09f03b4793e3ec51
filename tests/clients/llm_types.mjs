// Holds requests against the types of the official SDKs: each becomes a TypeScript file with the request as a literal, so that a
// member that the types do not know is an error as well.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const here = path.dirname(fileURLToPath(import.meta.url));
const known = new Set(['text', 'tool_use', 'tool_result', 'thinking', 'redacted_thinking']);

// Each member by itself: among those that are spread the compiler would overlook one that it does not know.
const literal = (members) => `{ ${Object.entries(members).map(([name, text]) => `${JSON.stringify(name)}: ${text}`).join(', ')} }`;
const written = (members) => Object.fromEntries(Object.entries(members).map(([name, value]) => [name, JSON.stringify(value)]));

// Blocks that the types do not know cannot be of their types: they go back as they came, and all around them is checked.
const block = (one) => (known.has(one?.type) ? JSON.stringify(one) : `(${JSON.stringify(one)} as unknown as Anthropic.ContentBlockParam)`);
const anthropicMessage = ({ content, ...rest }) => literal({ ...written(rest), content: Array.isArray(content) ? `[${content.map(block).join(', ')}]` : JSON.stringify(content) });

function source(api, { messages, ...rest }) {
  const [begin, type, messageType, write] = api === 'anthropic'
    ? ["import Anthropic from '@anthropic-ai/sdk';", 'Anthropic.MessageCreateParamsNonStreaming', 'Anthropic.MessageParam', anthropicMessage]
    : ["import OpenAI from 'openai';", 'OpenAI.ChatCompletionCreateParamsNonStreaming', 'OpenAI.ChatCompletionMessageParam', JSON.stringify];
  const said = messages.map((message, i) => `const m${i}: ${messageType} = ${write(message)};`);
  return [begin, ...said, `export const request: ${type} = ${literal({ ...written(rest), messages: `[${messages.map((_, i) => `m${i}`).join(', ')}]` })};`, ''].join('\n');
}

// `requests`: {api, request} with the body parsed. Gives what the compiler says of each, in their order; '' where it is content.
export function typeComplaints(requests) {
  const folder = mkdtempSync(path.join(tmpdir(), 'holdpoint-types-'));
  try {
    symlinkSync(path.join(here, 'node_modules'), path.join(folder, 'node_modules'));
    writeFileSync(path.join(folder, 'package.json'), '{"type":"module"}');
    writeFileSync(path.join(folder, 'tsconfig.json'), JSON.stringify({
      compilerOptions: { strict: true, noEmit: true, skipLibCheck: true, module: 'nodenext', target: 'es2022', lib: ['es2023', 'dom', 'dom.iterable'], types: [] }, include: ['*.ts'],
    }));
    requests.forEach(({ api, request }, i) => writeFileSync(path.join(folder, `request${i}.ts`), source(api, request)));
    const { stdout, status } = spawnSync(process.execPath, [path.join(here, 'node_modules/typescript/bin/tsc'), '-p', folder, '--pretty', 'false'], { cwd: folder, encoding: 'utf8', maxBuffer: 1 << 26 });
    const complaints = requests.map(() => '');
    let at;
    for (const line of stdout.split('\n').filter(Boolean)) {
      const found = /^request(\d+)\.ts\(/.exec(line);
      if (found) at = Number(found[1]);
      if (at === undefined) throw new Error(`tsc: ${stdout.slice(0, 2000)}`);
      complaints[at] += `${line}\n`;
    }
    if ((status === 0) !== complaints.every((text) => text === '')) throw new Error(`tsc ended with ${status}: ${stdout.slice(0, 2000)}`);
    return complaints;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
