#include "wire/callback_json.h"

#include "wire/question_json.h"

namespace holdpoint {
namespace {

void begin(JsonWriter& out, std::string_view event, const SessionId& session,
           const std::string& agent_name) {
  out.begin_object().member("event", event).member("session_id", session);
  out.member("agent_name", agent_name);
}

void write_question_members(JsonWriter& out, const Question& q) {
  out.member("id", q.id).member("text", q.spec.question);
  write_options(out, q.spec);
  out.raw_member("context", q.context);
  write_choices(out, q.spec);
  out.member("header", q.spec.header).member("multi_select", q.spec.multi_select);
  out.member("allow_other", q.spec.allow_other).member("style", to_text(q.spec.style));
  out.member("expires_at", q.deadline_at).member("tool_call_id", q.tool_call_id);
}

}  // namespace

std::string question_pending_json(const Question& q, const std::string& answer_url,
                                  const std::optional<std::string>& answer_page) {
  JsonWriter out;
  begin(out, "question_pending", q.session_id, q.agent_name);
  out.key("question").begin_object();
  write_question_members(out, q);
  out.end_object().member("answer_url", answer_url);
  if (answer_page) out.member("answer_page", *answer_page);
  out.end_object();
  return out.take();
}

std::string question_settled_json(const Question& q) {
  JsonWriter out;
  begin(out, "question_settled", q.session_id, q.agent_name);
  out.key("question").begin_object();
  write_question_members(out, q);
  out.member("outcome", to_text(q.status)).key("answer");
  if (q.choice) {
    write_choice(out, q.spec, *q.choice);
  } else {
    out.value(nullptr);
  }
  write_selected(out, q);
  write_answerer(out, q);
  out.end_object().end_object();
  return out.take();
}

std::string session_ended_json(const std::string& event, const Session& s) {
  JsonWriter out;
  begin(out, event, s.id, s.agent_name);
  out.member("status", to_text(s.status)).raw_or_null("result", s.result);
  out.member("error", s.error).member("completed_at", s.completed_at).end_object();
  return out.take();
}

}  // namespace holdpoint
