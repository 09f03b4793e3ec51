#pragma once

#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "agents/definition.h"
#include "wire/turn_json.h"

namespace holdpoint {

// The turn has no reply: the agent could not be reached, died, took too long or spoke no sense.
class TurnFailed : public std::runtime_error {
 public:
  TurnFailed(const std::string& what, bool retryable)
      : std::runtime_error(what), retryable_(retryable) {}
  bool retryable() const { return retryable_; }

 private:
  bool retryable_;
};

// What a running turn has around it.
struct TurnContext {
  Duration timeout{0};
  std::size_t max_reply_bytes = 4 << 20;
  // True once the turn's session was cancelled, its lease lost, or the server stops. Cheap: asked
  // often.
  std::function<bool()> cancelled;
  // What the agent prints on standard error, in order, a line each.
  std::function<void(std::vector<std::string> lines)> on_output;
};

// Executes one turn and returns the agent's reply text. Safe to share between threads.
class Runner {
 public:
  virtual ~Runner() = default;
  // Throws TurnFailed.
  virtual std::string run(const AgentDefinition& agent, const TurnRequest& request,
                          const TurnContext& context) = 0;
};

}  // namespace holdpoint
