#include "wire/outside_ask.h"

#include <algorithm>

#include "domain/bad_request.h"
#include "wire/digest.h"
#include "wire/json.h"

namespace holdpoint {

std::string asking_agent(std::string_view body, std::string_view otherwise) {
  const Json json = parse_json(body, "body");
  if (!json.is_object() || !json.contains("agent")) return std::string(otherwise);
  if (!json["agent"].is_string()) throw BadRequest("agent", "must be a string");
  return json["agent"].get<std::string>();
}

void check_idempotency_key(std::string_view key, const std::string& field) {
  const bool printable =
      std::all_of(key.begin(), key.end(), [](char c) { return c >= 0x20 && c < 0x7f; });
  if (key.empty() || !printable || key.size() > 255) {
    throw BadRequest(field, "must have 1 to 255 printable ASCII characters");
  }
}

OutsideAsk parse_outside_ask(std::string_view body, std::string agent_name,
                             const AskDefaults& defaults, const Limits& limits) {
  OutsideAsk outside;
  outside.agent_name = std::move(agent_name);
  outside.ask =
      parse_ask(body, defaults, limits, {"agent", "idempotency_key", "dedupe", "payload"});
  const Json json = parse_json(body, "body");
  if (json.contains("idempotency_key") && !json["idempotency_key"].is_null()) {
    const Json& key = json["idempotency_key"];
    if (!key.is_string()) throw BadRequest("idempotency_key", "must be a string");
    outside.idempotency_key = key.get<std::string>();
    check_idempotency_key(*outside.idempotency_key, "idempotency_key");
  }
  if (json.contains("dedupe")) {
    if (!json["dedupe"].is_boolean()) throw BadRequest("dedupe", "must be true or false");
    outside.dedupe = json["dedupe"].get<bool>();
  }
  if (json.contains("payload") && !json["payload"].is_null()) {
    if (!json["payload"].is_object()) throw BadRequest("payload", "must be a JSON object");
    outside.payload = json["payload"].dump();
    for (const auto& [name, value] : members_of(body)) {
      if (name == "payload") outside.payload = value;  // As written, if it is plainly written.
    }
  }
  return outside;
}

std::string fingerprint(const OutsideAsk& outside) {
  JsonWriter out;
  out.begin_array().value(outside.agent_name);
  for (const auto& question : outside.ask.questions) {
    out.value(question.question).value(question.multi_select).begin_array();
    for (const auto& option : question.options) out.value(option.label);
    out.end_array();
  }
  out.end_array();
  return sha256_hex(out.take());
}

}  // namespace holdpoint
