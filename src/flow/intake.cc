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
Done repeated(Transaction& tx, const Session& first, Time now) {
  Done done;
  done.admitted = {first.id, first.status, true, question_store::latest_ask(tx, first.id), false};
  done.story.add(tx, events::trigger_repeated(first.id, first.agent_name), now);
  return done;
}

// A new ask's row, or what became of the ask that it is the same as.
std::optional<Done> join_or_insert(Transaction& tx, const session_store::NewSession& session,
                                   Time now) {
  const auto& key = session.idempotency_key;
  const auto repeat = [&](const Session& first) {
    session_store::lock(tx, first.id);
    return repeated(tx, first, now);
  };
  // A key that has joined an ask stays with it, also when that is over, and whatever it says now.
  if (key) {
    if (const auto joined = session_store::find_joined(tx, session.agent_name, *key)) {
      return repeat(*joined);
    }
  }
  // An open ask may end between our insert and our look; then ours is the open one.
  for (int tries = 0; tries < 5; ++tries) {
    if (session_store::insert(tx, session, now)) {
      // On another node the same key may have joined an ask since we looked, and that have ended.
      const auto joined = key && session.dedupe_key
                              ? session_store::find_joined(tx, session.agent_name, *key)
                              : std::nullopt;
      if (!joined) return std::nullopt;
      session_store::withdraw(tx, session.id);
      return repeat(*joined);
    }
    if (key) {
      if (const auto first = session_store::find_by_key(tx, session.agent_name, *key)) {
        return repeat(*first);
      }
    }
    if (!session.dedupe_key) continue;
    const auto open = session_store::lock_open_ask(tx, *session.dedupe_key);
    if (!open) continue;
    if (key) session_store::join(tx, session.agent_name, *key, open->id);
    Done done;
    done.admitted = {open->id, open->status, true, question_store::latest_ask(tx, open->id), false};
    done.story.add(tx, events::ask_joined(open->id, session.agent_name), now);
    return done;
  }
  throw StoreError("a session could not be inserted", true);
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
      const auto first =
          session_store::find_by_key(tx, agent->name, trigger.idempotency_key.value_or(""));
      if (!first) throw StoreError("a session could not be inserted", true);
      session_store::lock(tx, first->id);
      return repeated(tx, *first, now);
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

std::shared_ptr<const AgentDefinition> Intake::find_outside_agent(const std::string& name) const {
  auto agent = agents_.find(name);
  if (agent && agent->runner != RunnerKind::external) {
    throw BadRequest("agent", "\"" + agent->name +
                                  "\" is run by this server; only agents with runner: external ask "
                                  "from outside");
  }
  return agent;
}

std::optional<Intake::Admitted> Intake::admit_ask(const OutsideAsk& outside, const Actor& by,
                                                  Time now) {
  const auto agent = find_outside_agent(outside.agent_name);
  if (!agent) return std::nullopt;
  if (!agent->async_questions) {
    throw BadRequest("agent", "\"" + agent->name + "\" has async_questions: false");
  }
  const Ask& ask = outside.ask;
  const auto addresses = notices_.addresses_for(agent->name, ask.channels);
  const auto channels = notices_.channels_of(agent->name, addresses);
  Done done = db_.write([&](Transaction& tx) {
    Done d;
    d.admitted = {SessionId::make(now), SessionStatus::pending_input, false, {}, false};
    const SessionId& id = d.admitted.session;
    session_store::NewSession session;
    session.id = id;
    session.agent_name = agent->name;
    session.status = SessionStatus::pending_input;
    session.payload = outside.payload;
    session.idempotency_key = outside.idempotency_key;
    if (outside.dedupe) session.dedupe_key = fingerprint(outside);
    session.questions_asked = static_cast<std::int64_t>(ask.questions.size());
    if (auto same = join_or_insert(tx, session, now)) return std::move(*same);
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

std::optional<Intake::Admitted> Intake::admit_card(const OutsideCard& outside, const Actor& by,
                                                   Time now) {
  const auto agent = find_outside_agent(outside.agent_name);
  if (!agent) return std::nullopt;
  const Card& card = outside.card;
  const auto addresses = notices_.addresses_for(agent->name, card.channels);
  const auto channels = notices_.channels_of(agent->name, addresses, "card_posted");
  const std::string payload = card_json(card);
  Done done = db_.write([&](Transaction& tx) {
    Done d;
    d.admitted = {SessionId::make(now), SessionStatus::completed, false, {}, false};
    const SessionId& id = d.admitted.session;
    session_store::NewSession session;
    session.id = id;
    session.agent_name = agent->name;
    session.status = SessionStatus::completed;
    session.payload = payload;
    session.idempotency_key = outside.idempotency_key;
    if (auto same = join_or_insert(tx, session, now)) return std::move(*same);
    d.story.add(tx, events::session_started(id, agent->name, std::nullopt), now);
    d.story.add(tx, events::card_posted(id, agent->name, channels), now);
    d.story.add(tx, events::session_completed(id), now);
    notices_.card_posted(tx, d.story, id, agent->name, card, addresses, now);
    notices_.session_ended(tx, d.story, id, agent->name, SessionStatus::completed, now);
    audit::record(tx, by, "card_posted", "session:" + id.text(), agent->name, now);
    return d;
  });
  journal_.announce(done.story);
  done.admitted.channels = channels;
  return std::move(done.admitted);
}

}  // namespace holdpoint
