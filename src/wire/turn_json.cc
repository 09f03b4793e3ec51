#include "wire/turn_json.h"

#include <map>

#include "domain/bad_request.h"
#include "domain/text.h"
#include "wire/json.h"

namespace holdpoint {
namespace {

void check_size(const std::string& field, std::string_view text, std::size_t most) {
  if (text.size() > most) {
    throw BadRequest(field, "has " + std::to_string(text.size()) + " bytes, at most " +
                                std::to_string(most) + " are kept");
  }
}

}  // namespace

std::string turn_request_json(const TurnRequest& request) {
  JsonWriter out;
  out.begin_object().member("session_id", request.session_id).member("agent", request.agent_name);
  out.member("turn", request.turn).member("reason", to_text(request.reason));
  out.raw_member("payload", request.payload).raw_or_null("state", request.state);
  out.raw_or_null("resume", request.resume).key("messages").begin_array();
  for (const auto& message : request.messages) out.raw(message);
  out.end_array().end_object();
  return out.take();
}

TurnReply parse_turn_reply(std::string_view text, const Limits& limits) {
  check_json(text, "reply");
  std::optional<std::string_view> ask, state, result, carry_on, error, retry;
  const std::map<std::string_view, std::optional<std::string_view>*> known{
      {"ask", &ask},           {"state", &state}, {"result", &result},
      {"continue", &carry_on}, {"error", &error}, {"retry", &retry}};
  for (const auto& [name, value] : members_of(text)) {
    const auto it = known.find(name);
    if (it == known.end()) {
      throw BadRequest("reply." + shorten(name, 60),
                       "is not known here; a turn answers ask, result, continue or error");
    }
    if (*it->second) throw BadRequest("reply." + std::string(name), "is there twice");
    *it->second = value;
  }
  if (!!ask + !!result + !!carry_on + !!error != 1) {
    throw BadRequest("reply",
                     "must be an object with exactly one of ask, result, continue or error");
  }
  if (state && !ask && !carry_on) {
    throw BadRequest("reply.state", "goes with ask or continue only");
  }
  if (retry && !error) throw BadRequest("reply.retry", "goes with error only");
  std::optional<std::string> kept;
  if (state) {
    check_size("reply.state", *state, limits.max_state_bytes);
    kept = std::string(*state);
  }
  if (ask) return AskReply{std::string(*ask), std::move(kept)};
  if (result) {
    check_size("reply.result", *result, limits.max_result_bytes);
    return ResultReply{std::string(*result)};
  }
  if (carry_on) {
    if (*carry_on != "true") throw BadRequest("reply.continue", "must be true");
    return ContinueReply{std::move(kept)};
  }
  const Json reason = Json::parse(*error);
  if (!reason.is_string()) throw BadRequest("reply.error", "must be a string");
  if (retry && *retry != "true" && *retry != "false") {
    throw BadRequest("reply.retry", "must be true or false");
  }
  return ErrorReply{reason.get<std::string>(), retry == "true"};
}

}  // namespace holdpoint
