#pragma once

#include <string>

#include "agents/llm/tool.h"
#include "domain/limits.h"
#include "domain/question.h"
#include "wire/question_json.h"

namespace holdpoint {

inline constexpr const char* kAskTool = "ask_user_question";

// What models are told of it.
ToolSpec ask_tool();

// The call as an ask of the session (DESIGN 5), and how many questions it has. Throws BadRequest
// with the rule that it breaks, for the model to read.
struct ToolAsk {
  std::string ask;
  std::int64_t questions = 0;
};
ToolAsk read_ask_call(const ToolCall& call, const AskDefaults& defaults, const Limits& limits);

// How the ask ended, as the tool's result. `resume` is what resume_json or refusal_json made.
ToolResult ask_result(const ToolCall& call, const std::string& resume);

}  // namespace holdpoint
