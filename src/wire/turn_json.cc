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

SpawnReply parse_spawn(std::string_view text, std::optional<std::string> state) {
  SpawnReply spawn;
  spawn.state = std::move(state);
  const Json given = parse_json(text, "spawn");
  check_members(given, "spawn", {"agents", "tool_call_id"});
  if (const auto id = given.find("tool_call_id"); id != given.end() && !id->is_null()) {
    if (!id->is_string()) throw BadRequest("tool_call_id", "must be a string");
    spawn.tool_call_id = id->get<std::string>();
  }
  const auto agents = given.find("agents");
  if (agents == given.end() || !agents->is_array() || agents->empty() ||
      agents->size() > kMaxSpawned) {
    throw BadRequest("agents", "must be a list of 1 to " + std::to_string(kMaxSpawned));
  }
  for (std::size_t i = 0; i < agents->size(); ++i) {
    const std::string here = "agents[" + std::to_string(i) + "]";
    const Json& start = (*agents)[i];
    check_members(start, here, {"agent", "payload"});
    const auto name = start.find("agent");
    if (name == start.end() || !name->is_string()) {
      throw BadRequest(here + ".agent", "must be an agent's name");
    }
    const auto payload = start.find("payload");
    spawn.starts.push_back(
        {name->get<std::string>(), payload == start.end() ? "{}" : payload->dump()});
  }
  return spawn;
}

std::string spawn_resume_json(const std::optional<std::string>& tool_call_id,
                              const std::vector<SubResult>& results) {
  JsonWriter out;
  out.begin_object().member("tool_call_id", tool_call_id).key("agents").begin_array();
  for (const auto& sub : results) {
    out.begin_object().member("session_id", sub.session_id).member("agent", sub.agent_name);
    out.member("status", to_text(sub.status)).raw_or_null("result", sub.result);
    out.member("error", sub.error).end_object();
  }
  out.end_array().end_object();
  return out.take();
}

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
  std::optional<std::string_view> ask, state, result, carry_on, spawn, error, retry;
  const std::map<std::string_view, std::optional<std::string_view>*> known{
      {"ask", &ask},     {"state", &state}, {"result", &result}, {"continue", &carry_on},
      {"spawn", &spawn}, {"error", &error}, {"retry", &retry}};
  for (const auto& [name, value] : members_of(text)) {
    const auto it = known.find(name);
    if (it == known.end()) {
      throw BadRequest("reply." + shorten(name, 60),
                       "is not known here; a turn answers ask, result, continue, spawn or error");
    }
    if (*it->second) throw BadRequest("reply." + std::string(name), "is there twice");
    *it->second = value;
  }
  if (!!ask + !!result + !!carry_on + !!spawn + !!error != 1) {
    throw BadRequest("reply",
                     "must be an object with exactly one of ask, result, continue, spawn or error");
  }
  if (state && !ask && !carry_on && !spawn) {
    throw BadRequest("reply.state", "goes with ask, continue or spawn only");
  }
  if (retry && !error) throw BadRequest("reply.retry", "goes with error only");
  std::optional<std::string> kept;
  if (state) {
    check_size("reply.state", *state, limits.max_state_bytes);
    kept = std::string(*state);
  }
  if (spawn) return parse_spawn(*spawn, std::move(kept));
  if (ask) return AskReply{std::string(*ask), std::move(kept)};
  if (result) {
    check_size("reply.result", *result, limits.max_result_bytes);
    return ResultReply{std::string(*result)};
  }
  if (carry_on) {
    if (*carry_on != "true") throw BadRequest("reply.continue", "must be true");
    return ContinueReply{std::move(kept)};
  }
  const Json reason = read_json(*error);
  if (!reason.is_string()) throw BadRequest("reply.error", "must be a string");
  if (retry && *retry != "true" && *retry != "false") {
    throw BadRequest("reply.retry", "must be true or false");
  }
  return ErrorReply{reason.get<std::string>(), retry == "true"};
}

}  // namespace holdpoint
