#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "domain/actor.h"
#include "domain/limits.h"
#include "domain/session.h"
#include "flow/journal.h"
#include "flow/notices.h"
#include "flow/settling.h"
#include "flow/sub_sessions.h"

namespace holdpoint {

// What people and programs may do to a session besides answering: cancel, retry, send a message.
class Control {
 public:
  // `abandon` stops the session's turn if it runs in this process.
  Control(Database& db, Journal& journal, Notices& notices, Settling& settling, Agents& agents,
          Limits limits, std::function<void(const SessionId&)> abandon)
      : db_(db),
        journal_(journal),
        notices_(notices),
        settling_(settling),
        sub_sessions_(notices),
        agents_(agents),
        limits_(limits),
        abandon_(std::move(abandon)) {}

  enum class Outcome { done, unknown, refused, not_allowed };
  struct Result {
    Outcome outcome = Outcome::done;
    SessionStatus status = SessionStatus::running;  // What the session is now.
    MessageId message;
  };

  // Whether somebody calls off what they started, or what they were asked: then the agent's
  // `answerers` and `allow_cancel` count, and the outcome may be `not_allowed`.
  enum class As { owner, answerer };
  // Ends the session and its pending questions. Refused once it is completed or failed; a repeat is
  // done.
  Result cancel(const SessionId& id, const std::string& reason, const Actor& by, As as, Time now);
  // The same from a question's own page, as an answerer. Refused unless that question is pending,
  // so that a stale page calls off nothing that came after it.
  // `shown_as` is how people know who did.
  Result call_off(const Question& question, const Actor& by, const std::string& shown_as, Time now);
  // Whether `cancel` would end the session now.
  bool may_cancel(const Session& session, const Actor& by, As as);
  // Runs a failed session again from its last checkpoint. Refused for any other, and for agents
  // that live elsewhere.
  Result retry(const SessionId& id, const Actor& by, Time now);
  bool may_retry(const Session& session);
  // Queues a message for the next turn. Refused once the session is finished. Throws BadRequest
  // when too many wait.
  Result message(const SessionId& id, std::string_view body, const Actor& by, Time now);

 private:
  struct Done {
    Result result;
    Story story;
    std::vector<SessionId> abandoned;  // Whose turns are to be stopped.
  };
  // Runs `step(tx, done, session)` on the session in one transaction, and tells what came of it.
  bool may_call_off(const Session& session, const Actor& by);
  bool is_theirs(const Session& session, const Actor& by, As as);
  void end(Transaction& tx, Done& done, const Session& session, const std::string& reason,
           const std::string& by, Time now);
  template <class Step>
  Result change(const SessionId& id, Step step);

  Database& db_;
  Journal& journal_;
  Notices& notices_;
  Settling& settling_;
  SubSessions sub_sessions_;
  Agents& agents_;
  const Limits limits_;
  const std::function<void(const SessionId&)> abandon_;
};

}  // namespace holdpoint
