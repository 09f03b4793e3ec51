#include "flow/intake.h"

#include "domain/bad_request.h"
#include "flow/audit.h"
#include "store/question_store.h"
#include "store/session_store.h"

namespace holdpoint {
namespace {

struct Done {
  Intake::Admitted admitted;
  Story story;
};

// Thrown inside the transaction, so that its own receipt goes again.
struct Replayed {};

// The session that the key's first trigger started.
Done repeated(Transaction& tx, const std::string& agent_name, const std::string& key, Time now) {
  Done done;
  const auto first = session_store::find_by_key(tx, agent_name, key);
  if (!first) throw StoreError("a session could not be inserted", true);
  session_store::lock(tx, first->id);
  done.admitted = {first->id, first->status, true, question_store::latest_ask(tx, first->id),
                   false};
  done.story.add(tx, events::trigger_repeated(first->id, agent_name), now);
  return done;
}

// As session_store::insert has claimed it.
session_store::ClaimedTurn first_turn(const session_store::NewSession& session, Time now) {
  session_store::ClaimedTurn turn;
  turn.lease = {session.id, 1};
  turn.agent_name = session.agent_name;
  turn.turn = 1;
  turn.attempts = 1;
  turn.reason = TurnReason::start;
  turn.due_since = now;
  turn.parent_id = session.parent_id;
  turn.payload = session.payload;
  return turn;
}

void check_parent(Transaction& tx, const SessionId& parent_id) {
  session_store::lock(tx, parent_id);
  const auto parent = session_store::find(tx, parent_id);
  if (!parent) throw BadRequest("parent", "there is no such session");
  if (is_finished(parent->status)) {
    throw BadRequest("parent", "that session is " + std::string(to_text(parent->status)));
  }
}

}  // namespace

AskDefaults Intake::ask_defaults(const AgentDefinition& agent) const {
  return {agent.question_timeout.value_or(options_.ask.timeout),
          agent.on_timeout.value_or(options_.ask.on_timeout)};
}

std::optional<Intake::Admitted> Intake::admit(const Trigger& trigger, Time now) {
  const auto agent = agents_.find(trigger.agent_name);
  if (!agent) return std::nullopt;
  if (agent->runner == RunnerKind::external) {
    throw BadRequest("agent", "\"" + agent->name +
                                  "\" is external: it runs elsewhere and asks by POST /agent/ask");
  }
  Offer offer(journal_.seats, now);
  const auto step = [&](Transaction& tx) {
    Done d;
    if (trigger.receipt && !receipt_store::insert(tx, *trigger.receipt, now)) throw Replayed{};
    d.admitted.session = SessionId::make(now);
    session_store::NewSession session;
    session.id = d.admitted.session;
    session.agent_name = agent->name;
    session.payload = trigger.payload;
    session.parent_id = trigger.parent_id;
    session.idempotency_key = trigger.idempotency_key;
    session.seat = offer.seat();
    if (!session_store::insert(tx, session, now)) {
      // The first may have come at the same time, on another node, and be seen only now.
      if (trigger.receipt && receipt_store::has_other_body(tx, *trigger.receipt)) throw Replayed{};
      return repeated(tx, agent->name, trigger.idempotency_key.value_or(""), now);
    }
    if (trigger.parent_id) check_parent(tx, *trigger.parent_id);  // Throws: the row goes again.
    d.story.add(tx, events::session_started(session.id, agent->name, trigger.parent_id), now);
    if (session.seat) {
      d.story.claimed = first_turn(session, now);
      d.story.add(tx, events::turn_started(session.id, 1, 1, TurnReason::start), now);
    } else {
      d.story.turn_due = true;
    }
    audit::record(tx, trigger.by, "session_started", "session:" + session.id.text(), agent->name,
                  now);
    return d;
  };
  try {
    Done done = db_.write(step);
    journal_.announce(done.story);
    offer.start(std::move(done.story.claimed));
    return std::move(done.admitted);
  } catch (const Replayed&) {
    Admitted refused;
    refused.replayed = true;
    return refused;
  }
}

std::optional<Intake::Admitted> Intake::admit_ask(const std::string& agent_name, const Ask& ask,
                                                  const std::optional<std::string>& key,
                                                  const Actor& by, Time now) {
  const auto agent = agents_.find(agent_name);
  if (!agent) return std::nullopt;
  if (agent->runner != RunnerKind::external) {
    throw BadRequest("agent", "\"" + agent->name +
                                  "\" is run by this server; only agents with runner: external ask "
                                  "from outside");
  }
  if (!agent->async_questions) {
    throw BadRequest("agent", "\"" + agent->name + "\" has async_questions: false");
  }
  const auto addresses = notices_.addresses_for(agent->name, ask);
  const auto channels = notices_.channels_of(agent->name, addresses);
  Done done = db_.write([&](Transaction& tx) {
    Done d;
    d.admitted = {SessionId::make(now), SessionStatus::pending_input, false, {}, false};
    const SessionId& id = d.admitted.session;
    session_store::NewSession session;
    session.id = id;
    session.agent_name = agent->name;
    session.status = SessionStatus::pending_input;
    session.payload = "{}";
    session.idempotency_key = key;
    session.questions_asked = static_cast<std::int64_t>(ask.questions.size());
    if (!session_store::insert(tx, session, now)) {
      return repeated(tx, agent->name, key.value_or(""), now);
    }
    d.story.add(tx, events::session_started(id, agent->name, std::nullopt), now);
    d.admitted.questions = pose(ask, id, agent->name, 1, channels, now);
    for (const auto& question : d.admitted.questions) {
      question_store::insert(tx, question);
      d.story.add(tx, events::question_asked(question), now);
    }
    notices_.asked(tx, d.story, d.admitted.questions, addresses, now);
    audit::record(tx, by, "question_asked", "session:" + id.text(), agent->name, now);
    d.story.deadline = d.admitted.questions.front().deadline_at;
    return d;
  });
  journal_.announce(done.story);
  return std::move(done.admitted);
}

}  // namespace holdpoint
