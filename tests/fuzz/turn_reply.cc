// What an agent answers to a turn, and the next turn that carries its state.
#include "tests/fuzz/expect.h"
#include "tests/fuzz/refusal.h"
#include "wire/json.h"
#include "wire/turn_json.h"

namespace holdpoint {
namespace {

Limits small_limits() {
  Limits limits;
  limits.max_state_bytes = limits.max_result_bytes = 100;
  return limits;
}
const Limits kLimits = small_limits();

void check_opaque(std::string_view reply, const std::string& text, const Json& value) {
  expect(reply.find(text) != std::string_view::npos, "an opaque text is kept byte for byte");
  expect(Json::parse(text) == value, "an opaque text is the member's");
}

void check_state(std::string_view reply, const std::optional<std::string>& state,
                 const Json& json) {
  expect(state.has_value() == json.contains("state"), "a state is kept if there is one");
  if (!state) return;
  expect(state->size() <= kLimits.max_state_bytes, "a state has its bounds");
  check_opaque(reply, *state, json["state"]);
  TurnRequest next;
  next.state = next.payload = *state;
  next.messages = {*state, *state};
  const Json request = Json::parse(turn_request_json(next));
  expect(request["state"] == json["state"] && request["messages"][1] == json["state"],
         "the next turn gets the state back");
}

void check_kind(const TurnReply& reply, std::string_view text, const Json& json) {
  if (const auto* ask = std::get_if<AskReply>(&reply)) {
    check_state(text, ask->state, json);
    check_opaque(text, ask->ask, json["ask"]);
    unless_refused([&] { return parse_ask(ask->ask, {}, kLimits); });
  } else if (const auto* result = std::get_if<ResultReply>(&reply)) {
    expect(result->result.size() <= kLimits.max_result_bytes, "a result has its bounds");
    check_opaque(text, result->result, json["result"]);
  } else if (const auto* carry_on = std::get_if<ContinueReply>(&reply)) {
    expect(json["continue"] == true, "continue is true");
    check_state(text, carry_on->state, json);
  } else {
    const auto& error = std::get<ErrorReply>(reply);
    expect(json["error"] == error.error, "the error is what was written");
    expect(json.value("retry", false) == error.retry, "retry is what was written");
  }
}

void run(std::string_view text) {
  const auto reply = unless_refused([&] { return parse_turn_reply(text, kLimits); });
  if (!reply) return;
  const Json json = Json::parse(text);
  expect(json.contains("ask") + json.contains("result") + json.contains("continue") +
                 json.contains("error") ==
             1,
         "a reply is just one of the four");
  expect(members_of(text).size() == json.size(), "no member is there twice");
  check_kind(*reply, text, json);
}

}  // namespace
}  // namespace holdpoint

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  holdpoint::run(holdpoint::text_of(data, size));
  return 0;
}
