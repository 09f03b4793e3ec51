// What each session of the storm does, known to its model and to the test alike: from the same plan the model makes its calls and
// the test knows what must come of them. Every result carries words `value:…` that name the call, so that one that is lost, doubled
// or swapped shows in the session's last text.
export const apis = ['anthropic', 'openai'];

const option = (id, letter) => `value:${id}-${letter}`;
const letters = ['a', 'b', 'c'];
const question = (id, text, multiSelect = false) => ({ question: `${text} (${id})`, header: 'Storm', multiSelect, options: letters.map((letter) => ({ label: option(id, letter), description: `is ${letter}` })) });
const sum = (text) => [...text].reduce((total, letter) => total + letter.codePointAt(0), 0);

// How the person answers a question, by its text and options alone.
export function answerTo({ question: text, options, multi_select: several }) {
  const place = sum(text) % options.length;
  return several ? options.filter((_, i) => i !== place) : options[place];
}
const answered = (asked) => [answerTo({ question: asked.question, options: asked.options.map(({ label }) => label), multi_select: asked.multiSelect })].flat();

const http = (id) => ({ id, name: 'fetch_value', input: { id }, values: [`value:http-${id}`] });
const command = (id) => ({ id, name: 'run_value', input: { note: `for ${id}` }, values: [`value:command-${id}`] });
const ask = (id, ...questions) => ({ id, name: 'ask_user_question', input: { questions }, values: questions.flatMap(answered) });
const spawn = (id, run, count) => {
  const agents = Array.from({ length: count }, (_, i) => ({ agent: `leaf-${apis[(sum(run) + i) % 2]}`, payload: { run: `${run}x${i}`, plan: 'leaf' } }));
  return { id, name: 'spawn_agents', input: { agents }, values: agents.flatMap(({ payload }) => valuesOf(payload)) };
};

// plan → run → the calls of each reply; after the last of them the model sums up.
const plans = {
  one_ask: (run) => [[ask(`${run}s0c0`, question(`${run}q0`, 'Which one?'))]],
  tool_then_ask: (run) => [[http(`${run}s0c0`)], [ask(`${run}s1c0`, question(`${run}q0`, 'Which one?'))]],
  two_pauses: (run) => [0, 1].map((step) => [ask(`${run}s${step}c0`, question(`${run}q${step}`, 'And now?'))]),
  two_asks: (run) => [[0, 1].map((i) => ask(`${run}s0c${i}`, question(`${run}q${i}`, 'This?')))],
  batch: (run) => [[ask(`${run}s0c0`, question(`${run}q0`, 'One?'), question(`${run}q1`, 'Some?', true), question(`${run}q2`, 'Another?'))]],
  tools: (run) => [[http(`${run}s0c0`), command(`${run}s0c1`), http(`${run}s0c2`)]],
  ask_among: (run) => [[http(`${run}s0c0`), ask(`${run}s0c1`, question(`${run}q0`, 'Which?')), command(`${run}s0c2`)]],
  children: (run) => [[spawn(`${run}s0c0`, run, 2)]],
  children_then_ask: (run) => [[spawn(`${run}s0c0`, run, 3)], [ask(`${run}s1c0`, question(`${run}q0`, 'Some?', true))]],
  all: (run) => [[http(`${run}s0c0`), spawn(`${run}s0c1`, run, 2), command(`${run}s0c2`)], [http(`${run}s1c0`), ask(`${run}s1c1`, question(`${run}q0`, 'Last?'))]],
  leaf: (run) => [[http(`${run}s0c0`), command(`${run}s0c1`)]],
};
const top = Object.keys(plans).filter((name) => name !== 'leaf');

export const stepsOf = ({ run, plan }) => plans[plan](run);
export const sumUp = (run, values) => `${run}: ${values.join(' ')}`;
export const valuesOf = (payload) => stepsOf(payload).flat().flatMap(({ values }) => values);
export const valuesIn = (text) => text.match(/value:[\w-]+/g) ?? [];

// The sessions of a storm: half of each plan by either API. The calls of tools that each makes, its children's not included.
export const sessionsOf = (count) => Array.from({ length: count }, (_, i) => ({
  agent: `storm-${apis[Math.floor(i / top.length) % 2]}`, payload: { run: `r${i}`, plan: top[i % top.length] },
}));
