#include "wire/callback_json.h"

#include <doctest/doctest.h>

#include "tests/wire/sample_question.h"
#include "wire/json.h"

namespace holdpoint {
namespace {

using test::answered;
using test::sample_question;

// All that every notice about the sample question says of it, up to what happened to it.
const std::string kQuestionMembers =
    R"("id":"q-123","text":"What style would you prefer?",)"
    R"("options":["free verse","rhyming","sonnet","haiku"],"context":{ "topic": "love" },)"
    R"("choices":[{"label":"free verse","description":null,"emoji":null,"recommended":false},)"
    R"({"label":"rhyming","description":"lines that end alike","emoji":null,"recommended":false},)"
    R"({"label":"sonnet","description":null,"emoji":"🖋","recommended":false},)"
    R"({"label":"haiku","description":"17 syllables","emoji":null,"recommended":true}],)"
    R"("header":null,"multi_select":false,"allow_other":true,"style":"select",)"
    R"("expires_at":"2024-01-01T13:00:00.000Z","tool_call_id":"toolu_01")";

TEST_CASE("question_pending has the body that integrations know, and more members after it") {
  CHECK(question_pending_json(sample_question(), "https://your-server.com/agent/answer/sess-456") ==
        R"({"event":"question_pending","session_id":"sess-456","agent_name":"write-poem",)"
        R"("question":{)" +
            kQuestionMembers +
            R"(},"answer_url":"https://your-server.com/agent/answer/sess-456"})");
}

TEST_CASE("question_pending holds every member of seed 002 with its value") {
  const Json body = Json::parse(
      question_pending_json(sample_question(), "https://your-server.com/agent/answer/sess-456"));
  const Json seed = Json::parse(R"({
    "event": "question_pending", "session_id": "sess-456", "agent_name": "write-poem",
    "question": {"id": "q-123", "text": "What style would you prefer?",
                 "options": ["free verse", "rhyming", "sonnet", "haiku"], "context": {"topic": "love"}},
    "answer_url": "https://your-server.com/agent/answer/sess-456"})");
  Json merged = body;
  merged.merge_patch(seed);
  CHECK(merged == body);
}

TEST_CASE("a question without options has empty lists") {
  Question q = sample_question();
  q.spec.options.clear();
  const Json body = Json::parse(question_pending_json(q, "u"));
  CHECK(body["question"]["options"].dump() == "[]");
  CHECK(body["question"]["choices"].dump() == "[]");
}

TEST_CASE("question_settled says how an option was chosen, by whom, how and when") {
  CHECK(question_settled_json(answered(sample_question(), {{"haiku"}, std::nullopt})) ==
        R"({"event":"question_settled","session_id":"sess-456","agent_name":"write-poem",)"
        R"("question":{)" +
            kQuestionMembers +
            R"(,"outcome":"answered","answer":"haiku","selected":["haiku"],"index":[3],)"
            R"("answered_by":"ana@example.org","answered_via":"email",)"
            R"("answered_at":"2024-01-01T12:05:00.250Z"}})");
}

TEST_CASE("question_settled gives own text as the answer") {
  const std::string body =
      question_settled_json(answered(sample_question(), {{}, "a \"limerick\""}));
  CHECK(body.find(R"("outcome":"answered","answer":"a \"limerick\"","selected":[],"index":[],)") !=
        std::string::npos);
}

TEST_CASE("question_settled has no answer where there is none") {
  Question q = sample_question();
  q.status = QuestionStatus::timed_out;
  q.settled_at = q.deadline_at;
  CHECK(question_settled_json(q).ends_with(
      R"("outcome":"timed_out","answer":null,"selected":[],"index":[],)"
      R"("answered_by":null,"answered_via":null,"answered_at":null}})"));
}

TEST_CASE("no notice holds a name twice") {
  for (const auto& body : {question_pending_json(sample_question(), "u"),
                           question_settled_json(answered(sample_question(), {{}, "own"}))}) {
    CHECK_NOTHROW(parse_json(body, "body"));
  }
}

TEST_CASE("the end of a session tells its result or its error") {
  Session s;
  s.id = SessionId("sess-456");
  s.agent_name = "write-poem";
  s.status = SessionStatus::completed;
  s.result = R"({ "poem_path": "poem/love-haiku-2024.md" })";
  s.completed_at = *parse_iso("2024-01-01T12:05:00.000Z");
  CHECK(session_ended_json("session_completed", s) ==
        R"({"event":"session_completed","session_id":"sess-456","agent_name":"write-poem",)"
        R"("status":"completed","result":{ "poem_path": "poem/love-haiku-2024.md" },)"
        R"("error":null,"completed_at":"2024-01-01T12:05:00.000Z"})");
  s.status = SessionStatus::failed;
  s.result = std::nullopt;
  s.error = "timeout";
  CHECK(session_ended_json("session_failed", s) ==
        R"({"event":"session_failed","session_id":"sess-456","agent_name":"write-poem",)"
        R"("status":"failed","result":null,"error":"timeout",)"
        R"("completed_at":"2024-01-01T12:05:00.000Z"})");
}

}  // namespace
}  // namespace holdpoint
