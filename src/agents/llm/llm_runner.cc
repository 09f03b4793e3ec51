#include "agents/llm/llm_runner.h"

#include "agents/llm/llm_turn.h"
#include "domain/bad_request.h"

namespace holdpoint {

Model LlmRunner::model_of(const AgentDefinition& agent) const {
  try {
    Model model = models_.find(agent.model);
    if (agent.max_reply_tokens) model.max_tokens = *agent.max_reply_tokens;
    return model;
  } catch (const BadRequest& e) {
    throw TurnFailed("model: " + agent.model + " " + e.what(), true);
  }
}

std::int64_t LlmRunner::max_attempts(const AgentDefinition& agent) {
  return model_of(agent).max_attempts;
}

std::string LlmRunner::run(const AgentDefinition& agent, const TurnRequest& request,
                           const TurnContext& context) {
  Budget budget = agent.budget;
  if (!budget.steps) budget.steps = budget_.steps;
  if (!budget.tokens) budget.tokens = budget_.tokens;
  if (!budget.seconds) budget.seconds = budget_.seconds;
  if (!budget.questions) budget.questions = budget_.questions;
  const Model model = model_of(agent);
  return LlmTurn({client_, model, agents_, toolbox_, clock_, budget}, agent, request, context)
      .run();
}

}  // namespace holdpoint
