#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "domain/limits.h"
#include "domain/session.h"
#include "flow/journal.h"
#include "flow/notices.h"
#include "flow/settling.h"

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
        agents_(agents),
        limits_(limits),
        abandon_(std::move(abandon)) {}

  enum class Outcome { done, unknown, refused };
  struct Result {
    Outcome outcome = Outcome::done;
    SessionStatus status = SessionStatus::running;  // What the session is now.
    MessageId message;
  };

  // Ends the session and its pending questions. Refused once it is completed or failed; a repeat is
  // done.
  Result cancel(const SessionId& id, const std::string& reason, Time now);
  // Runs a failed session again from its last checkpoint. Refused for any other.
  Result retry(const SessionId& id, Time now);
  // Queues a message for the next turn. Refused once the session is finished. Throws BadRequest
  // when too many wait.
  Result message(const SessionId& id, std::string_view body, Time now);

 private:
  struct Done {
    Result result;
    Story story;
  };
  // Runs `step(tx, done, session)` on the session in one transaction, and tells what came of it.
  template <class Step>
  Result change(const SessionId& id, Step step);

  Database& db_;
  Journal& journal_;
  Notices& notices_;
  Settling& settling_;
  Agents& agents_;
  const Limits limits_;
  const std::function<void(const SessionId&)> abandon_;
};

}  // namespace holdpoint
