#pragma once

#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

#include "agents/definition.h"
#include "domain/limits.h"
#include "wire/turn_json.h"

namespace holdpoint {

// The turn has no reply: the agent could not be reached, died, took too long or spoke no sense.
class TurnFailed : public std::runtime_error {
 public:
  // When to try again, and how often in all, where the other side has a say in it.
  struct Again {
    Duration wait{0};
    std::int64_t max_attempts = 0;
  };

  TurnFailed(const std::string& what, bool retryable)
      : std::runtime_error(what), retryable_(retryable) {}
  TurnFailed(const std::string& what, Again again)
      : std::runtime_error(what), retryable_(true), again_(again) {}
  bool retryable() const { return retryable_; }
  const std::optional<Again>& again() const { return again_; }

 private:
  bool retryable_;
  std::optional<Again> again_;
};

// What a turn of several steps has done: the model replied, or a tool ran.
struct ModelStep {
  std::string model;
  std::string stop_reason;
  std::int64_t calls = 0;  // Of tools, in the reply.
  ModelSpent spent;
  Duration took{0};
};
struct ToolStep {
  std::string tool;
  std::string call_id;
  bool is_error = false;
  Duration took{0};
};
// How far it has come: that is kept, and what was done before it is not done again.
struct Checkpoint {
  std::string state;
  std::variant<ModelStep, ToolStep> done;
};

// What a running turn has around it.
struct TurnContext {
  Duration timeout{0};
  std::size_t max_reply_bytes = 4 << 20;
  Limits limits;
  AskDefaults ask;
  bool has_parent = false;   // It is a sub-agent: it may neither ask nor start others.
  std::int64_t attempt = 1;  // Of this step.
  // True once the turn's session was cancelled, its lease lost, or the server stops. Cheap: asked
  // often.
  std::function<bool()> cancelled;
  // What the agent prints on standard error, in order, a line each.
  std::function<void(std::vector<std::string> lines)> on_output;
  // Keeps a step under the turn's lease. Throws TurnFailed if that was lost.
  std::function<void(const Checkpoint&)> checkpoint;
};

// Executes one turn and returns the agent's reply text. Safe to share between threads.
class Runner {
 public:
  virtual ~Runner() = default;
  // How often a turn of this agent may be started before it is given up; at least the settings'.
  virtual std::int64_t max_attempts(const AgentDefinition&) { return 0; }
  // Throws TurnFailed.
  virtual std::string run(const AgentDefinition& agent, const TurnRequest& request,
                          const TurnContext& context) = 0;
};

}  // namespace holdpoint
