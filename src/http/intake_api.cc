#include <algorithm>

#include "domain/bad_request.h"
#include "domain/text.h"
#include "http/api.h"
#include "wire/json.h"

namespace holdpoint {
namespace {

// What makes two deliveries of one webhook the same, by whichever name the sender calls it.
std::optional<std::string> idempotency_key(const Request& request) {
  for (const char* name : {"Idempotency-Key", "webhook-id", "X-GitHub-Delivery"}) {
    std::string key = request.header(name);
    if (key.empty()) continue;
    const bool printable =
        std::all_of(key.begin(), key.end(), [](char c) { return c >= 0x20 && c < 0x7f; });
    if (!printable || key.size() > 255) {
      throw BadRequest(name, "must have at most 255 printable ASCII characters");
    }
    return key;
  }
  return std::nullopt;
}

Response unknown_agent(const std::string& name) {
  return error_response(404, "unknown_agent",
                        "there is no agent \"" + shorten(name, 60) + "\" in [agents] dir", "agent");
}

Response trigger(Api& api, const Request& request) {
  const Query query(request, {"parent"});
  Intake::Trigger trigger;
  trigger.agent_name = request.parameters.at("agent");
  if (!api.agents.find(trigger.agent_name)) return unknown_agent(trigger.agent_name);
  trigger.payload = is_blank(request.body) ? "{}" : std::string_view(request.body);
  check_json(trigger.payload, "body");
  if (trigger.payload[trigger.payload.find_first_not_of(" \t\r\n")] != '{') {
    throw Unreadable("body", "must be a JSON object");
  }
  trigger.idempotency_key = idempotency_key(request);
  if (const auto parent = query.text("parent")) trigger.parent_id = SessionId(*parent);
  const auto admitted = api.intake.admit(trigger, api.clock.now());
  if (!admitted) return unknown_agent(trigger.agent_name);
  JsonWriter out;
  out.begin_object().member("ok", true).member("session_id", admitted->session);
  out.member("status", to_text(admitted->status));
  if (admitted->duplicate) out.member("duplicate", true);
  out.end_object();
  return json_response(202, out.take());
}

Response ask(Api& api, const Request& request) {
  const Query query(request, {});
  const Json body = parse_json(request.body, "body");
  std::string agent_name = kExternalAgent;
  if (body.is_object() && body.contains("agent")) {
    if (!body["agent"].is_string()) throw BadRequest("agent", "must be a string");
    agent_name = body["agent"].get<std::string>();
  }
  const auto agent = api.agents.find(agent_name);
  if (!agent) return unknown_agent(agent_name);
  const Ask asked = parse_ask(request.body, api.intake.ask_defaults(*agent), api.limits, "agent");
  const auto admitted =
      api.intake.admit_ask(agent_name, asked, idempotency_key(request), api.clock.now());
  if (!admitted) return unknown_agent(agent_name);
  JsonWriter out;
  out.begin_object().member("ok", true).member("session_id", admitted->session);
  out.member("status", to_text(admitted->status));
  if (admitted->duplicate) out.member("duplicate", true);
  out.key("questions").begin_array();
  for (const auto& question : admitted->questions) write_question(out, question);
  out.end_array().end_object();
  return json_response(202, out.take());
}

}  // namespace

Routes intake_routes(Api& api) {
  return {
      {"POST", "/agent/webhook/:agent", [&api](const Request& r) { return trigger(api, r); }},
      {"POST", "/agent/ask", [&api](const Request& r) { return ask(api, r); }},
  };
}

}  // namespace holdpoint
