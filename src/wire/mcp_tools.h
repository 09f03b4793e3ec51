#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "domain/session.h"
#include "wire/outside_ask.h"

// The tools that MCP clients call: what they take, and what they give back.
namespace holdpoint::mcp {

// `[{"name":"ask_user_question",…},…]`
std::string tools_json(const Limits& limits);

// What bounds and fills in a call.
struct Rules {
  std::string agent_name;
  AskDefaults defaults;
  Limits limits;
  std::chrono::seconds longest_wait{55};
};

// All parsers take `arguments` as they are written, and throw BadRequest.
struct AskCall {
  OutsideAsk ask;
  std::chrono::seconds wait{0};
  bool elicit = false;  // The client's own user is asked first.
};
AskCall parse_ask(std::string_view arguments, const Rules& rules);
// The question is open for `longest_wait` at most.
OutsideAsk parse_permission(std::string_view arguments, const Rules& rules);
struct AboutAsk {
  std::string id;  // Of the ask, or of one of its questions.
  std::chrono::seconds wait{0};
  std::string reason;
};
AboutAsk parse_get_answer(std::string_view arguments, const Rules& rules);
AboutAsk parse_cancel(std::string_view arguments);

// What an ask's payload says about the call that it came by.
bool withdrawn_by_cancel(std::string_view payload);
bool is_permission(std::string_view payload);

// `{"content":[…],…}`. Empty `structured`: none.
std::string text_result(std::string_view text, std::string_view structured, bool is_error);
// Of an ask as it is: how it ended, or that it is open and how to go on.
std::string ask_result(const Session& session, const std::vector<Question>& questions);
// People are told, on these platforms and in the inbox.
std::string told_result(const SessionId& session, const std::vector<std::string>& channels);
// The same in the words of a permission prompt: `{"behavior":"allow",…}`.
std::string permission_result(const Session& session, const std::vector<Question>& questions,
                              std::string_view payload);

}  // namespace holdpoint::mcp
