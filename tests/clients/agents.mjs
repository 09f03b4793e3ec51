// The agents that the tests trigger. Each `turn` gets what the server sends and returns what an agent may reply.
export const poemStyles = ['free verse', 'rhyming', 'sonnet', 'haiku'];

export const writePoem = {
  async_questions: true,
  turn: ({ reason, payload, resume }) => (reason === 'start'
    ? {
      ask: {
        questions: [{ question: 'What style would you prefer?', options: poemStyles }],
        context: { original_topic: payload.topic },
      },
      state: { topic: payload.topic },
    }
    : { result: { poem_path: `poem/${payload.topic}-${resume.answers['What style would you prefer?']}.md` } }),
};

export const deployApproval = {
  async_questions: true,
  turn: ({ reason, resume }) => (reason === 'start'
    ? {
      ask: {
        tool_call_id: 'toolu_deploy',
        questions: [
          { question: 'Which environment?', options: ['staging', 'production'], allow_other: false },
          { question: 'Which checks?', options: ['unit', 'load', 'security'], multi_select: true, allow_other: false },
          { question: 'Anything to add?' },
        ],
      },
    }
    : { result: resume }),
};

// Ends at once with its own payload.
export const echo = { turn: ({ payload }) => ({ result: payload }) };

// Fails its first turn for good, so that the session can be retried; works from then on.
export function failsOnce() {
  const met = new Set();
  return {
    turn: ({ session_id: session }) => {
      if (met.has(session)) return { result: { second: true } };
      met.add(session);
      return { error: 'the first try always fails', retry: false };
    },
  };
}

// Starts what its payload names, and ends with what came of them.
export const splits = {
  sub_agents: ['echo', 'fails-once'],
  turn: ({ reason, payload, resume }) => (reason === 'agents' ? { result: resume } : reason === 'start'
    ? { spawn: { agents: payload.starts, tool_call_id: 'toolu_split' }, state: { waits: true } }
    : { result: { refused: resume } }),
};

// Asks, and hands back what it was told besides the answer.
export const listens = {
  async_questions: true,
  turn: ({ reason, messages }) => (reason === 'start'
    ? { ask: { questions: [{ question: 'Ready?', options: ['yes', 'no'] }] } }
    : { result: { messages } }),
};

// Asks, and ends with whatever comes of it.
export const asksAnyway = {
  async_questions: true,
  turn: ({ reason, resume }) => (reason === 'start' ? { ask: { questions: [{ question: 'May I?' }] } } : { result: resume ?? null }),
};

// Asks with a deadline of a second; goes on without an answer, but not before the gate opens.
export function givesUp(gate) {
  return {
    async_questions: true,
    turn: async ({ reason }) => {
      if (reason === 'start') return { ask: { questions: [{ question: 'Anyone?' }], timeout: 1, on_timeout: 'continue' } };
      await gate.passed;
      return { result: 'went on alone' };
    },
  };
}
