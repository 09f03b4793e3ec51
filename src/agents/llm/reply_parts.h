#pragma once

#include <string>
#include <string_view>

#include "agents/llm/provider.h"
#include "wire/json.h"

namespace holdpoint {

// What both kinds of API have in common. Models and those who serve them are not trusted: all of
// these take any bytes.

// A 200's body. Throws BadRequest if it is no JSON object, or nested so deep that a session's state
// could not hold it.
Json parse_reply(const std::string& body);

// The member as it is written; empty where there is none, or where its name is spelled with
// escapes. `object` must have passed check_json.
std::string_view raw_member(std::string_view object, std::string_view name);

// The member if `object` has it as a text; empty otherwise.
std::string text_member(const Json& object, const char* name);

// A count of tokens: 0 where there is none, and never more than any model could take.
std::int64_t token_count(const Json& usage, const char* name);

// Throws BadRequest unless each call has an id of its own and a name: its result could not be told.
void check_calls(const std::vector<ToolCall>& calls);

// The `error` of an error's body, or the body itself if it is such; null if it has none.
Json error_of(const std::string& body);

// What an error says, for people; what is no JSON says itself, unless it is a page.
std::string error_sentence(const std::string& body);

}  // namespace holdpoint
