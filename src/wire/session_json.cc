#include "wire/session_json.h"

#include <array>
#include <cinttypes>
#include <cstdio>

#include "wire/question_json.h"

namespace holdpoint {
namespace {

void write_usage(JsonWriter& out, const ModelSpent& spent) {
  out.key("usage");
  if (spent.steps == 0) {
    out.value(nullptr);
    return;
  }
  out.begin_object().member("steps", spent.steps).member("input_tokens", spent.input_tokens);
  out.member("output_tokens", spent.output_tokens).member("cached_tokens", spent.cached_tokens);
  out.raw_or_null("cost_usd", to_dollars(spent.cost_micros)).end_object();
}

void write_members(JsonWriter& out, const Session& s) {
  out.member("id", s.id).member("agent_name", s.agent_name).member("status", to_text(s.status));
  out.raw_or_null("result", s.result).member("questions_asked", s.questions_asked);
  out.member("created_at", s.created_at).member("completed_at", s.completed_at);
  out.member("error", s.error).member("updated_at", s.updated_at);
  out.member("parent_id", s.parent_id).member("turn", s.turn).member("attempts", s.attempts);
  write_usage(out, s.spent);
}

}  // namespace

std::optional<std::string> to_dollars(std::optional<std::int64_t> micros) {
  if (!micros) return std::nullopt;
  std::array<char, 48> text{};
  std::snprintf(text.data(), text.size(), "%" PRId64 ".%06" PRId64, *micros / 1'000'000,
                *micros % 1'000'000);
  std::string dollars = text.data();
  dollars.erase(dollars.find_last_not_of('0') + 1);
  if (dollars.back() == '.') dollars.pop_back();
  return dollars;
}

void write_session(JsonWriter& out, const Session& session) {
  out.begin_object();
  write_members(out, session);
  out.end_object();
}

void write_session(JsonWriter& out, const Session& session, const std::vector<Question>& pending) {
  out.begin_object();
  write_members(out, session);
  out.key("questions").begin_array();
  for (const auto& question : pending) write_question(out, question);
  out.end_array().end_object();
}

void write_record(JsonWriter& out, const SessionId& id, const SessionRecord& record,
                  const SessionRights& rights) {
  out.begin_object().member("id", id).raw_member("payload", record.payload);
  out.raw_or_null("state", record.state).raw_or_null("resume", record.resume);
  out.key("messages").begin_array();
  for (const auto& message : record.messages) {
    out.begin_object().member("id", message.id).raw_member("body", message.body);
    out.member("created_at", message.created_at).member("turn", message.turn).end_object();
  }
  out.end_array().key("children").begin_array();
  for (const auto& child : record.children) {
    out.begin_object().member("id", child.id).member("agent_name", child.agent_name);
    out.member("status", to_text(child.status)).member("created_at", child.created_at);
    out.end_object();
  }
  out.end_array().member("may_cancel", rights.cancel).member("may_retry", rights.retry);
  out.member("may_message", rights.message).end_object();
}

void write_delivery(JsonWriter& out, const Delivery& d) {
  out.begin_object().member("id", d.id).member("session_id", d.session_id);
  out.member("question_id", d.question_id).member("event", d.event).member("channel", d.channel);
  out.member("destination", d.destination).member("status", to_text(d.status));
  out.member("attempts", d.attempts).member("next_attempt_at", d.next_attempt_at);
  out.member("last_status", d.last_status).member("last_error", d.last_error);
  out.member("created_at", d.created_at).member("delivered_at", d.delivered_at);
  out.member("message_ref", d.message_ref).member("follows", d.follows).end_object();
}

}  // namespace holdpoint
