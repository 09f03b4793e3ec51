#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "domain/limits.h"
#include "domain/question.h"

namespace holdpoint {

// What came in from a person: values by question id; one value under "" when the question was left
// out.
struct Answer {
  std::map<std::string, std::vector<std::string>> values;
  std::string by;   // Who, as the channel knows them.
  std::string via;  // The channel.
  // It came as `answers`: keys may be question texts too, and complaints name the key.
  bool by_text = false;
};

// The choice that `values` make on a question; throws BadRequest naming `field` when they break its
// rules.
Choice choose(const QuestionSpec& spec, const std::vector<std::string>& values,
              const std::string& field, const Limits& limits);

// Which of a session's `questions` each value of `answer` is for. Throws BadRequest for a question
// that is not there or is ambiguous. Settled ones are found too, so that a repeat can be told from
// a conflict.
struct Named {
  const Question* question;
  const std::vector<std::string>* values;
  std::string field;  // What a complaint about the values names.
};
std::vector<Named> find_named(const std::vector<Question>& questions, const Answer& answer);

// How an ask ended once all its questions are settled.
struct AskOutcome {
  QuestionStatus status = QuestionStatus::answered;
  bool answered = true;  // Every question has an answer, be it a default.
};
AskOutcome outcome_of(const std::vector<Question>& settled);

}  // namespace holdpoint
