// Every message that Slack and Discord can get about an ask, over asks that nobody would write: it is valid by the
// platforms' own types and limits, calls nobody, shows what was written, and has what answers each open question.
// A run is repeated with HOLDPOINT_FUZZ_SEED.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { before, test } from 'node:test';
import fc from 'fast-check';
import { asks, labelsOf } from './asks.mjs';
import { findBinary, publicUrl } from './harness.mjs';
import { discordMessageComplaints, discordModalComplaints, discordResponseComplaints, slackMessageComplaints, slackModalComplaints } from './limits.mjs';
import { complaints } from './schemas.mjs';

const seed = Number(process.env.HOLDPOINT_FUZZ_SEED ?? 20261116);
const options = { timeout: 120_000 };
const count = 240;

// {case, questions: [{asked, id, settled_line}], …the messages by kind}
let rendered;

before(() => {
  const renderer = path.join(path.dirname(findBinary()), 'tests/render_messages');
  assert.ok(existsSync(renderer), `no ${renderer}: build render_messages`);
  const cases = fc.sample(asks, { numRuns: count, seed }).flatMap(({ ends, ...known }, i) => [
    { ...known, settle: ends.map(() => null) },
    // Part of it is settled, as batches are on their way.
    { ...known, settle: ends.map((end, place) => ((place + i) % 2 === 0 ? end : null)) },
    { ...known, settle: ends },
  ]);
  const { stdout, stderr, status } = spawnSync(renderer, { input: cases.map((known) => `${JSON.stringify(known)}\n`).join(''), maxBuffer: 1 << 30, encoding: 'utf8' });
  assert.equal(status, 0, stderr);
  rendered = stdout.split('\n').slice(0, -1).map((line, i) => {
    const made = JSON.parse(line);
    assert.equal(made.refused, undefined);
    return { ...made, case: cases[i], questions: made.questions.map((known, place) => ({ ...known, asked: cases[i].ask.questions[place], open: cases[i].settle[place] === null })) };
  });
  assert.equal(rendered.length, 3 * count);
}, options);

// Runs `check` on every rendering; shows the first few that fail, and counts the rest.
function everywhere(check) {
  const failures = [];
  let checked = 0;
  for (const made of rendered) {
    checked += 1;
    try {
      check(made);
    } catch (error) {
      failures.push(`${error.message.slice(0, 1500)}\n  in ${JSON.stringify(made.case).slice(0, 600)}`);
    }
  }
  assert.ok(checked > 200);
  assert.equal(failures.length, 0, `${failures.length} of ${checked} failed:\n${failures.slice(0, 3).join('\n')}`);
}
// So many options that a few letters are all there is room for.
const crowded = ({ questions }) => questions.flatMap(({ asked }) => labelsOf(asked)).length > 20;
const none = (list, of) => assert.deepEqual(list, [], JSON.stringify(of).slice(0, 1500));

// ---- What people see

const spaces = /[\s\u0000-\u001f\u007f-\u009f\u2060]+/g;
const flat = (text) => text.replace(spaces, ' ').trim();

// Whatever stands anywhere in a Slack message as a text object: {type, text, verbatim?}.
function slackTexts(part) {
  if (Array.isArray(part)) return part.flatMap(slackTexts);
  if (part === null || typeof part !== 'object') return [];
  if ((part.type === 'plain_text' || part.type === 'mrkdwn' || part.type === 'text') && typeof part.text === 'string') return [part];
  return Object.values(part).flatMap(slackTexts);
}
const unescapeSlack = (text) => text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&');
const slackSeen = (part) => flat(slackTexts(part).map(({ type, text }) => (type === 'mrkdwn' ? unescapeSlack(text) : text)).join('\n'));

