#pragma once

#include <optional>
#include <variant>
#include <vector>

#include "domain/actor.h"
#include "domain/answer.h"
#include "flow/journal.h"
#include "flow/notices.h"
#include "flow/settling.h"

namespace holdpoint {

// What came of an answer.
struct AnswerAccepted {
  std::int64_t remaining = 0;  // Questions of the ask still pending; none: the session goes on.
};
struct AlreadyAnswered {};  // The same answer was given before, and counted.
struct AnswerConflict {
  Question counted;  // How the question really ended.
};
struct UnknownSession {};
struct SessionFinished {
  SessionStatus status;
};
struct NotAnAnswerer {  // The agent's `answerers` do not list them.
  std::string agent_name;
};
using AnswerOutcome = std::variant<AnswerAccepted, AlreadyAnswered, AnswerConflict, UnknownSession,
                                   SessionFinished, NotAnAnswerer>;

// Takes people's answers, from whatever channel.
class Answers {
 public:
  Answers(Database& db, Journal& journal, Settling& settling, Agents& agents, Limits limits)
      : db_(db), journal_(journal), settling_(settling), agents_(agents), limits_(limits) {}

  // All of `answer` or nothing of it. Throws BadRequest for an answer that breaks its question's
  // rules, with every question as it was.
  AnswerOutcome answer(const SessionId& session, const Answer& answer, const Actor& by, Time now);

 private:
  Database& db_;
  Journal& journal_;
  Settling& settling_;
  Agents& agents_;
  const Limits limits_;
};

}  // namespace holdpoint
