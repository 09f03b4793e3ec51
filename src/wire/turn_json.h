#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "domain/session.h"
#include "wire/question_json.h"

namespace holdpoint {

// What an agent gets for one turn (DESIGN 7). The JSON texts go out as they came in, byte for byte.
struct TurnRequest {
  SessionId session_id;
  std::string agent_name;
  std::int64_t turn = 1;
  TurnReason reason = TurnReason::start;
  std::string payload;
  std::optional<std::string> state;
  std::optional<std::string> resume;
  std::vector<std::string> messages;
};
std::string turn_request_json(const TurnRequest& request);

// What it answers: one of these.
struct AskReply {
  std::string ask;  // Not parsed yet: whether the agent may ask at all comes first.
  std::optional<std::string> state;
};
struct ResultReply {
  std::string result;
};
struct ContinueReply {
  std::optional<std::string> state;
};
// Sub-sessions to run side by side; the session waits until the last has ended.
struct SpawnReply {
  struct Start {
    std::string agent_name;
    std::string payload;
  };
  std::vector<Start> starts;
  std::optional<std::string> tool_call_id;
  std::optional<std::string> state;
};
struct ErrorReply {
  std::string error;
  bool retry = false;
};
using TurnReply = std::variant<AskReply, ResultReply, ContinueReply, SpawnReply, ErrorReply>;

inline constexpr std::size_t kMaxSpawned = 16;
// `{"agents": [{"agent", "payload"?}], "tool_call_id"?}`. Throws BadRequest.
SpawnReply parse_spawn(std::string_view text, std::optional<std::string> state);

// Throws BadRequest saying what is wrong with the reply.
TurnReply parse_turn_reply(std::string_view text, const Limits& limits);

// How a sub-session ended.
struct SubResult {
  SessionId session_id;
  std::string agent_name;
  SessionStatus status = SessionStatus::completed;
  std::optional<std::string> result;  // JSON.
  std::optional<std::string> error;
};
// What a session gets back for those it has started: `{"tool_call_id", "agents": […]}`.
std::string spawn_resume_json(const std::optional<std::string>& tool_call_id,
                              const std::vector<SubResult>& results);

}  // namespace holdpoint
