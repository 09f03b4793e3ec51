// The limits of the two platforms that their types do not hold: lengths, counts, and what must be unique.
// How they count is written nowhere, so we count UTF-16 units: whoever keeps these limits keeps them in code points too.

class Walk {
  found = [];
  check(ok, at, rule) {
    if (!ok) this.found.push(`${at}: ${rule}`);
  }
  // A text of 1 to `most`.
  text(value, at, most, least = 1) {
    if (value === undefined || value === null) return;
    this.check(value.length <= most, at, `${value.length} characters, and ${most} are allowed: ${value.slice(0, 60)}`);
    this.check(value.length >= least, at, 'is empty');
    this.check(value.isWellFormed(), at, 'half a surrogate pair');
  }
  count(list, at, most, least = 1) {
    if (list === undefined) return;
    this.check(list.length <= most, at, `${list.length} of them, and ${most} are allowed`);
    this.check(list.length >= least, at, `${list.length} of them, and ${least} are needed`);
  }
  unique(list, at) {
    const twice = list.filter((item, i) => list.indexOf(item) !== i);
    this.check(twice.length === 0, at, `twice: ${twice}`);
  }
}

// ---- Slack

class SlackWalk extends Walk {
  object(part, at, most) {
    this.text(part?.text, `${at}.text`, most);
  }
  option(option, at) {
    this.object(option.text, at, 75);
    this.text(option.value, `${at}.value`, 75);
    this.object(option.description, `${at}.description`, 75);
  }
  options(element, at, most) {
    this.count(element.options, `${at}.options`, most);
    element.options?.forEach((option, i) => this.option(option, `${at}.options[${i}]`));
    if (element.options) this.unique(element.options.map(({ value }) => value), `${at}.options`);
    const initial = [element.initial_option ?? [], element.initial_options ?? []].flat();
    for (const option of initial) {
      this.check(element.options.some((known) => JSON.stringify(known) === JSON.stringify(option)), at, 'an initial option that is none of the options');
    }
  }
  element(element, at) {
    this.text(element.action_id, `${at}.action_id`, 255);
    this.object(element.placeholder, `${at}.placeholder`, 150);
    if (element.confirm) {
      this.object(element.confirm.title, `${at}.confirm.title`, 100);
      this.object(element.confirm.text, `${at}.confirm.text`, 300);
      this.object(element.confirm.confirm, `${at}.confirm.confirm`, 30);
      this.object(element.confirm.deny, `${at}.confirm.deny`, 30);
    }
    switch (element.type) {
      case 'button':
        this.object(element.text, at, 75);
        this.text(element.value, `${at}.value`, 2000);
        this.text(element.url, `${at}.url`, 3000);
        this.text(element.accessibility_label, `${at}.accessibility_label`, 75);
        break;
      case 'static_select':
      case 'multi_static_select':
        this.options(element, at, 100);
        if (element.max_selected_items !== undefined) this.check(element.max_selected_items >= 1, at, 'max_selected_items');
        break;
      case 'overflow':
        this.options(element, at, 5);
        break;
      case 'checkboxes':
      case 'radio_buttons':
        this.options(element, at, 10);
        break;
      case 'plain_text_input':
        this.text(element.initial_value, `${at}.initial_value`, 3000);
        this.check((element.max_length ?? 1) >= 1 && (element.max_length ?? 1) <= 3000, `${at}.max_length`, element.max_length);
        break;
      case 'plain_text':
      case 'mrkdwn':
        this.object(element, at, 3000);
        break;
      default:
        this.check(false, at, `limits of ${element.type} are not known here`);
    }
  }
  richText(part, at) {
    if (part.type === 'text') this.text(part.text, `${at}.text`, 3000);
    part.elements?.forEach((inner, i) => this.richText(inner, `${at}.elements[${i}]`));
  }
  block(block, at) {
    this.text(block.block_id, `${at}.block_id`, 255);
    switch (block.type) {
      case 'header':
        this.object(block.text, at, 150);
        break;
      case 'section':
        this.object(block.text, at, 3000);
        this.count(block.fields, `${at}.fields`, 10);
        block.fields?.forEach((field, i) => this.object(field, `${at}.fields[${i}]`, 2000));
        if (block.accessory) this.element(block.accessory, `${at}.accessory`);
        break;
      case 'context':
        this.count(block.elements, at, 10);
        block.elements.forEach((element, i) => this.element(element, `${at}.elements[${i}]`));
        break;
      case 'actions':
        this.count(block.elements, at, 25);
        block.elements.forEach((element, i) => this.element(element, `${at}.elements[${i}]`));
        this.unique(block.elements.map((element) => element.action_id), `${at}.action_id`);
        break;
      case 'input':
        this.object(block.label, `${at}.label`, 2000);
        this.object(block.hint, `${at}.hint`, 2000);
        this.element(block.element, `${at}.element`);
        break;
      case 'rich_text':
        this.richText(block, at);
        break;
      case 'divider':
        break;
      default:
        this.check(false, at, `limits of ${block.type} are not known here`);
    }
  }
  blocks(blocks, most) {
    this.count(blocks, 'blocks', most);
    blocks?.forEach((block, i) => this.block(block, `blocks[${i}]`));
    if (blocks) this.unique(blocks.map((block) => block.block_id).filter(Boolean), 'block_id');
  }
}

export function slackMessageComplaints({ text, blocks }) {
  const walk = new SlackWalk();
  // Slack cuts at 40,000; notifications and screen readers want it short.
  walk.text(text, 'text', 4000);
  walk.blocks(blocks, 50);
  return walk.found;
}

