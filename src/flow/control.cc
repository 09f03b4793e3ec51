#include "flow/control.h"

#include "domain/bad_request.h"
#include "store/question_store.h"
#include "store/session_store.h"

namespace holdpoint {
namespace {

struct Done {
  Control::Result result;
  Story story;
};

}  // namespace

Control::Result Control::cancel(const SessionId& id, const std::string& reason, Time now) {
  Done done = db_.write([&](Transaction& tx) {
    Done d;
    const auto session = session_store::find(tx, id);
    if (!session) {
      d.result.outcome = Outcome::unknown;
      return d;
    }
    d.result.status = session->status;
    if (session->status == SessionStatus::cancelled) return d;
    if (!may_move(session->status, SessionStatus::cancelled)) {
      d.result.outcome = Outcome::refused;
      return d;
    }
    d.result.status = SessionStatus::cancelled;
    if (session_store::cancel_running(tx, id, reason, now)) {
      d.story.add(tx, events::session_cancelled(id, reason), now);
      notices_.session_ended(tx, d.story, id, session->agent_name, SessionStatus::cancelled, now);
      return d;
    }
    const question_store::Settlement settlement{QuestionStatus::cancelled, std::nullopt,
                                                std::nullopt, std::nullopt};
    for (const auto& question : question_store::pending_of(tx, id)) {
      if (!question_store::settle(tx, question.id, settlement, now)) continue;
      const auto settled = question_store::find(tx, question.id).value();
      settling_.settled(tx, d.story, settled, events::question_cancelled(settled), now);
    }
    settling_.ask_cancelled(tx, d.story, question_store::latest_ask(tx, id),
                            "the user cancelled the question: " + reason, now);
    return d;
  });
  journal_.announce(done.story);
  if (done.result.outcome == Outcome::done) abandon_(id);
  return done.result;
}

Control::Result Control::retry(const SessionId& id, Time now) {
  Done done = db_.write([&](Transaction& tx) {
    Done d;
    const auto session = session_store::find(tx, id);
    if (!session) {
      d.result.outcome = Outcome::unknown;
      return d;
    }
    d.result.status = session->status;
    const auto agent = agents_.find(session->agent_name);
    const bool runs_here = !agent || agent->runner != RunnerKind::external;
    if (!runs_here || !session_store::retry(tx, id, now)) {
      d.result.outcome = Outcome::refused;
      return d;
    }
    d.result.status = SessionStatus::running;
    d.story.add(tx, events::session_retried(id, session->turn), now);
    d.story.turn_due = true;
    return d;
  });
  journal_.announce(done.story);
  return done.result;
}

Control::Result Control::message(const SessionId& id, std::string_view body, Time now) {
  Done done = db_.write([&](Transaction& tx) {
    Done d;
    const auto session = session_store::find(tx, id);
    if (!session) {
      d.result.outcome = Outcome::unknown;
      return d;
    }
    d.result.status = session->status;
    if (is_finished(session->status)) {
      d.result.outcome = Outcome::refused;
      return d;
    }
    if (session_store::waiting_messages(tx, id) >=
        static_cast<std::int64_t>(limits_.max_messages)) {
      throw BadRequest("message", "the session has " + std::to_string(limits_.max_messages) +
                                      " messages waiting already");
    }
    d.result.message = MessageId::make(now);
    session_store::add_message(tx, id, d.result.message, body, now);
    d.story.add(tx, events::message_queued(id, d.result.message), now);
    return d;
  });
  journal_.announce(done.story);
  return done.result;
}

}  // namespace holdpoint
