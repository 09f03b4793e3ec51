#pragma once

#include <optional>
#include <string>
#include <vector>

#include "domain/limits.h"
#include "domain/question.h"
#include "domain/target.h"

namespace holdpoint {

// 1–4 questions posed together by one turn, bound to one tool call.
struct Ask {
  std::vector<QuestionSpec> questions;
  std::chrono::seconds timeout{3600};
  OnTimeout on_timeout = OnTimeout::fail;
  std::string context = "{}";  // A JSON object.
  std::optional<std::string> tool_call_id;
  std::vector<Target> channels;  // Besides those of the agent or the settings.
};

// Throws BadRequest naming the field and the rule that `ask` breaks.
void check_ask(const Ask& ask, const Limits& limits);

// The rows that `ask` becomes when the given turn of a session poses it at `now`; `channels` are
// the platforms that it goes to.
std::vector<Question> pose(const Ask& ask, const SessionId& session, const std::string& agent_name,
                           std::int64_t turn, const std::vector<std::string>& channels, Time now);

}  // namespace holdpoint
