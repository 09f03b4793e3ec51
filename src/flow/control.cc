#include "flow/control.h"

#include "domain/access.h"
#include "domain/bad_request.h"
#include "flow/audit.h"
#include "store/question_store.h"
#include "store/session_store.h"

namespace holdpoint {

template <class Step>
Control::Result Control::change(const SessionId& id, Step step) {
  const Done done = db_.write([&](Transaction& tx) {
    Done d;
    // Who its parent is never changes.
    if (const auto spawned = session_store::find_spawned(tx, id)) {
      SubSessions::lock_parent(tx, spawned->parent_id);
    }
    session_store::lock(tx, id);
    const auto session = session_store::find(tx, id);
    if (!session) {
      d.result.outcome = Outcome::unknown;
      return d;
    }
    d.result.status = session->status;
    step(tx, d, *session);
    return d;
  });
  journal_.announce(done.story);
  for (const auto& session : done.abandoned) abandon_(session);
  return done.result;
}

bool Control::may_call_off(const Session& session, const Actor& by) {
  const auto agent = agents_.find(session.agent_name);
  return !agent || (agent->allow_cancel && may_decide(agent->answerers, by));
}

bool Control::is_theirs(const Session& session, const Actor& by, As as) {
  return as == As::owner || may_call_off(session, by);
}

bool Control::may_cancel(const Session& session, const Actor& by, As as) {
  return is_theirs(session, by, as) && may_move(session.status, SessionStatus::cancelled);
}

bool Control::may_retry(const Session& session) {
  const auto agent = agents_.find(session.agent_name);
  const bool runs_here = !agent || agent->runner != RunnerKind::external;
  return runs_here && session.status == SessionStatus::failed;
}

void Control::end(Transaction& tx, Done& done, const Session& session, const std::string& reason,
                  const std::string& by, Time now) {
  const SessionId& id = session.id;
  done.result.status = SessionStatus::cancelled;
  if (session_store::cancel_running(tx, id, reason, now)) {
    done.story.add(tx, events::session_cancelled(id, reason), now);
    notices_.session_ended(tx, done.story, id, session.agent_name, SessionStatus::cancelled, now);
    done.abandoned = sub_sessions_.cancel(tx, done.story, id, session.turn, now);
    done.abandoned.push_back(id);
    sub_sessions_.ended(tx, done.story, id, now);
    return;
  }
  const question_store::Settlement settlement{QuestionStatus::cancelled, std::nullopt,
                                              by.empty() ? std::nullopt : std::optional(by),
                                              std::nullopt};
  for (const auto& question : question_store::pending_of(tx, id)) {
    const auto settled = question_store::settle(tx, question.id, settlement, now);
    if (!settled) continue;
    settling_.settled(tx, done.story, *settled, events::question_cancelled(*settled), now);
  }
  settling_.ask_cancelled(tx, done.story, question_store::latest_ask(tx, id),
                          "the user cancelled the question: " + reason, now);
}

Control::Result Control::cancel(const SessionId& id, const std::string& reason, const Actor& by,
                                As as, Time now) {
  return change(id, [&](Transaction& tx, Done& done, const Session& session) {
    if (!is_theirs(session, by, as)) {
      done.result.outcome = Outcome::not_allowed;
      return;
    }
    if (session.status == SessionStatus::cancelled) return;
    if (!may_move(session.status, SessionStatus::cancelled)) {
      done.result.outcome = Outcome::refused;
      return;
    }
    end(tx, done, session, reason, by.name, now);
    audit::record(tx, by, "session_cancelled", "session:" + id.text(), reason, now);
  });
}

Control::Result Control::call_off(const Question& question, const Actor& by,
                                  const std::string& shown_as, Time now) {
  const std::string reason = "cancelled by " + (shown_as.empty() ? "a person" : shown_as);
  return change(question.session_id, [&](Transaction& tx, Done& done, const Session& session) {
    if (!may_call_off(session, by)) {
      done.result.outcome = Outcome::not_allowed;
      return;
    }
    const auto current = question_store::find(tx, question.id);
    if (!current || is_settled(current->status)) {
      done.result.outcome = Outcome::refused;
      return;
    }
    end(tx, done, session, reason, shown_as, now);
    audit::record(tx, by, "question_cancelled", "question:" + question.id.text(), "", now);
  });
}

Control::Result Control::retry(const SessionId& id, const Actor& by, Time now) {
  return change(id, [&](Transaction& tx, Done& done, const Session& session) {
    if (!may_retry(session) || !session_store::retry(tx, id, now)) {
      done.result.outcome = Outcome::refused;
      return;
    }
    done.result.status = SessionStatus::running;
    done.story.add(tx, events::session_retried(id, session.turn), now);
    audit::record(tx, by, "session_retried", "session:" + id.text(), "", now);
    done.story.turn_due = true;
  });
}

Control::Result Control::message(const SessionId& id, std::string_view body, const Actor& by,
                                 Time now) {
  return change(id, [&](Transaction& tx, Done& done, const Session& session) {
    if (is_finished(session.status)) {
      done.result.outcome = Outcome::refused;
      return;
    }
    const auto waiting = session_store::waiting_messages(tx, id);
    if (waiting.messages >= static_cast<std::int64_t>(limits_.max_messages)) {
      throw BadRequest("message", "the session has " + std::to_string(limits_.max_messages) +
                                      " messages waiting already");
    }
    // They are handed over together: what waits must fit into one turn.
    if (waiting.chars + static_cast<std::int64_t>(body.size()) >
        static_cast<std::int64_t>(limits_.max_messages_chars)) {
      throw BadRequest("message", "the session's waiting messages would have more than " +
                                      std::to_string(limits_.max_messages_chars) + " characters");
    }
    done.result.message = MessageId::make(now);
    session_store::add_message(tx, id, done.result.message, body, now);
    done.story.add(tx, events::message_queued(id, done.result.message), now);
    audit::record(tx, by, "message_queued", "session:" + id.text(), done.result.message.text(),
                  now);
  });
}

}  // namespace holdpoint
