#include "flow/turn_end.h"

#include <algorithm>

#include "domain/bad_request.h"
#include "domain/retry.h"
#include "store/question_store.h"
#include "wire/json.h"

namespace holdpoint {

using session_store::Commit;

template <class Step>
void TurnEnd::write(const Turn& turn, const std::string& outcome, Time now, Step step) {
  struct Done {
    Story story;
    Commit commit = Commit::done;
  };
  Done done = db_.write([&](Transaction& tx) {
    Done d;
    d.commit = step(tx, d.story);
    if (d.commit == Commit::lease_lost) {
      d.story.add(tx, events::turn_discarded(turn.lease.session, turn.turn, turn.lease.number),
                  now);
    }
    return d;
  });
  journal_.announce(done.story);
  metrics_.turn_ended(done.commit == Commit::done ? outcome : "discarded");
}

void TurnEnd::ask(const Turn& turn, const AgentDefinition& agent, const AskReply& reply, Time now) {
  if (turn.parent_id) {
    return refuse(turn, reply, "a sub-session may not ask people; leave the question to its parent",
                  now);
  }
  if (!agent.async_questions) {
    return refuse(turn, reply,
                  "the agent \"" + agent.name + "\" may not ask: it has no async_questions: true",
                  now);
  }
  std::vector<Question> questions;
  std::vector<Address> addresses;
  try {
    const AskDefaults defaults{agent.question_timeout.value_or(options_.ask.timeout),
                               agent.on_timeout.value_or(options_.ask.on_timeout)};
    const Ask ask = parse_ask(reply.ask, defaults, options_.limits);
    addresses = notices_.addresses_for(turn.agent_name, ask.channels);
    questions = pose(ask, turn.lease.session, turn.agent_name, turn.turn,
                     notices_.channels_of(turn.agent_name, addresses), now);
  } catch (const BadRequest& e) {
    return refuse(turn, reply, "invalid ask: " + e.field() + " " + e.what(), now);
  }
  write(turn, "ask", now, [&](Transaction& tx, Story& story) {
    const auto count = static_cast<std::int64_t>(questions.size());
    if (session_store::park(tx, turn.lease, count, reply.state, now) == Commit::lease_lost) {
      return Commit::lease_lost;
    }
    for (const auto& question : questions) {
      question_store::insert(tx, question);
      story.add(tx, events::question_asked(question), now);
    }
    notices_.asked(tx, story, questions, addresses, now);
    story.deadline = questions.front().deadline_at;
    return Commit::done;
  });
}

void TurnEnd::refuse(const Turn& turn, const AskReply& reply, const std::string& reason, Time now) {
  std::optional<std::string> tool_call_id;
  for (const auto& [name, value] : members_of(reply.ask)) {
    if (name != "tool_call_id") continue;
    const Json id = read_json(value);
    if (id.is_string()) tool_call_id = id.get<std::string>();
  }
  refuse(turn, {"asked", std::move(tool_call_id), reply.state}, reason, now);
}

void TurnEnd::refuse(const Turn& turn, const Wish& wish, const std::string& reason, Time now) {
  const bool hopeless = turn.refusals + 1 >= options_.max_attempts;
  write(turn, "refused", now, [&](Transaction& tx, Story& story) {
    const Event refused = events::ask_refused(turn.lease.session, turn.turn, reason);
    if (hopeless) {
      return finish(tx, story, turn, SessionStatus::failed, std::nullopt,
                    "the agent " + wish.what + " " + std::to_string(turn.refusals + 1) +
                        " times in a row what it may not: " + reason,
                    refused, now);
    }
    session_store::Next next{TurnReason::answer, refusal_json(wish.tool_call_id, reason),
                             wish.state, true};
    return go_on(tx, story, session_store::advance(tx, turn.lease, next, now), refused, now);
  });
}

void TurnEnd::result(const Turn& turn, const ResultReply& reply, Time now) {
  write(turn, "result", now, [&](Transaction& tx, Story& story) {
    SubSessions::lock_parent(tx, turn.parent_id);
    session_store::lock(tx, turn.lease.session);  // No message may come between look and end.
    const auto waiting = session_store::waiting_messages(tx, turn.lease.session).messages;
    if (waiting > 0) {
      const session_store::Next next{TurnReason::message, std::nullopt, std::nullopt, false};
      return go_on(tx, story, session_store::advance(tx, turn.lease, next, now),
                   events::result_deferred(turn.lease.session, turn.turn, waiting), now);
    }
    return finish(tx, story, turn, SessionStatus::completed, reply.result, std::nullopt,
                  std::nullopt, now);
  });
}

void TurnEnd::carry_on(const Turn& turn, const ContinueReply& reply, Time now) {
  write(turn, "continue", now, [&](Transaction& tx, Story& story) {
    const session_store::Next next{TurnReason::carry_on, std::nullopt, reply.state, false};
    return go_on(tx, story, session_store::advance(tx, turn.lease, next, now),
                 events::turn_continued(turn.lease.session, turn.turn), now);
  });
}

void TurnEnd::spawn(const Turn& turn, const AgentDefinition& agent, const SpawnReply& reply,
                    Time now) {
  const Wish wish{"wanted to start", reply.tool_call_id, reply.state};
  if (turn.parent_id) {
    return refuse(turn, wish, "a sub-session may not start sessions; leave that to its parent",
                  now);
  }
  for (const auto& start : reply.starts) {
    const auto& mine = agent.sub_agents;
    const auto sub = agents_.find(start.agent_name);
    if (std::find(mine.begin(), mine.end(), start.agent_name) == mine.end()) {
      return refuse(turn, wish,
                    "the agent \"" + agent.name + "\" may not start \"" + start.agent_name +
                        "\": its sub_agents do not list it",
                    now);
    }
    if (!sub || sub->runner == RunnerKind::external) {
      return refuse(turn, wish,
                    "the agent \"" + start.agent_name + "\" is not defined, or cannot be run", now);
    }
  }
  write(turn, "spawn", now, [&](Transaction& tx, Story& story) {
    if (session_store::wait_for_agents(tx, turn.lease, reply.state, now) == Commit::lease_lost) {
      return Commit::lease_lost;
    }
    sub_sessions_.start(tx, story, turn.lease.session, turn.turn, reply, now);
    return Commit::done;
  });
}

void TurnEnd::fail(const Turn& turn, const TurnFailed& failure, double jitter, Time now) {
  const std::string reason = failure.what();
  const bool retryable = failure.retryable();
  const auto& theirs = failure.again();
  const bool again =
      retryable && turn.attempts < (theirs ? theirs->max_attempts : options_.max_attempts);
  const Duration wait = theirs ? theirs->wait : turn_backoff(turn.attempts, jitter);
  write(turn, again ? "retry" : "failed", now, [&](Transaction& tx, Story& story) {
    const Event failed = events::turn_failed(turn.lease.session, turn.turn, turn.attempts, reason,
                                             again ? std::optional(wait) : std::nullopt);
    if (again) {
      return go_on(tx, story, session_store::release(tx, turn.lease, now + wait, true, now), failed,
                   now);
    }
    const std::string error = retryable
                                  ? "turn " + std::to_string(turn.turn) + " failed " +
                                        std::to_string(turn.attempts) + " times, at last: " + reason
                                  : reason;
    return finish(tx, story, turn, SessionStatus::failed, std::nullopt, error, failed, now);
  });
}

void TurnEnd::release(const Turn& turn, Time now) {
  write(turn, "released", now, [&](Transaction& tx, Story& story) {
    return go_on(tx, story, session_store::release(tx, turn.lease, now, false, now),
                 events::turn_released(turn.lease.session, turn.turn), now);
  });
}

// Tells of a turn after which another is due; of one whose lease was lost there is nothing to tell.
Commit TurnEnd::go_on(Transaction& tx, Story& story, Commit commit, const Event& event, Time now) {
  if (commit == Commit::lease_lost) return commit;
  story.add(tx, event, now);
  story.turn_due = true;
  return commit;
}

Commit TurnEnd::finish(Transaction& tx, Story& story, const Turn& turn, SessionStatus status,
                       const std::optional<std::string>& result,
                       const std::optional<std::string>& error, const std::optional<Event>& before,
                       Time now) {
  SubSessions::lock_parent(tx, turn.parent_id);
  if (session_store::finish(tx, turn.lease, status, result, error, now) == Commit::lease_lost) {
    return Commit::lease_lost;
  }
  if (before) story.add(tx, *before, now);
  story.add(tx,
            status == SessionStatus::completed
                ? events::session_completed(turn.lease.session)
                : events::session_failed(turn.lease.session, error.value_or("")),
            now);
  notices_.session_ended(tx, story, turn.lease.session, turn.agent_name, status, now);
  if (turn.parent_id) sub_sessions_.ended(tx, story, turn.lease.session, now);
  return Commit::done;
}

}  // namespace holdpoint
