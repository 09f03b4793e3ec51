// What the platforms' own type packages say about messages, as JSON Schemas. They are made from the packages on first
// use and kept beside them, under a name that changes with their versions.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import Ajv from 'ajv';
import { createGenerator } from 'ts-json-schema-generator';

const here = path.dirname(fileURLToPath(import.meta.url));
const folder = path.join(here, 'node_modules/.schemas');

const platforms = {
  slack: {
    packages: ['@slack/types', '@slack/bolt'],
    // Slack's own ModalView takes any object with a type as a block; ours are all known ones.
    types: `
      import type { KnownBlock, ModalView } from '@slack/types';
      import type { BlockAction, ViewSubmitAction, ViewErrorsResponseAction } from '@slack/bolt';
      export interface Modal extends Omit<ModalView, 'blocks'> { blocks: KnownBlock[] }
      interface Sent { text: string; blocks: KnownBlock[]; unfurl_links?: boolean; unfurl_media?: boolean }
      interface Options { mrkdwn?: boolean; link_names?: false; parse?: 'none' }
      export interface Post extends Sent, Options { channel: string; metadata?: { event_type: string; event_payload: { [key: string]: string } }; client_msg_id?: string }
      export interface Update extends Options { channel: string; ts: string; text: string; blocks: KnownBlock[]; as_user?: boolean; metadata?: { event_type: string; event_payload: { [key: string]: string } } }
      export interface IncomingWebhook extends Sent { mrkdwn?: boolean }
      export interface ViaResponseUrl { text: string; blocks?: KnownBlock[]; response_type?: 'ephemeral'; replace_original?: boolean; mrkdwn?: boolean }
      export interface Ephemeral extends Options { channel: string; user: string; text: string; blocks?: KnownBlock[] }
      export interface ViewsOpen { trigger_id: string; view: Modal }
      export type ViewResponse = ViewErrorsResponseAction | { response_action: 'update'; view: Modal } | { response_action: 'clear' };
      export type BlockActions = BlockAction;
      export type ViewSubmission = ViewSubmitAction;
    `,
  },
  discord: {
    packages: ['discord-api-types'],
    types: `
      import type {
        APIBaseInteraction, APIInteractionResponse, APIMessageComponentInteractionData, APIModalSubmission, InteractionType,
        RESTPatchAPIChannelMessageJSONBody, RESTPostAPIChannelMessageJSONBody, RESTPostAPIWebhookWithTokenJSONBody,
      } from 'discord-api-types/v10';
      export type Post = RESTPostAPIChannelMessageJSONBody;
      export type Edit = RESTPatchAPIChannelMessageJSONBody;
      export type Response = APIInteractionResponse;
      export type FollowUp = RESTPostAPIWebhookWithTokenJSONBody;
      export type Component = APIBaseInteraction<InteractionType.MessageComponent, APIMessageComponentInteractionData>;
      export type ModalSubmit = APIBaseInteraction<InteractionType.ModalSubmit, APIModalSubmission>;
    `,
  },
  humanlayer: {
    packages: ['humanlayer'],
    // Its types have no null, and its code takes null for what is not there yet. Times are Dates by type and text in fact.
    types: `
      import type { FunctionCall, FunctionCallStatus, HumanContact, HumanContactStatus } from 'humanlayer';
      type Pending<T> = { [Name in keyof T]-?: T[Name] extends Date | undefined ? string | null : T[Name] | null };
      interface UserInfo { user_info: { name: string; via: string | null } | null }
      export interface FunctionCallSeen extends Omit<FunctionCall, 'status'> { status: Pending<FunctionCallStatus> & UserInfo }
      export interface HumanContactSeen extends Omit<HumanContact, 'status'> { status: Pending<HumanContactStatus> & UserInfo }
    `,
  },
};

function generate(platform) {
  const { packages, types } = platforms[platform];
  const versions = ['ts-json-schema-generator', ...packages].map((name) => JSON.parse(readFileSync(path.join(here, 'node_modules', name, 'package.json'))).version);
  const name = createHash('sha256').update(JSON.stringify([versions, types])).digest('hex').slice(0, 16);
  const [source, made] = ['ts', 'json'].map((end) => path.join(folder, `${platform}-${name}.${end}`));
  if (!existsSync(made)) {
    mkdirSync(folder, { recursive: true });
    writeFileSync(source, types);
    const schema = createGenerator({ path: source, skipTypeCheck: true, expose: 'export', topRef: true }).createSchema('*');
    writeFileSync(`${made}.${process.pid}`, JSON.stringify(schema));
    renameSync(`${made}.${process.pid}`, made);
  }
  return JSON.parse(readFileSync(made, 'utf8'));
}

// Flags are a set of bits, which TypeScript's enumerations cannot say.
function loosenFlags(schema) {
  for (const [name, definition] of Object.entries(schema.definitions)) {
    if (/Flags$/.test(name) && definition.enum) schema.definitions[name] = { type: 'integer', minimum: 0 };
  }
  return schema;
}

// `complaints(type, value)`: what is wrong with `value` as that type; nothing if all is well.
function load(platform) {
  const schema = loosenFlags(generate(platform));
  const ajv = new Ajv({ strict: false, allErrors: false });
  ajv.addSchema({ ...schema, $id: platform });
  const validators = new Map();
  for (const type of platforms[platform].types.matchAll(/export (?:type|interface) (\w+)/g)) {
    validators.set(type[1], ajv.compile({ $ref: `${platform}#/definitions/${type[1]}` }));
  }
  return (type, value) => {
    const validate = validators.get(type);
    if (!validate) throw new Error(`${platform} has no type ${type}`);
    return validate(value) ? [] : [`no ${platform} ${type}: ${explain(validate.errors, value)}`];
  };
}

// A union complains for each of its members; what was meant is among those that got furthest into the value.
function explain(errors, value) {
  const depth = ({ instancePath }) => instancePath.split('/').length;
  const furthest = Math.max(...errors.filter(({ keyword }) => keyword !== 'const').map(depth));
  const last = errors.filter((error) => depth(error) === furthest && error.keyword !== 'anyOf');
  const at = last[0]?.instancePath ?? '';
  const part = at.split('/').slice(1).reduce((inner, name) => inner[name.replaceAll('~1', '/').replaceAll('~0', '~')], value);
  const reasons = new Set(last.map(({ message, params }) => `${message} ${JSON.stringify(params)}`));
  return `${at || '(top)'} ${[...reasons].slice(0, 5).join(' or ')}: ${JSON.stringify(part).slice(0, 400)}`;
}

const loaded = new Map();
// Making them takes seconds: whoever measures time does it before.
export const prepare = (platform) => {
  if (!loaded.has(platform)) loaded.set(platform, load(platform));
};
export const complaints = (platform, type, value) => {
  prepare(platform);
  return loaded.get(platform)(type, value);
};
