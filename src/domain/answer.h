#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "domain/limits.h"
#include "domain/question.h"

namespace holdpoint {

// What came in from a person: values by question id or question text; one value under "" when the
// question was left out.
struct Answer {
  std::map<std::string, std::vector<std::string>> values;
  std::string by;   // Who, as the channel knows them.
  std::string via;  // The channel.
};

// The choice that `values` make on a question; throws BadRequest naming `field` when they break its
// rules.
Choice choose(const QuestionSpec& spec, const std::vector<std::string>& values,
              const std::string& field, const Limits& limits);

// Which of a session's questions (all of its latest ask) a value in `answer` is for, each with its
// choice. Throws BadRequest for a question that is not there, is ambiguous, or has an answer that
// breaks its rules. Settled ones are found too, so that a repeat can be told from a conflict.
struct Chosen {
  const Question* question;
  Choice choice;
};
std::vector<Chosen> choose_all(const std::vector<Question>& questions, const Answer& answer,
                               const Limits& limits);

// How an ask ended once all its questions are settled.
struct AskOutcome {
  QuestionStatus status = QuestionStatus::answered;
  bool answered = true;  // Every question has an answer, be it a default.
};
AskOutcome outcome_of(const std::vector<Question>& settled);

}  // namespace holdpoint
