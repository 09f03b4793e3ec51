#include <algorithm>

#include "base/log.h"
#include "domain/bad_request.h"
#include "domain/text.h"
#include "http/api.h"
#include "wire/digest.h"
#include "wire/json.h"

namespace holdpoint {
namespace {

// What makes two deliveries of one webhook the same, by whichever name the sender calls it.
const std::vector<const char*> kIdHeaders{"Idempotency-Key", "webhook-id", "X-GitHub-Delivery"};

std::vector<const char*> own_id_headers(WebhookScheme scheme) {
  if (scheme == WebhookScheme::standard) return {"webhook-id", "svix-id"};
  if (scheme == WebhookScheme::github) return {"X-GitHub-Delivery"};
  return {};
}

std::optional<std::string> idempotency_key(const Request& request,
                                           const std::vector<const char*>& names = kIdHeaders) {
  for (const char* name : names) {
    std::string key = request.header(name);
    if (key.empty()) continue;
    check_idempotency_key(key, name);
    return key;
  }
  return std::nullopt;
}

Response unknown_agent(const std::string& name) {
  return error_response(404, "unknown_agent",
                        "there is no agent \"" + shorten(name, 60) + "\" in [agents] dir", "agent");
}

// A header that is there twice is as good as none: who stands in front of us may have judged the
// other one.
std::string only(const Request& request, const char* name) {
  return request.header_count(name) == 1 ? request.header(name) : "";
}

WebhookHeaders webhook_headers(WebhookScheme scheme, const Request& request) {
  switch (scheme) {
    case WebhookScheme::github:
      return {only(request, "X-GitHub-Delivery"), "", only(request, "X-Hub-Signature-256")};
    case WebhookScheme::standard:
      // The scheme's first implementation has names of its own for the same.
      if (request.header_count("webhook-id") == 0) {
        return {only(request, "svix-id"), only(request, "svix-timestamp"),
                only(request, "svix-signature")};
      }
      return {only(request, "webhook-id"), only(request, "webhook-timestamp"),
              only(request, "webhook-signature")};
    case WebhookScheme::slack:
      return {"", only(request, "X-Slack-Request-Timestamp"), only(request, "X-Slack-Signature")};
    case WebhookScheme::bearer: {
      const std::string header = only(request, "Authorization");
      return {"", "", lower_case(header.substr(0, 7)) == "bearer " ? header.substr(7) : ""};
    }
    case WebhookScheme::none:
      break;
  }
  return {};
}

Response bad_signature(Api& api, const std::string& agent, const std::string& message) {
  api.metrics.refused("bad_signature");
  log(Level::warning, "webhook_refused", {{"agent", agent}, {"reason", message}});
  Response response = error_response(401, "bad_signature", message);
  response.headers.emplace_back("WWW-Authenticate", "Bearer");
  return response;
}

// Who upstream is: a credential of ours that may start this agent, or the proof that the agent's
// definition asks for. Fills in the trigger, or answers why not.
std::optional<Response> verify_upstream(Api& api, const AgentDefinition& agent,
                                        const Request& request, Intake::Trigger& trigger) {
  trigger.by = request.actor();
  const WebhookScheme scheme = agent.webhook_verify;
  const bool verified = scheme != WebhookScheme::none;
  const std::string wanted = "webhook:" + agent.name;
  if (may_start(request.caller, agent)) return std::nullopt;
  if (!verified) return api.gate.refuse_unless(request, {wanted});
  const auto headers = webhook_headers(scheme, request);
  const std::string name(to_text(scheme));
  switch (verify_webhook(scheme, agent.webhook_keys, headers, request.body, api.clock.now())) {
    case Verdict::valid:
      break;
    case Verdict::missing:
      return bad_signature(api, agent.name,
                           "the agent wants webhooks signed as " + name +
                               " signs them, and headers for that are missing");
    case Verdict::stale:
      return bad_signature(api, agent.name, "the timestamp is more than 300 s off");
    case Verdict::wrong:
      return bad_signature(api, agent.name, "the signature does not fit the body and the secret");
  }
  trigger.by = {agent.name, "webhook:" + name, request.address};
  if (scheme != WebhookScheme::bearer) {
    trigger.receipt = receipt_store::Receipt{agent.name, signed_hash(scheme, headers, request.body),
                                             headers.id, sha256_hex(request.body)};
  }
  return std::nullopt;
}

// What Slack says in the body and others in headers: the event's id, which its retries repeat; or a
// question whether the address is ours, to which it wants its own word back.
struct SlackBody {
  std::optional<std::string> event_id;
  std::optional<std::string> challenge;  // The answer.
};
SlackBody read_slack(std::string_view payload) {
  const Json body = parse_json(payload, "body");
  SlackBody slack;
  if (body.value("type", Json()) == "url_verification") {
    const Json challenge = body.value("challenge", Json());
    if (!challenge.is_string()) throw BadRequest("challenge", "must be a string");
    JsonWriter out;
    out.begin_object().member("challenge", challenge.get<std::string>()).end_object();
    slack.challenge = out.take();
  }
  const Json id = body.value("event_id", Json());
  if (id.is_string() && !id.get<std::string>().empty() && id.get<std::string>().size() <= 255) {
    slack.event_id = id.get<std::string>();
  }
  return slack;
}

Response trigger(Api& api, const Request& request) {
  const Query query(request, {"parent"});
  Intake::Trigger trigger;
  trigger.agent_name = request.parameters.at("agent");
  const auto agent = api.agents.find(trigger.agent_name);
  // Who may not start agents is not told which there are.
  const std::string wanted = "webhook:" + trigger.agent_name;
  if (!agent) {
    if (auto refusal = api.gate.refuse_unless(request, {wanted})) return *refusal;
  }
  if (!agent) return unknown_agent(trigger.agent_name);
  if (auto refusal = verify_upstream(api, *agent, request, trigger)) return std::move(*refusal);
  trigger.payload = is_blank(request.body) ? "{}" : std::string_view(request.body);
  check_json(trigger.payload, "body");
  if (trigger.payload[trigger.payload.find_first_not_of(" \t\r\n")] != '{') {
    throw Unreadable("body", "must be a JSON object");
  }
  // A signed webhook goes by its own id: no other header of it is signed.
  trigger.idempotency_key = idempotency_key(
      request, trigger.receipt ? own_id_headers(agent->webhook_verify) : kIdHeaders);
  if (trigger.receipt && agent->webhook_verify == WebhookScheme::slack) {
    auto slack = read_slack(trigger.payload);
    if (slack.challenge) return json_response(200, std::move(*slack.challenge));
    trigger.receipt->webhook_id = slack.event_id.value_or("");
    trigger.idempotency_key = std::move(slack.event_id);
  }
  if (const auto parent = query.text("parent")) trigger.parent_id = SessionId(*parent);
  const auto admitted = api.intake.admit(trigger, api.clock.now());
  if (!admitted) return unknown_agent(trigger.agent_name);
  if (admitted->replayed) {
    return bad_signature(api, agent->name,
                         "this webhook was taken before; a retry must be signed anew");
  }
  JsonWriter out;
  out.begin_object().member("ok", true).member("session_id", admitted->session);
  out.member("status", to_text(admitted->status));
  if (admitted->duplicate) out.member("duplicate", true);
  out.end_object();
  return json_response(202, out.take());
}

// The header's key, for a body that has none.
void take_key(const Request& request, std::optional<std::string>& key) {
  auto header = idempotency_key(request);
  if (!header) return;
  if (key && key != header) throw BadRequest("idempotency_key", "is another than the header's");
  key = std::move(header);
}

Response ask(Api& api, const Request& request) {
  const Query query(request, {});
  const std::string agent_name = asking_agent(request.body, kExternalAgent);
  const auto agent = api.agents.find(agent_name);
  if (!agent) return unknown_agent(agent_name);
  OutsideAsk asked =
      parse_outside_ask(request.body, agent_name, api.intake.ask_defaults(*agent), api.limits);
  take_key(request, asked.idempotency_key);
  const auto admitted = api.intake.admit_ask(asked, request.actor(), api.clock.now());
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

Response notify(Api& api, const Request& request) {
  const Query query(request, {});
  const std::string agent_name = asking_agent(request.body, kExternalAgent);
  OutsideCard told = parse_outside_card(request.body, agent_name, api.limits);
  take_key(request, told.idempotency_key);
  const auto admitted = api.intake.admit_card(told, request.actor(), api.clock.now());
  if (!admitted) return unknown_agent(agent_name);
  JsonWriter out;
  out.begin_object().member("ok", true).member("session_id", admitted->session);
  out.member("status", to_text(admitted->status));
  if (admitted->duplicate) out.member("duplicate", true);
  out.key("channels").begin_array();
  for (const auto& channel : admitted->channels) out.value(channel);
  out.end_array().end_object();
  return json_response(202, out.take());
}

}  // namespace

Routes intake_routes(Api& api) {
  return {
      {"POST", "/agent/webhook/:agent", own_check(),
       [&api](const Request& r) { return trigger(api, r); }},
      {"POST", "/agent/ask", scope("questions:ask"),
       [&api](const Request& r) { return ask(api, r); }},
      {"POST", "/agent/notify", scope("questions:ask"),
       [&api](const Request& r) { return notify(api, r); }},
  };
}

}  // namespace holdpoint
