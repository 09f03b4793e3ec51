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
struct ErrorReply {
  std::string error;
  bool retry = false;
};
using TurnReply = std::variant<AskReply, ResultReply, ContinueReply, ErrorReply>;

// Throws BadRequest saying what is wrong with the reply.
TurnReply parse_turn_reply(std::string_view text, const Limits& limits);

}  // namespace holdpoint
