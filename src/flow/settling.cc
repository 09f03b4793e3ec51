#include "flow/settling.h"

#include "agents/llm/conversation.h"
#include "domain/answer.h"
#include "store/session_store.h"
#include "wire/question_json.h"

namespace holdpoint {

void Settling::settled(Transaction& tx, Story& story, const Question& question, Event event,
                       Time now) {
  story.add(tx, std::move(event), now);
  notices_.question_settled(tx, story, question, now);
}

void Settling::ask_cancelled(Transaction& tx, Story& story, const std::vector<Question>& settled,
                             const std::string& reason, Time now) {
  // No turn will come that tells the model: what it waits for is written into its conversation
  // here.
  std::optional<std::string> state;
  const auto agent = agents_.find(settled.front().agent_name);
  if (agent && agent->runner == RunnerKind::llm) {
    state = session_store::find_state(tx, settled.front().session_id);
    if (state) state = close_conversation(*state, "The user cancelled the question.");
  }
  end(tx, story, settled, SessionStatus::cancelled, reason, state, now);
}

void Settling::ask_over(Transaction& tx, Story& story, const std::vector<Question>& settled,
                        Time now) {
  const SessionId& session = settled.front().session_id;
  const AskOutcome outcome = outcome_of(settled);
  const std::string resume = resume_json(settled);
  const bool timed_out = outcome.status == QuestionStatus::timed_out;
  if (timed_out && settled.front().on_timeout == OnTimeout::fail) {
    return end(tx, story, settled, SessionStatus::failed, "timeout: nobody answered in time",
               std::nullopt, now);
  }
  const auto agent = agents_.find(settled.front().agent_name);
  if (agent && agent->runner == RunnerKind::external) {
    return end(tx, story, settled, SessionStatus::completed, "", std::nullopt, now);
  }
  const TurnReason reason = outcome.answered ? TurnReason::answer : TurnReason::timeout;
  if (story.seat) {
    story.claimed = session_store::resume_claimed(tx, session, reason, resume, *story.seat, now);
    if (!story.claimed) return;
    story.add(tx, events::session_resumed(session, reason), now);
    story.add(tx, events::turn_started(session, story.claimed->turn, 1, reason), now);
  } else if (session_store::resume(tx, session, reason, resume, now)) {
    story.add(tx, events::session_resumed(session, reason), now);
    story.turn_due = true;
  }
}

void Settling::end(Transaction& tx, Story& story, const std::vector<Question>& settled,
                   SessionStatus status, const std::string& reason,
                   const std::optional<std::string>& state, Time now) {
  const std::string resume = resume_json(settled);
  const SessionId& session = settled.front().session_id;
  const TurnReason turn_reason =
      outcome_of(settled).answered ? TurnReason::answer : TurnReason::timeout;
  const bool completed = status == SessionStatus::completed;
  const auto result = completed ? std::optional(resume) : std::nullopt;
  const auto error = completed ? std::nullopt : std::optional(reason);
  const session_store::ParkedEnd parked{status, turn_reason, resume, result, error, state};
  if (!session_store::end_parked(tx, session, parked, now)) return;
  story.add(tx,
            completed                         ? events::session_completed(session)
            : status == SessionStatus::failed ? events::session_failed(session, reason)
                                              : events::session_cancelled(session, reason),
            now);
  notices_.session_ended(tx, story, session, settled.front().agent_name, status, now);
}

}  // namespace holdpoint
