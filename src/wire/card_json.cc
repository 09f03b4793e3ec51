#include "wire/card_json.h"

#include "domain/bad_request.h"
#include "wire/json.h"
#include "wire/json_writer.h"
#include "wire/outside_ask.h"
#include "wire/target_json.h"

namespace holdpoint {
namespace {

std::optional<std::string> read_text(const Json& json, const char* name) {
  const auto it = json.find(name);
  if (it == json.end() || it->is_null()) return std::nullopt;
  if (!it->is_string()) throw BadRequest(name, "must be a string");
  return it->get<std::string>();
}

void write_card(JsonWriter& out, const Card& card) {
  out.begin_object();
  out.member("title", card.title.empty() ? std::nullopt : std::optional(card.title));
  out.member("message", card.text).end_object();
}

}  // namespace

OutsideCard parse_outside_card(std::string_view body, std::string agent_name,
                               const Limits& limits) {
  const Json json = parse_json(body, "body");
  check_members(json, "", {"agent", "message", "title", "channels", "idempotency_key"});
  OutsideCard outside;
  outside.agent_name = std::move(agent_name);
  const auto message = read_text(json, "message");
  if (!message) throw BadRequest("message", "is required");
  outside.card.text = *message;
  outside.card.title = read_text(json, "title").value_or("");
  outside.card.channels = read_channels(json, limits);
  outside.idempotency_key = read_text(json, "idempotency_key");
  if (outside.idempotency_key) check_idempotency_key(*outside.idempotency_key, "idempotency_key");
  check_card(outside.card, limits);
  return outside;
}

std::string card_json(const Card& card) {
  JsonWriter out;
  write_card(out, card);
  return out.take();
}

std::string card_posted_json(const SessionId& session, const std::string& agent_name,
                             const Card& card) {
  JsonWriter out;
  out.begin_object().member("event", "card_posted").member("session_id", session);
  out.member("agent_name", agent_name).key("card");
  write_card(out, card);
  return out.end_object().take();
}

Card read_card_posted(std::string_view body) {
  const Json json = read_json(body);
  Card card;
  card.title = read_text(json.at("card"), "title").value_or("");
  card.text = json.at("card").at("message").get<std::string>();
  return card;
}

}  // namespace holdpoint