export function slackModalComplaints(view) {
  const walk = new SlackWalk();
  for (const name of ['title', 'submit', 'close']) walk.object(view[name], name, 24);
  walk.text(view.private_metadata, 'private_metadata', 3000, 0);
  walk.text(view.callback_id, 'callback_id', 255);
  walk.blocks(view.blocks, 100);
  const asks = view.blocks.some(({ type }) => type === 'input');
  walk.check(!asks || view.submit, 'submit', 'is required where something is put in');
  return walk.found;
}

// ---- Discord

const V2 = 1 << 15;
const isEmoji = /^\p{RGI_Emoji}$/v;

class DiscordWalk extends Walk {
  components = 0;
  shown = 0;
  ids = [];
  emoji(emoji, at) {
    if (emoji?.name && !emoji.id) this.check(isEmoji.test(emoji.name), `${at}.emoji`, `${JSON.stringify(emoji.name)} is no emoji`);
  }
  id(component, at) {
    this.text(component.custom_id, `${at}.custom_id`, 100);
    if (component.custom_id !== undefined) this.ids.push(component.custom_id);
  }
  component(component, at) {
    this.components += 1;
    this.id(component, at);
    const inner = (list, name) => list.forEach((part, i) => this.component(part, `${at}.${name}[${i}]`));
    switch (component.type) {
      case 1: {
        const selects = component.components.filter(({ type }) => type !== 2).length;
        this.count(component.components, at, selects > 0 ? 1 : 5);
        inner(component.components, 'components');
        break;
      }
      case 2:
        this.text(component.label, `${at}.label`, 80);
        this.check(component.label || component.emoji, at, 'has neither label nor emoji');
        this.text(component.url, `${at}.url`, 512);
        this.emoji(component.emoji, at);
        break;
      case 3:
        this.count(component.options, `${at}.options`, 25);
        this.text(component.placeholder, `${at}.placeholder`, 150);
        this.check((component.min_values ?? 1) >= 0 && (component.min_values ?? 1) <= component.options.length, at, 'min_values');
        this.check((component.max_values ?? 1) >= 1 && (component.max_values ?? 1) <= component.options.length, at, 'max_values');
        this.unique(component.options.map(({ value }) => value), `${at}.options`);
        component.options.forEach((option, i) => {
          this.text(option.label, `${at}.options[${i}].label`, 100);
          this.text(option.value, `${at}.options[${i}].value`, 100);
          this.text(option.description, `${at}.options[${i}].description`, 100);
          this.emoji(option.emoji, `${at}.options[${i}]`);
        });
        this.check(component.options.filter((option) => option.default).length <= (component.max_values ?? 1), at, 'more defaults than max_values');
        break;
      case 4:
        this.check((component.min_length ?? 0) >= 0 && (component.min_length ?? 0) <= 4000, `${at}.min_length`, component.min_length);
        this.check((component.max_length ?? 1) >= 1 && (component.max_length ?? 1) <= 4000, `${at}.max_length`, component.max_length);
        this.text(component.placeholder, `${at}.placeholder`, 100);
        this.text(component.value, `${at}.value`, 4000, 0);
        this.text(component.label, `${at}.label`, 45);
        break;
      case 9:
        this.count(component.components, at, 3);
        inner(component.components, 'components');
        this.component(component.accessory, `${at}.accessory`);
        break;
      case 10:
        this.text(component.content, `${at}.content`, 4000);
        this.shown += component.content.length;
        break;
      case 14:
        break;
      case 17:
        this.count(component.components, at, 40);
        this.check((component.accent_color ?? 0) >= 0 && (component.accent_color ?? 0) <= 0xffffff, `${at}.accent_color`, component.accent_color);
        inner(component.components, 'components');
        break;
      case 18:
        this.text(component.label, `${at}.label`, 45);
        this.text(component.description, `${at}.description`, 100);
        this.component(component.component, `${at}.component`);
        break;
      default:
        this.check(false, at, `limits of component ${component.type} are not known here`);
    }
  }
}

// A message with the Components V2 flag; one that edits such a message may leave the flag out.
export function discordMessageComplaints(message) {
  const walk = new DiscordWalk();
  message.components?.forEach((component, i) => walk.component(component, `components[${i}]`));
  walk.check(walk.components <= 40, 'components', `${walk.components} of them in all, and 40 are allowed`);
  walk.check(walk.shown <= 4000, 'components', `${walk.shown} characters of text in all, and 4000 are allowed`);
  walk.unique(walk.ids, 'custom_id');
  walk.text(message.content ?? undefined, 'content', 2000);
  if (message.flags & V2) {
    walk.count(message.components ?? [], 'components', 40);
    walk.check(!message.content && !message.embeds?.length, 'content', 'is not allowed beside Components V2');
  }
  if (message.nonce !== undefined) walk.text(String(message.nonce), 'nonce', 25);
  walk.check(message.allowed_mentions?.parse?.length === 0, 'allowed_mentions', 'must be {"parse":[]}');
  return walk.found;
}

export function discordModalComplaints({ custom_id: id, title, components }) {
  const walk = new DiscordWalk();
  walk.text(id, 'custom_id', 100);
  walk.text(title, 'title', 45);
  walk.count(components, 'components', 5);
  components.forEach((component, i) => walk.component(component, `components[${i}]`));
  walk.unique(walk.ids, 'custom_id');
  return walk.found;
}

// What is sent back to an interaction.
export function discordResponseComplaints({ type, data }) {
  if (type === 9) return discordModalComplaints(data);
  return data ? discordMessageComplaints(data) : [];
}
