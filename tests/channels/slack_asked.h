#pragma once

#include <string>
#include <vector>

#include "domain/question.h"

namespace holdpoint::test {

inline const std::string kQuestionId = "019a8c3e-7b10-7000-8000-00000000000";
inline const std::string kSite = "https://hold.example";

// The question with the given place in its ask; its id ends with that.
inline Question asked(std::vector<Option> options = {}, int place = 0) {
  Question q;
  q.id = QuestionId(kQuestionId + std::to_string(place));
  q.session_id = SessionId("019a8c3e-7b10-7000-8000-0000000000ff");
  q.agent_name = "poet";
  q.ask = 1;
  q.position = place;
  q.spec.question = "What style?";
  q.spec.options = std::move(options);
  q.created_at = *parse_iso("2026-11-16T09:00:00.000Z");
  q.deadline_at = *parse_iso("2026-11-16T10:00:00.000Z");
  return q;
}

inline Option option(std::string label) { return {std::move(label), "", "", false}; }

inline std::vector<Option> options(std::size_t count, const std::string& label = "option ") {
  std::vector<Option> all;
  for (std::size_t i = 0; i < count; ++i) all.push_back(option(label + std::to_string(i)));
  return all;
}

inline Question settle(Question q, QuestionStatus status, std::string answer = "") {
  q.status = status;
  if (!answer.empty()) {
    q.choice = Choice{{std::move(answer)}, {}};
    q.answered_by = "ana (U1)";
  }
  return q;
}

inline std::string repeat(const std::string& text, std::size_t times) {
  std::string out;
  for (std::size_t i = 0; i < times; ++i) out += text;
  return out;
}

}  // namespace holdpoint::test
