#pragma once

#include <optional>
#include <string>
#include <vector>

#include "domain/ask.h"
#include "domain/limits.h"
#include "wire/json.h"

// An ask as a form that an MCP client shows to its own user.
namespace holdpoint::mcp {

// Whether clients of this revision can show it: before 2025-11-25 forms had no lists.
bool can_elicit(const Ask& ask, std::string_view revision);

// `{"message":…,"requestedSchema":{…}}`
std::string elicitation_params(const Ask& ask);

// The choices that the user made, one for each question; nothing if they made none (`decline`,
// `cancel`), or none that the questions allow.
std::optional<std::vector<Choice>> read_elicited(const Json& result, const Ask& ask,
                                                 const Limits& limits);

// What the tool gives back for them.
std::string elicited_result(const Ask& ask, const std::vector<Choice>& choices);

}  // namespace holdpoint::mcp
