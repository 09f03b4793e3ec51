#include "wire/question_json.h"

#include <doctest/doctest.h>

#include "tests/wire/sample_question.h"
#include "wire/json.h"

namespace holdpoint {
namespace {

using test::answered;
using test::sample_question;

std::string written(const Question& q) {
  JsonWriter out;
  write_question(out, q);
  return out.take();
}

TEST_CASE("a pending question is shown with all that is known of it") {
  Question q = sample_question();
  q.spec.header = "Style";
  q.spec.default_choice = Choice{{"haiku"}, std::nullopt};
  q.on_timeout = OnTimeout::use_default;
  q.ask = 3;
  q.position = 1;
  q.channels = {"email", "slack"};
  CHECK(
      written(q) ==
      R"({"id":"q-123","session_id":"sess-456","agent_name":"write-poem","ask":3,"position":1,)"
      R"("question":"What style would you prefer?",)"
      R"("context":{ "topic": "love" ,"asked_at":"2024-01-01T12:00:00.000Z"},"header":"Style",)"
      R"("options":["free verse","rhyming","sonnet","haiku"],)"
      R"("choices":[{"label":"free verse","description":null,"emoji":null,"recommended":false},)"
      R"({"label":"rhyming","description":"lines that end alike","emoji":null,"recommended":false},)"
      R"({"label":"sonnet","description":null,"emoji":"🖋","recommended":false},)"
      R"({"label":"haiku","description":"17 syllables","emoji":null,"recommended":true}],)"
      R"("multi_select":false,"allow_other":true,"style":"select","default":"haiku",)"
      R"("status":"pending","tool_call_id":"toolu_01","channels":["email","slack"],"on_timeout":"default",)"
      R"("expires_at":"2024-01-01T13:00:00.000Z","created_at":"2024-01-01T12:00:00.000Z",)"
      R"("settled_at":null,"answer":null,"selected":[],"index":[],"text":null,)"
      R"("answered_by":null,"answered_via":null,"answered_at":null})");
}

TEST_CASE("an answered question is shown with its answer, a list where several may be picked") {
  Question q = sample_question();
  q.spec.multi_select = true;
  q.spec.style = Style::buttons;
  q.spec.options = {{"rhyming", "", "", false}, {"haiku", "", "", false}};
  q.spec.allow_other = false;
  q.context = "{}";
  q.tool_call_id = std::nullopt;
  CHECK(written(answered(q, {{"haiku"}, "short"})) ==
        R"({"id":"q-123","session_id":"sess-456","agent_name":"write-poem","ask":0,"position":0,)"
        R"("question":"What style would you prefer?",)"
        R"("context":{"asked_at":"2024-01-01T12:00:00.000Z"},"header":null,)"
        R"("options":["rhyming","haiku"],)"
        R"("choices":[{"label":"rhyming","description":null,"emoji":null,"recommended":false},)"
        R"({"label":"haiku","description":null,"emoji":null,"recommended":false}],)"
        R"("multi_select":true,"allow_other":false,"style":"buttons","default":null,)"
        R"("status":"answered","tool_call_id":null,"channels":[],"on_timeout":"fail",)"
        R"("expires_at":"2024-01-01T13:00:00.000Z","created_at":"2024-01-01T12:00:00.000Z",)"
        R"("settled_at":"2024-01-01T12:05:00.250Z","answer":["haiku","short"],)"
        R"("selected":["haiku"],"index":[1],"text":"short","answered_by":"ana@example.org",)"
        R"("answered_via":"email","answered_at":"2024-01-01T12:05:00.250Z"})");
}

TEST_CASE("a context's own asked_at is left alone") {
  Question q = sample_question();
  q.context = R"({"asked_at":"yesterday","n":1.0})";
  CHECK(written(q).find(R"("context":{"asked_at":"yesterday","n":1.0},)") != std::string::npos);
  q.context = R"({"asked\u005fat":"yesterday"})";
  CHECK(written(q).find(R"("context":{"asked\u005fat":"yesterday"},)") != std::string::npos);
  q.context = R"({"deep":{"asked_at":"yesterday"}})";
  CHECK(
      written(q).find(
          R"("context":{"deep":{"asked_at":"yesterday"},"asked_at":"2024-01-01T12:00:00.000Z"},)") !=
      std::string::npos);
}

TEST_CASE("a context of any spelling is still JSON when the time is added") {
  for (const std::string context :
       {"{}", "{ }", "{\n}\n", "{\"a\":\"}\"}", "{\"a\":{}}", "{\"a\" : [ {} ] } "}) {
    Question q = sample_question();
    q.context = context;
    CAPTURE(context);
    const Json json = parse_json(written(q), "body");
    CHECK(json["context"]["asked_at"] == "2024-01-01T12:00:00.000Z");
    CHECK(json["context"].size() == Json::parse(context).size() + 1);
  }
}

TEST_CASE("an agent gets its answers back by question, and each with who gave it") {
  Question first = sample_question();
  Question second = sample_question();
  second.id = QuestionId("q-124");
  second.spec.question = "Which \"checks\"?";
  second.spec.multi_select = true;
  CHECK(resume_json({answered(first, {{"haiku"}, std::nullopt}),
                     answered(second, {{"rhyming", "sonnet"}, "more"})}) ==
        R"({"tool_call_id":"toolu_01","answered":true,"outcome":"answered","reason":null,)"
        R"("answers":{"What style would you prefer?":"haiku",)"
        R"("Which \"checks\"?":["rhyming","sonnet","more"]},)"
        R"("questions":[{"id":"q-123","question":"What style would you prefer?",)"
        R"("outcome":"answered","selected":["haiku"],"index":[3],"text":null,)"
        R"("answered_by":"ana@example.org","answered_via":"email",)"
        R"("answered_at":"2024-01-01T12:05:00.250Z"},)"
        R"({"id":"q-124","question":"Which \"checks\"?","outcome":"answered",)"
        R"("selected":["rhyming","sonnet"],"index":[1,2],"text":"more",)"
        R"("answered_by":"ana@example.org","answered_via":"email",)"
        R"("answered_at":"2024-01-01T12:05:00.250Z"}]})");
}

