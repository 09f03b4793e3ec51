#pragma once

#include "domain/question.h"

namespace holdpoint::test {

// The question of seed 002, as one row.
inline Question sample_question() {
  Question q;
  q.id = QuestionId("q-123");
  q.session_id = SessionId("sess-456");
  q.agent_name = "write-poem";
  q.spec.question = "What style would you prefer?";
  q.spec.options = {{"free verse", "", "", false},
                    {"rhyming", "lines that end alike", "", false},
                    {"sonnet", "", "🖋", false},
                    {"haiku", "17 syllables", "", true}};
  q.spec.style = Style::select;
  q.context = R"({ "topic": "love" })";
  q.tool_call_id = "toolu_01";
  q.created_at = *parse_iso("2024-01-01T12:00:00.000Z");
  q.deadline_at = *parse_iso("2024-01-01T13:00:00.000Z");
  return q;
}

inline Question answered(Question q, Choice choice) {
  q.status = QuestionStatus::answered;
  q.choice = std::move(choice);
  q.answered_by = "ana@example.org";
  q.answered_via = "email";
  q.settled_at = *parse_iso("2024-01-01T12:05:00.250Z");
  return q;
}

}  // namespace holdpoint::test
