#include "flow/events.h"

#include <algorithm>
#include <array>

#include "domain/text.h"

namespace holdpoint::events {
namespace {

constexpr std::array<std::string_view, 36> kTypes{
    "card_posted",       "ask_joined",           "agent_output",       "agents_spawned",
    "model_replied",     "sub_session_ended",    "tool_ran",           "ask_refused",
    "delivery_dead",     "delivery_failed",      "delivery_obsolete",  "delivery_requeued",
    "delivery_sent",     "destination_disabled", "mail_bounced",       "message_queued",
    "question_answered", "question_asked",       "question_cancelled", "question_expired",
    "reply_ignored",     "reply_refused",        "reply_unclear",      "result_deferred",
    "session_cancelled", "session_completed",    "session_failed",     "session_resumed",
    "session_retried",   "session_started",      "trigger_repeated",   "turn_continued",
    "turn_discarded",    "turn_failed",          "turn_released",      "turn_started"};

Facts about(const Question& q) { return {{"question", q.id.text()}, {"agent", q.agent_name}}; }

Facts about(const Delivery& d) {
  return {{"delivery", d.id.text()},
          {"notice", d.event},
          {"channel", d.channel},
          {"host", d.host},
          {"attempt", d.attempts}};
}

void add_retry(Facts& facts, std::optional<Duration> retry_in) {
  if (retry_in) facts.emplace_back("retry_in_ms", static_cast<std::int64_t>(retry_in->count()));
}

}  // namespace

bool is_type(std::string_view type) {
  return std::find(kTypes.begin(), kTypes.end(), type) != kTypes.end();
}

Event session_started(const SessionId& id, const std::string& agent,
                      const std::optional<SessionId>& parent) {
  Facts facts{{"agent", agent}};
  if (parent) facts.emplace_back("parent", parent->text());
  // Nobody can have waited for it yet.
  return {id, "session_started", std::move(facts), Level::info, true, false};
}

Event trigger_repeated(const SessionId& id, const std::string& agent) {
  return {id, "trigger_repeated", {{"agent", agent}}};
}

Event ask_joined(const SessionId& id, const std::string& agent) {
  return {id, "ask_joined", {{"agent", agent}}, Level::info, true, false};
}

Event card_posted(const SessionId& id, const std::string& agent,
                  const std::vector<std::string>& channels) {
  std::string where;
  for (const auto& channel : channels) where += (where.empty() ? "" : ", ") + channel;
  return {id, "card_posted", {{"agent", agent}, {"channels", where}}};
}

Event turn_started(const SessionId& id, std::int64_t turn, std::int64_t attempt,
                   TurnReason reason) {
  return {id,
          "turn_started",
          {{"turn", turn}, {"attempt", attempt}, {"reason", to_text(reason)}},
          Level::info,
          true,
          false};
}

Event turn_failed(const SessionId& id, std::int64_t turn, std::int64_t attempt,
                  const std::string& reason, std::optional<Duration> retry_in) {
  Facts facts{{"turn", turn}, {"attempt", attempt}, {"reason", shorten(reason, 500)}};
  add_retry(facts, retry_in);
  return {id, "turn_failed", std::move(facts), Level::warning};
}

Event turn_continued(const SessionId& id, std::int64_t turn) {
  return {id, "turn_continued", {{"turn", turn}}};
}

Event turn_released(const SessionId& id, std::int64_t turn) {
  return {id, "turn_released", {{"turn", turn}, {"reason", "the server is stopping"}}};
}

Event turn_discarded(const SessionId& id, std::int64_t turn, std::int64_t lease) {
  return {id,
          "turn_discarded",
          {{"turn", turn}, {"lease", lease}, {"reason", "its lease was lost"}},
          Level::warning};
}

Event result_deferred(const SessionId& id, std::int64_t turn, std::int64_t messages) {
  return {id, "result_deferred", {{"turn", turn}, {"messages_waiting", messages}}};
}

Event agent_output(const SessionId& id, std::int64_t turn, const std::string& line) {
  return {id, "agent_output", {{"turn", turn}, {"line", line}}, Level::info, false, false};
}

Event model_replied(const SessionId& id, std::int64_t turn, const ModelStep& step) {
  return {id,
          "model_replied",
          {{"turn", turn},
           {"model", step.model},
           {"stop_reason", step.stop_reason},
           {"tool_calls", step.calls},
           {"input_tokens", step.spent.input_tokens},
           {"output_tokens", step.spent.output_tokens},
           {"took_ms", static_cast<std::int64_t>(step.took.count())}},
          Level::info,
          true,
          false};
}

Event tool_ran(const SessionId& id, std::int64_t turn, const ToolStep& step) {
  return {id,
          "tool_ran",
          {{"turn", turn},
           {"tool", shorten(step.tool, 100)},
           {"tool_call_id", shorten(step.call_id, 200)},
           {"outcome", step.is_error ? "error" : "done"},
           {"took_ms", static_cast<std::int64_t>(step.took.count())}},
          Level::info,
          true,
          false};
}

Event agents_spawned(const SessionId& id, std::int64_t turn,
                     const std::vector<SpawnReply::Start>& starts) {
  std::string names;
  for (const auto& start : starts) names += (names.empty() ? "" : ", ") + start.agent_name;
  return {id,
          "agents_spawned",
          {{"turn", turn},
           {"count", static_cast<std::int64_t>(starts.size())},
           {"agents", shorten(names, 500)}}};
}

Event sub_session_ended(const SessionId& id, const Session& child) {
  return {id,
          "sub_session_ended",
          {{"sub_session", child.id.text()},
           {"agent", child.agent_name},
           {"status", to_text(child.status)}}};
}

Event question_asked(const Question& q) {
  Facts facts = about(q);
  facts.emplace_back("expires_at", to_iso(q.deadline_at));
  return {q.session_id, "question_asked", std::move(facts)};
}

Event ask_refused(const SessionId& id, std::int64_t turn, const std::string& reason) {
  return {id, "ask_refused", {{"turn", turn}, {"reason", shorten(reason, 500)}}, Level::warning};
}

Event question_answered(const Question& q) {
  Facts facts = about(q);
  if (q.answered_by) facts.emplace_back("by", *q.answered_by);
  if (q.answered_via) facts.emplace_back("via", *q.answered_via);
  return {q.session_id, "question_answered", std::move(facts)};
}

Event question_expired(const Question& q) {
  Facts facts = about(q);
  facts.emplace_back("outcome", to_text(q.status));
  return {q.session_id, "question_expired", std::move(facts)};
}

Event question_cancelled(const Question& q) {
  return {q.session_id, "question_cancelled", about(q)};
}

Event session_resumed(const SessionId& id, TurnReason reason) {
  return {id, "session_resumed", {{"reason", to_text(reason)}}};
}

Event session_completed(const SessionId& id) { return {id, "session_completed", {}}; }

Event session_failed(const SessionId& id, const std::string& reason) {
  return {id, "session_failed", {{"reason", shorten(reason, 500)}}, Level::warning};
}

Event session_cancelled(const SessionId& id, const std::string& reason) {
  return {id, "session_cancelled", {{"reason", shorten(reason, 500)}}};
}

Event session_retried(const SessionId& id, std::int64_t turn) {
  return {id, "session_retried", {{"turn", turn}}};
}

Event message_queued(const SessionId& id, const MessageId& message) {
  return {id, "message_queued", {{"message", message.text()}}};
}

Event delivery_sent(const Delivery& d, std::optional<std::int64_t> status) {
  Facts facts = about(d);
  if (status) facts.emplace_back("status", *status);
  return {d.session_id, "delivery_sent", std::move(facts), Level::info, true, false};
}

Event delivery_failed(const Delivery& d, const std::string& reason,
                      std::optional<Duration> retry_in) {
  Facts facts = about(d);
  facts.emplace_back("reason", shorten(reason, 500));
  add_retry(facts, retry_in);
  return {d.session_id, "delivery_failed", std::move(facts), Level::warning, true, false};
}

Event delivery_dead(const DeliveryId& id, const SessionId& session, const std::string& reason) {
  return {session,
          "delivery_dead",
          {{"delivery", id.text()}, {"reason", shorten(reason, 500)}},
          Level::warning};
}

Event delivery_obsolete(const Delivery& d) {
  Facts facts = about(d);
  facts.emplace_back("reason", "the question was settled meanwhile");
  return {d.session_id, "delivery_obsolete", std::move(facts)};
}

Event delivery_requeued(const Delivery& d) { return {d.session_id, "delivery_requeued", about(d)}; }

Event destination_disabled(const SessionId& id, const std::string& host,
                           const std::string& reason) {
  return {id, "destination_disabled", {{"host", host}, {"reason", reason}}, Level::warning};
}

namespace {

Event reply_event(const char* type, const Delivery& d, const std::string& reason, Level level) {
  Facts facts{{"delivery", d.id.text()}};
  if (d.question_id) facts.emplace_back("question", d.question_id->text());
  facts.emplace_back("to", d.destination);
  facts.emplace_back("reason", shorten(reason, 500));
  return {d.session_id, type, std::move(facts), level, true, false};
}

}  // namespace

Event reply_ignored(const Delivery& post, const std::string& reason) {
  return reply_event("reply_ignored", post, reason, Level::info);
}

Event reply_refused(const Delivery& post, const std::string& reason) {
  return reply_event("reply_refused", post, reason, Level::warning);
}

Event reply_unclear(const Delivery& post, bool mailed_back) {
  return reply_event("reply_unclear", post,
                     mailed_back ? "it was no answer; a mail back says so"
                                 : "it was no answer, and mails back were sent enough",
                     Level::info);
}

Event mail_bounced(const Delivery& post, const std::string& reason) {
  return reply_event("mail_bounced", post, reason, Level::warning);
}

}  // namespace holdpoint::events
