#pragma once

#include <optional>
#include <string>

#include "agents/llm/conversation.h"
#include "agents/llm/model.h"
#include "agents/llm/toolbox.h"
#include "base/clock.h"

namespace holdpoint {

// One turn of a model agent: from its session's state to what only others can give.
class LlmTurn {
 public:
  struct Parts {
    HttpClient& client;
    const Model& model;
    Agents& agents;
    Toolbox& toolbox;
    const Clock& clock;
    Budget budget;  // All of it is set.
  };
  LlmTurn(Parts parts, const AgentDefinition& agent, const TurnRequest& request,
          const TurnContext& context);

  // The turn's reply. Throws TurnFailed.
  std::string run();

 private:
  Conversation open() const;
  // What the session waited for has come: it is the result of the call that asked for it.
  void take_resume();
  void ask_model_once();
  // Runs the first of the remaining calls; the turn's reply if others must do that.
  std::optional<std::string> run_tool();
  std::optional<std::string> run_ask(const ToolCall& call);
  std::optional<std::string> run_spawn(const ToolCall& call);
  std::optional<std::string> finish(ToolResult result);

  void check_budget() const;
  const std::vector<ToolSpec>& tools();
  void count_time();
  // The state, if it is not too large to be kept.
  std::string state() const;
  void keep(std::variant<ModelStep, ToolStep> done);

  Parts parts_;
  const AgentDefinition& agent_;
  const TurnRequest& request_;
  const TurnContext& context_;
  const Provider& provider_;
  Conversation talk_;
  std::optional<std::vector<ToolSpec>> tools_;
  const Time started_;
  Time counted_;    // Time before this is in `used`.
  Time step_from_;  // When the step under way began.
};

}  // namespace holdpoint