TEST_CASE("an agent is told of a timeout, with the answers that did come") {
  Question late = sample_question();
  late.id = QuestionId("q-124");
  late.spec.question = "And the title?";
  late.status = QuestionStatus::timed_out;
  late.settled_at = late.deadline_at;
  CHECK(resume_json({answered(sample_question(), {{}, "limerick"}), late}) ==
        R"({"tool_call_id":"toolu_01","answered":false,"outcome":"timed_out","reason":"timeout",)"
        R"("answers":{"What style would you prefer?":"limerick"},)"
        R"("questions":[{"id":"q-123","question":"What style would you prefer?",)"
        R"("outcome":"answered","selected":[],"index":[],"text":"limerick",)"
        R"("answered_by":"ana@example.org","answered_via":"email",)"
        R"("answered_at":"2024-01-01T12:05:00.250Z"},)"
        R"({"id":"q-124","question":"And the title?","outcome":"timed_out","selected":[],)"
        R"("index":[],"text":null,"answered_by":null,"answered_via":null,"answered_at":null}]})");
}

TEST_CASE("an agent gets a default as an answer that nobody gave") {
  Question q = sample_question();
  q.status = QuestionStatus::defaulted;
  q.choice = Choice{{"haiku"}, std::nullopt};
  q.settled_at = q.deadline_at;
  CHECK(resume_json({q}) ==
        R"({"tool_call_id":"toolu_01","answered":true,"outcome":"defaulted","reason":"timeout",)"
        R"("answers":{"What style would you prefer?":"haiku"},)"
        R"("questions":[{"id":"q-123","question":"What style would you prefer?",)"
        R"("outcome":"defaulted","selected":["haiku"],"index":[3],"text":null,)"
        R"("answered_by":null,"answered_via":null,"answered_at":null}]})");
}

TEST_CASE("a cancelled ask says that the user cancelled the question") {
  Question q = sample_question();
  q.tool_call_id = std::nullopt;
  q.status = QuestionStatus::cancelled;
  CHECK(resume_json({q}) ==
        R"({"tool_call_id":null,"answered":false,"outcome":"cancelled",)"
        R"("reason":"the user cancelled the question","answers":{},)"
        R"("questions":[{"id":"q-123","question":"What style would you prefer?",)"
        R"("outcome":"cancelled","selected":[],"index":[],"text":null,)"
        R"("answered_by":null,"answered_via":null,"answered_at":null}]})");
}

TEST_CASE("an ask that nobody was asked is refused in the same shape") {
  CHECK(refusal_json("toolu_01", "the agent \"poet\" may not ask") ==
        R"({"tool_call_id":"toolu_01","answered":false,"outcome":"refused",)"
        R"("reason":"the agent \"poet\" may not ask","answers":{},"questions":[]})");
  CHECK(refusal_json(std::nullopt, "").starts_with(R"({"tool_call_id":null,)"));
}

}  // namespace
}  // namespace holdpoint
