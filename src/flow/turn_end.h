#pragma once

#include <string>

#include "agents/runner.h"
#include "flow/journal.h"
#include "flow/metrics.h"
#include "flow/notices.h"
#include "flow/sub_sessions.h"
#include "store/session_store.h"
#include "wire/turn_json.h"

namespace holdpoint {

// Writes how a turn ended: one transaction, under its lease. A turn whose lease was lost leaves
// nothing but that event.
class TurnEnd {
 public:
  struct Options {
    AskDefaults ask;
    Limits limits;
    std::int64_t max_attempts = 5;
  };
  TurnEnd(Database& db, Journal& journal, Notices& notices, Metrics& metrics, Agents& agents,
          Options options)
      : db_(db),
        journal_(journal),
        notices_(notices),
        metrics_(metrics),
        agents_(agents),
        sub_sessions_(notices),
        options_(options) {}

  using Turn = session_store::ClaimedTurn;

  // Parks the session on the ask, or refuses it: then the next turn gets the reason.
  void ask(const Turn& turn, const AgentDefinition& agent, const AskReply& reply, Time now);
  // Completes the session, or, while messages wait for it, hands them over with another turn.
  void result(const Turn& turn, const ResultReply& reply, Time now);
  void carry_on(const Turn& turn, const ContinueReply& reply, Time now);
  // Starts sub-sessions and waits for them, or refuses to: then the next turn gets the reason.
  void spawn(const Turn& turn, const AgentDefinition& agent, const SpawnReply& reply, Time now);
  // Tries the turn again later, or fails the session when it may not be or was tried often enough.
  // `jitter` in [0, 1).
  void fail(const Turn& turn, const TurnFailed& failure, double jitter, Time now);
  // Gives the turn back as if it had not been claimed.
  void release(const Turn& turn, Time now);

  const Limits& limits() const { return options_.limits; }
  const AskDefaults& ask_defaults() const { return options_.ask; }

 private:
  // What an agent wanted and may not have.
  struct Wish {
    std::string what;
    std::optional<std::string> tool_call_id;
    std::optional<std::string> state;
  };
  void refuse(const Turn& turn, const Wish& wish, const std::string& reason, Time now);
  void refuse(const Turn& turn, const AskReply& reply, const std::string& reason, Time now);
  session_store::Commit finish(Transaction& tx, Story& story, const Turn& turn,
                               SessionStatus status, const std::optional<std::string>& result,
                               const std::optional<std::string>& error,
                               const std::optional<Event>& before, Time now);
  session_store::Commit go_on(Transaction& tx, Story& story, session_store::Commit commit,
                              const Event& event, Time now);
  // Runs `step`, which writes under the turn's lease, and tells what came of it.
  template <class Step>
  void write(const Turn& turn, const std::string& outcome, Time now, Step step);

  Database& db_;
  Journal& journal_;
  Notices& notices_;
  Metrics& metrics_;
  Agents& agents_;
  SubSessions sub_sessions_;
  const Options options_;
};

}  // namespace holdpoint
