#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "agents/llm/provider.h"
#include "agents/llm/tool.h"

namespace holdpoint {

// What a model agent does next. All of it is in its session's state, so that whoever finds the
// state after a crash goes on just there.
enum class Phase {
  requesting,       // The model is to be asked.
  executing,        // The first of `remaining_tools` is to be run.
  awaiting_person,  // The first of `remaining_tools` is an ask that people have.
  awaiting_agents,  // The first of `remaining_tools` waits for sub-sessions.
  done,             // The model has said all.
};
inline constexpr std::array kPhases{Phase::requesting, Phase::executing, Phase::awaiting_person,
                                    Phase::awaiting_agents, Phase::done};
std::string_view to_text(Phase phase);

// A move that the phase does not allow: the state, or what came back for it, is not what it was.
class WrongMove : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

// The conversation of one session, and its moves. Pure: nothing here asks, runs or waits.
class Conversation {
 public:
  // The first message is said already: the model is to be asked.
  static Conversation begin(std::vector<std::string> first_messages);
  // Throws BadRequest for a state that is none of ours.
  static Conversation parse(const std::string& state);
  std::string state() const;

  Phase phase() const { return phase_; }
  const std::vector<std::string>& messages() const { return messages_; }
  // Those not run yet, in the model's order.
  const std::vector<ToolCall>& remaining_tools() const { return remaining_; }
  // Of the calls of the last reply that are over.
  const std::vector<ToolResult>& tool_results() const { return results_; }
  // What the model said last, once it is done.
  const std::string& last_text() const { return text_; }

  // requesting → executing, done, or requesting when it only paused.
  void reply(ModelReply reply);
  // executing → executing the next, or requesting when it was the last: `provider` says how the
  // results are told.
  void finish_tool(ToolResult result, const Provider& provider);
  // executing → awaiting_person or awaiting_agents.
  void await_person();
  void await_agents();
  // awaiting_… → executing the next, or requesting.
  void resume(ToolResult result, const Provider& provider);
  // done → requesting.
  void say(const std::vector<std::string>& texts, const Provider& provider);
  // Any → done: what is not over gets `reason` as its result.
  void close(const std::string& reason);

  // Messages that came for the session in the given turn; a turn that runs again brings the same.
  void queue(std::int64_t turn, const std::vector<std::string>& messages);
  // All that waits, the oldest first.
  std::vector<std::string> take_queue();
  bool has_queue() const { return !queue_.empty(); }

  // What was used up, for budgets.
  struct Used {
    std::int64_t steps = 0;
    std::int64_t tokens = 0;
    std::int64_t millis = 0;
    std::int64_t questions = 0;
  };
  Used used;

 private:
  void expect(Phase phase, const char* move) const;
  void settle(ToolResult result, const Provider& provider);

  Phase phase_ = Phase::requesting;
  std::vector<std::string> messages_;
  std::vector<ToolCall> remaining_;
  std::vector<ToolResult> results_;
  std::string text_;
  std::vector<std::string> queue_;
  std::int64_t queued_through_ = 0;  // The last turn whose messages are in.
};

// The state of a session that is over before its conversation is: every call has a result.
std::string close_conversation(const std::string& state, const std::string& reason);

}  // namespace holdpoint
