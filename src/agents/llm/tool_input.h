#pragma once

#include <optional>
#include <string>

#include "wire/json.h"

namespace holdpoint {

// The input of a tool call as the model wrote it; blank stands for {}. Throws BadRequest that says
// the rule if it is no JSON object.
Json parse_tool_input(const std::string& input);

// What is wrong with `input` by the JSON Schema, for the model to mend: where, and the rule;
// nothing if all is well. Knows type, properties, required, enum, items, additionalProperties:
// false, minItems, maxItems, minimum, maximum, minLength and maxLength; passes over all else.
std::optional<std::string> complaint_about_input(const Json& schema, const Json& input);

}  // namespace holdpoint