const discordParts = (components) => components.flatMap((part) => [part, ...discordParts([part.components ?? [], part.accessory ?? [], part.component ?? []].flat())]);
const escaped = /\\([!-/:-@[-`{-~])/g;
const markdownOf = (components) => discordParts(components).filter(({ type }) => type === 10).map(({ content }) => content);
const discordSeen = (components) => flat([
  ...markdownOf(components).map((text) => text.replace(escaped, '$1')),
  ...discordParts(components).flatMap((part) => [part.label ?? [], part.description ?? [], (part.options ?? []).flatMap(({ label, description }) => [label, description ?? ''])].flat()),
].join('\n'));

// The text stands there in full, or it is cut visibly and the message leads to all of it.
function shows(seen, whole, text, id, what, least = 15) {
  const wanted = flat(text);
  // What nobody can see has a name of ours in its place.
  if (seen.includes(wanted) || !/[^\s\p{C}]/u.test(wanted)) return;
  assert.ok(whole.includes(`${publicUrl}/question/${id}`), `no link to ${what}, which is not shown in full: ${wanted.slice(0, 200)}\nbut ${seen.slice(0, 1000)}`);
  assert.ok(seen.includes('…'), `${what} was cut, and nothing shows it`);
  // Of what came first there is enough to know it by.
  const begin = Array.from(wanted).slice(0, least).join('').trim();
  assert.ok(seen.includes(begin), `nothing of ${what}: ${begin}\nbut ${seen.slice(0, 1000)}`);
}

// ---- Slack

const slackMessages = ({ slack_message: message, slack_webhook: webhook, slack_webhook_login: login, slack_closing: closing, slack_card: card, questions }) => [
  message, webhook, login, card, ...(questions.every(({ open }) => open) ? [] : [closing])];
const slackViews = ({ slack_modals: modals, slack_notices: notices }) => [...modals, ...notices];

test('every Slack message and form is valid by Slack\'s types and within its limits', options, () => everywhere((made) => {
  const { slack_message: message } = made;
  none(complaints('slack', 'Post', { channel: 'C0OPS', ...message }), message);
  none(complaints('slack', 'Update', { channel: 'C0OPS', ts: '1.2', ...message }), message);
  for (const sent of slackMessages(made)) {
    none(complaints('slack', 'IncomingWebhook', sent), sent);
    none(slackMessageComplaints(sent), sent);
  }
  for (const view of slackViews(made)) {
    none(complaints('slack', 'Modal', view), view);
    none(slackModalComplaints(view), view);
  }
}));

// In Slack's markup only our own links and dates may stand between < and >.
const ownMarkup = new RegExp(`<${publicUrl}/[^|<>]*\\|[^<>]*>|<!date\\^\\d+\\^[^<>|^]*(\\^[^<>|]*)?\\|[^<>]*>`, 'g');

test('no text in a Slack message calls anybody, links anywhere or is read as markup', options, () => everywhere((made) => {
  for (const sent of [...slackMessages(made), ...slackViews(made)]) {
    const texts = slackTexts(sent);
    if (typeof sent.text === 'string') texts.push({ type: 'mrkdwn', verbatim: true, text: sent.text, fallback: true });
    for (const { type, text, verbatim, fallback } of texts) {
      if (type !== 'mrkdwn') continue;
      const rest = text.replace(ownMarkup, '');
      assert.ok(!/[<>]/.test(rest), `markup: ${text}`);
      assert.ok(!/&(?!amp;|lt;|gt;)/.test(rest), `an & that is not escaped: ${text}`);
      assert.ok(!/@(channel|here|everyone|group)\b/i.test(rest), `a call: ${text}`);
      // The fallback is shown in notifications, where nothing is formatted.
      if (!fallback) assert.ok(!/[*_~`]\S.*?[*_~`]/.test(rest) || made.case.agent.includes('_'), `formatted: ${text}`);
      if (!fallback && /[@#]|https?:/.test(rest)) assert.equal(verbatim, true, `Slack links names and addresses by itself in: ${text}`);
    }
  }
}));

const partsOf = (blocks) => blocks.flatMap((block) => [block.elements ?? [], block.accessory ?? [], block.element ?? []].flat().filter((element) => element.action_id).map((element) => ({ blockId: block.block_id, element })));
const placesOf = ({ options: known = [] }) => known.map(({ value }) => Number(value));
const upTo = (n) => Array.from({ length: n }, (_, i) => i);

test('a Slack message answers each open question, by each of its options, and no settled one', options, () => everywhere(({ slack_message: { blocks }, slack_modals: modals, questions }) => {
  const controls = partsOf(blocks);
  for (const { blockId } of controls) assert.match(blockId, /^hp:[0-9a-f-]{36}:/);
  for (const { id, asked, open } of questions) {
    const own = controls.filter(({ blockId }) => blockId.startsWith(`hp:${id}:`)).map(({ element }) => element);
    if (!open) {
      assert.deepEqual(own, [], 'a settled question has controls');
      continue;
    }
    const actions = own.map((element) => element.action_id);
    const places = own.flatMap((element) => (/^pick:\d+$/.test(element.action_id) ? [Number(element.action_id.slice(5))] : placesOf(element)));
    assert.deepEqual(places.sort((a, b) => a - b), upTo(labelsOf(asked).length));
    assert.equal(actions.includes('other'), asked.allow_other, 'Other…');
    assert.equal(actions.includes('submit'), asked.multi_select, 'Submit');
    assert.ok(modals.some(({ private_metadata: metadata }) => metadata.includes(id)));
  }
}));

test('a Slack message shows what was asked and how it ended', options, () => everywhere((made) => {
  const { slack_message: message, slack_closing: closing } = made;
  const [seen, whole] = [slackSeen(message.blocks), JSON.stringify(message)];
  for (const { id, asked, open, settled_line: line } of made.questions) {
    shows(seen, whole, asked.question, id, 'the question');
    if (open) for (const label of labelsOf(asked)) shows(seen, whole, label, id, 'an option', crowded(made) ? 0 : 2);
    if (open) for (const { description } of (asked.options ?? []).filter((option) => option.description?.trim())) shows(seen, whole, description, id, 'a description', 0);
    if (!open) shows(seen, whole, line, id, 'how it ended');
    if (!open) shows(slackSeen(closing.blocks), JSON.stringify(closing), line, id, 'how it ended');
  }
}));

test('links in a webhook\'s Slack message lead to the answer page with the option chosen', options, () => everywhere(({ slack_webhook: { blocks }, questions }) => {
  const links = partsOf(blocks).map(({ blockId, element }) => ({ blockId, ...element }));
  for (const { url } of links) assert.ok(url.startsWith(`${publicUrl}/agent/answer/`) || url.startsWith(`${publicUrl}/question/`), url);
  for (const { id, asked, open } of questions) {
    const own = links.filter(({ blockId }) => blockId.startsWith(`hp:${id}:`));
    if (!open) {
      assert.deepEqual(own, []);
      continue;
    }
    assert.ok(own.length > 0, 'no link answers it');
    for (const { url } of own) {
      const { searchParams } = new URL(url);
      assert.match(searchParams.get('token') ?? '', /^x{43}$/);
      const answer = searchParams.get('answer');
      if (answer !== null) assert.ok(labelsOf(asked).includes(answer), `${answer} is no option`);
    }
  }
}));

// ---- Discord

test('every Discord message, form and response is valid by Discord\'s types and within its limits', options, () => everywhere((made) => {
  const { discord_post: post, discord_card: card, discord_edit: edit, discord_update: update, discord_modals: modals, discord_responses: responses } = made;
  for (const sent of [post, card]) {
    none(complaints('discord', 'Post', sent), sent);
    none(discordMessageComplaints(sent), sent);
  }
  none(complaints('discord', 'Edit', edit), edit);
  none(discordMessageComplaints(edit), edit);
  for (const response of [update, ...modals, ...responses]) {
    none(complaints('discord', 'Response', response), response);
    none(discordResponseComplaints(response), response);
  }
  for (const { data } of modals) none(discordModalComplaints(data), data);
}));

// Ours: bold, small print, dates, and the link to the whole text.
const ownMarkdown = new RegExp(`\\[[\\w ]+\\]\\(<?${publicUrl}/[^)>\\s]*>?\\)|<t:\\d+:[fR]>|\\*\\*`, 'g');
function assertNoMarkdown(text) {
  const rest = text.replace(escaped, '\u0001').replace(ownMarkdown, '\u0001').replace(/https?:\/\/[\w./:?#@!$&'()+,;=%-]+/g, '');
  assert.ok(!/[*_~`|<>[\]]/.test(rest), `markdown: ${text}\nleaves ${rest}`);
  assert.ok(!/@(everyone|here)/.test(rest), `a call: ${text}`);
  assert.ok(!/^\s*(#|[-+] |\d+[.)] )/m.test(rest.replace(/^-# /gm, '')), `a heading or list: ${text}`);
  assert.ok(!/:[\w+-]+:/.test(rest), `a picture: ${text}`);
}

test('no text in a Discord message calls anybody or is read as markdown', options, () => everywhere(({ discord_post: sent, discord_card: card, discord_responses: responses }) => {
  for (const text of [sent, card].flatMap(({ components }) => markdownOf(components))) assertNoMarkdown(text);
  for (const { data } of responses) {
    for (const text of [data?.content ?? [], markdownOf(data?.components ?? [])].flat()) assertNoMarkdown(text);
  }
}));

test('a Discord message answers each open question, by each of its options, and no settled one', options, () => everywhere(({ discord_post: { components }, discord_modals: modals, questions }) => {
  const controls = discordParts(components).filter((part) => part.custom_id);
  for (const { custom_id: id } of controls) assert.match(id, /^hp:[0-9a-f-]{36}:/);
  questions.forEach(({ id, asked, open }) => {
    const own = controls.filter((part) => part.custom_id.startsWith(`hp:${id}:`) && !part.disabled);
    if (!open) {
      assert.deepEqual(own, [], 'a settled question has controls');
      return;
    }
    const form = modals.find(({ data }) => data.custom_id.startsWith(`hp:${id}:`)).data;
    const opensForm = own.some((part) => part.custom_id === `hp:${id}:f`);
    const inputs = discordParts(form.components).filter((part) => part.custom_id);
    const direct = own.flatMap((part) => (/:o:\d+$/.test(part.custom_id) ? [Number(part.custom_id.split(':').at(-1))] : placesOf(part)));
    const inForm = inputs.flatMap(placesOf);
    if (asked.multi_select) assert.deepEqual(direct, []);
    assert.deepEqual((asked.multi_select ? inForm : direct).sort((a, b) => a - b), upTo(labelsOf(asked).length));
    assert.equal(opensForm, asked.multi_select || asked.allow_other, 'the form');
    if (opensForm) assert.equal(inputs.some(({ type }) => type === 4), asked.allow_other, 'own text');
  });
}));

test('a Discord message shows what was asked and how it ended', options, () => everywhere((made) => {
  const { discord_post: { components }, questions } = made;
  const [seen, whole] = [discordSeen(components), JSON.stringify(components)];
  for (const { id, asked, open, settled_line: line } of questions) {
    shows(seen, whole, asked.question, id, 'the question');
    if (open && !asked.multi_select) for (const label of labelsOf(asked)) shows(seen, whole, label, id, 'an option', crowded(made) ? 0 : 2);
    if (!open) shows(seen, whole, line, id, 'how it ended');
  }
}));

// A card's text stands there in full, in one piece or several, or it is cut visibly and leads to the session's page.
const squeezed = (text) => text.replace(spaces, '');
test('a card shows what is told, on both platforms', options, () => everywhere(({ slack_card: onSlack, discord_card: onDiscord, questions: [{ asked }] }) => {
  const wanted = flat(asked.question);
  if (!/[^\s\p{C}]/u.test(wanted)) return;
  for (const [seen, whole] of [[slackSeen(onSlack.blocks), JSON.stringify(onSlack)], [discordSeen(onDiscord.components), JSON.stringify(onDiscord)]]) {
    if (squeezed(seen).includes(squeezed(wanted))) continue;
    assert.ok(seen.includes('…') && whole.includes(`${publicUrl}/session/`), `${wanted.slice(0, 200)}\nbut ${seen.slice(0, 1000)}`);
    assert.ok(seen.includes(Array.from(wanted).slice(0, 15).join('').trim()), `nothing of ${wanted.slice(0, 200)}`);
  }
}));
