#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "wire/outside_ask.h"

// Calls as HumanLayer's SDK writes them. It makes up a call's id itself and asks for the call under
// that id until its status says what a person did.
namespace holdpoint::humanlayer {

// A function that wants to run, or a message that wants an answer.
enum class Kind { function_call, human_contact };
std::string_view to_text(Kind kind);

// One of a call's `reject_options` or `response_options`. Empty: not given, but for the name.
struct ReplyOption {
  std::string name;
  std::string title;
  std::string description;
  std::string prompt_fill;
};

// A call as it is kept, without the tokens that came with it.
struct Call {
  Kind kind = Kind::function_call;
  std::string run_id;
  std::string call_id;
  std::string spec;  // JSON: the members that we know.
  std::vector<ReplyOption> options;
};

// What bounds and fills in a call.
struct Rules {
  std::string agent_name;
  AskDefaults defaults;
  Limits limits;
};

// The body of POST /function_calls or /contact_requests. Members that are not known are let be.
// Throws BadRequest.
OutsideAsk parse_call(Kind kind, std::string_view body, const Rules& rules);

// The idempotency key of a call's ask, whatever its id looks like.
std::string key_of(Kind kind, std::string_view call_id);

// What parse_call left in the payload; nothing if it is no call of this kind.
std::optional<Call> read_call(Kind kind, std::string_view payload);

// Whether a person who answered one has answered the other: the same function with the same
// arguments, or the same message, and the same options. Where it was sent and who asked may differ.
bool asks_the_same(const Call& one, const Call& other);

// What people choose from: Approve and Reject first if it is a function call, then an option each,
// by title or name. No two are the same but for their case.
std::vector<std::string> labels_of(Kind kind, const std::vector<ReplyOption>& options);

// The member of the call that is to blame for a place that the ask goes to.
std::string field_of(const Target& place);

}  // namespace holdpoint::humanlayer
