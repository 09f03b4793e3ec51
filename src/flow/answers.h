#pragma once

#include <optional>
#include <variant>
#include <vector>

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
using AnswerOutcome =
    std::variant<AnswerAccepted, AlreadyAnswered, AnswerConflict, UnknownSession, SessionFinished>;

// Takes people's answers, from whatever channel.
class Answers {
 public:
  Answers(Database& db, Journal& journal, Settling& settling, Limits limits)
      : db_(db), journal_(journal), settling_(settling), limits_(limits) {}

  // All of `answer` or nothing of it. Throws BadRequest for an answer that breaks its question's
  // rules, with every question as it was.
  AnswerOutcome answer(const SessionId& session, const Answer& answer, Time now);

 private:
  Database& db_;
  Journal& journal_;
  Settling& settling_;
  const Limits limits_;
};

}  // namespace holdpoint
