// A session of a model agent as the server tells it, for the pages that show it: two tools, sub-agents, a question, and a long turn.
const kBegin = Date.UTC(2026, 10, 16, 9, 0, 0);
export const session = '01a1e541-0000-7000-8000-000000000001';
const question = '01a1e541-0000-7000-8000-00000000000a';
const subs = ['2', '3', '4'].map((digit) => `01a1e541-0000-7000-8000-00000000000${digit}`);

const at = (seconds) => new Date(kBegin + seconds * 1000).toISOString();
const replied = (turn, calls, read, written, ms) => ['model_replied', {
  turn, model: 'anthropic/sonnet', stop_reason: calls ? 'tool_use' : 'end_turn', tool_calls: calls, input_tokens: read, output_tokens: written, took_ms: ms,
}];
const ran = (turn, tool, ms, outcome = 'done') => ['tool_ran', { turn, tool, tool_call_id: `toolu_${tool}`, outcome, took_ms: ms }];
const began = (turn, reason, attempt = 1) => ['turn_started', { turn, attempt, reason }];
const ended = (sub, agent, status) => ['sub_session_ended', { sub_session: sub, agent, status }];

const told = [
  [0, 'session_started', { agent: 'triage-issue' }],
  [0, ...began(1, 'start')],
  [2.1, ...replied(1, 2, 1240, 96, 2100)],
  [2.2, ...ran(1, 'get_issue', 84)],
  [2.5, ...ran(1, 'github__search_issues', 310, 'error')],
  [4.9, ...replied(1, 1, 2890, 141, 2380)],
  [4.9, 'agents_spawned', { turn: 1, count: 3, agents: 'researcher, researcher, reviewer' }],
  [11.4, ...ended(subs[1], 'researcher', 'completed')],
  [12.8, ...ended(subs[0], 'researcher', 'completed')],
  [15.2, ...ended(subs[2], 'reviewer', 'failed')],
  [15.2, 'session_resumed', { reason: 'agents' }],
  [15.2, ...began(2, 'agents')],
  [15.9, 'turn_failed', { turn: 2, attempt: 1, reason: 'anthropic/sonnet: HTTP 429: too many requests', retry_in_ms: 1200 }],
  [17.1, ...began(2, 'agents', 2)],
  [19.0, ...replied(2, 3, 5120, 210, 1900)],
  [19.1, ...ran(2, 'get_issue', 71)],
  [19.2, ...ran(2, 'get_issue', 69)],
  [19.4, ...ran(2, 'count_users', 140)],
  [21.0, ...replied(2, 1, 6010, 88, 1600)],
  [21.1, ...ran(2, 'get_issue', 90)],
  [23.3, ...replied(2, 1, 6480, 164, 2200)],
  [23.3, 'question_asked', { question, agent: 'triage-issue', expires_at: at(3623) }],
  [95.0, 'question_answered', { question, agent: 'triage-issue', by: 'ana', via: 'slack' }],
  [95.0, 'session_resumed', { reason: 'answer' }],
  [95.0, ...began(3, 'answer')],
  [97.4, ...replied(3, 1, 6702, 60, 2400)],
  [97.6, ...ran(3, 'add_label', 120)],
  [99.8, ...replied(3, 0, 6801, 130, 2100)],
  [99.8, 'session_completed', {}],
];
const events = told.map(([seconds, type, data], i) => ({ seq: i + 1, session_id: session, type, at: at(seconds), data }));

const shown = {
  id: session, agent_name: 'triage-issue', status: 'completed', result: { text: 'Labelled as a bug in the importer, and assigned to the storage team.' },
  questions_asked: 1, created_at: at(0), completed_at: at(99.8), error: null, updated_at: at(99.8), parent_id: null, turn: 3, attempts: 1,
  usage: { steps: 7, input_tokens: 35243, output_tokens: 889, cached_tokens: 21800, cost_usd: 0.061232 }, questions: [],
};
const record = {
  id: session, payload: { issue: { number: 4711, title: 'Importer drops the last line' } },
  state: { phase: 'done', messages: [{ role: 'user', content: '{"issue": …}' }], remaining_tools: [], tool_results: [], queue: [] }, resume: null, messages: [],
  children: subs.map((id, i) => ({ id, agent_name: ['researcher', 'researcher', 'reviewer'][i], status: ['completed', 'completed', 'failed'][i], created_at: at(4.9) })),
  may_cancel: false, may_retry: false, may_message: false,
};
const questions = [{
  id: question, session_id: session, agent_name: 'triage-issue', ask: 2, position: 0, question: 'Which team owns the importer?', header: 'Team', status: 'answered',
  answer: 'Storage', answered_by: 'ana', channels: ['slack'],
}];

// Has `page` told this story in place of the server; `upTo`: only so many of its events, as it was then.
export async function tellModelStory(page, { upTo = events.length } = {}) {
  const seen = events.slice(0, upTo);
  const over = upTo === events.length;
  const now = over ? shown : { ...shown, status: 'running', result: null, completed_at: null };
  await page.route(`**/agent/session/${session}`, (route) => route.fulfill({ json: now }));
  await page.route(`**/agent/session/${session}/record`, (route) => route.fulfill({
    json: over ? record : { ...record, children: record.children.map((child) => ({ ...child, status: 'running' })) },
  }));
  await page.route(`**/agent/questions?session=${session}*`, (route) => route.fulfill({ json: { questions, next_cursor: null } }));
  await page.route(`**/agent/session/${session}/events?*`, (route) => (route.request().headers().accept.includes('event-stream')
    ? route.fulfill({ contentType: 'text/event-stream', body: ': following\n\n' })
    : route.fulfill({ json: { events: new URL(route.request().url()).searchParams.get('after') === '0' ? seen : [], next_cursor: null } })));
}

const plain = {
  about: '', async_questions: true, model: null, tools: [], mcp_servers: [], sub_agents: [], channels: [], callback: false, answerers: [], allow_cancel: true,
  question_timeout: 3600, on_timeout: 'fail', webhook_verify: 'none', may_answer: true, named: false, may_start: true,
};
export const agents = [
  { ...plain, name: 'researcher', runner: 'llm', about: 'Finds what is known about an issue.', async_questions: false, model: 'openai/gpt-mini' },
  { ...plain, name: 'reviewer', runner: 'command', async_questions: false },
  {
    ...plain, name: 'triage-issue', runner: 'llm', about: 'Reads new issues, labels them, and asks when it is not sure.', model: 'sonnet',
    tools: ['get_issue', 'add_label', 'count_users'], mcp_servers: ['github'], sub_agents: ['researcher', 'reviewer'], on_timeout: 'continue', channels: ['slack:#triage'],
  },
];
const figures = (name, sessions, input, output, cost) => ({
  name, sessions, asked: 0, questions: 0, failed: 0, answered: 0, median_seconds: null, p95_seconds: null, times: [0, 0, 0, 0, 0, 0, 0],
  input_tokens: input, output_tokens: output, cost_usd: cost,
});
export const used = [
  figures('poet', 4, 0, 0, null), figures('researcher', 212, 1_804_120, 90_210, null), figures('triage-issue', 106, 3_735_758, 94_234, 6.490592),
];
