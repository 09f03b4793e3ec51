#pragma once

#include "agents/runner.h"

namespace holdpoint {

// Runs the agent's command, without a shell, in a process group of its own: the turn on its
// standard input, the reply on the last line of its standard output. The whole group is killed on
// timeout, cancel and shutdown, and when the command has ended.
class CommandRunner final : public Runner {
 public:
  std::string run(const AgentDefinition& agent, const TurnRequest& request,
                  const TurnContext& context) override;
};

}  // namespace holdpoint
