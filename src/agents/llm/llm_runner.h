#pragma once

#include "agents/llm/model.h"
#include "agents/llm/toolbox.h"
#include "agents/runner.h"
#include "base/clock.h"

namespace holdpoint {

// Runs agents that are a prompt: asks their model, runs the tools it calls, and keeps each step, so
// that a crash repeats at most the one under way. A turn ends when people or other agents are
// needed, or when the model has said all.
class LlmRunner final : public Runner {
 public:
  // `budget` is what agents may use that say nothing of it; all of it is set.
  LlmRunner(HttpClient& client, const Models& models, Agents& agents, const Clock& clock,
            Budget budget)
      : client_(client),
        models_(models),
        agents_(agents),
        clock_(clock),
        budget_(budget),
        toolbox_(client) {}

  std::int64_t max_attempts(const AgentDefinition& agent) override;
  std::string run(const AgentDefinition& agent, const TurnRequest& request,
                  const TurnContext& context) override;

 private:
  Model model_of(const AgentDefinition& agent) const;

  HttpClient& client_;
  const Models& models_;
  Agents& agents_;
  const Clock& clock_;
  const Budget budget_;
  Toolbox toolbox_;
};

}  // namespace holdpoint
