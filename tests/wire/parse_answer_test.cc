#include <doctest/doctest.h>

#include "tests/domain/complaint.h"
#include "wire/question_json.h"

namespace holdpoint {
namespace {

using Values = std::map<std::string, std::vector<std::string>>;

std::string blamed(const std::string& text) {
  return test::complaint_of([&] { return parse_answer(text); }).field;
}

TEST_CASE("an answer is a text or a list of texts") {
  CHECK(parse_answer(R"({"answer":"haiku"})").values == Values{{"", {"haiku"}}});
  CHECK(parse_answer(R"({"answer":["a","b"]})").values == Values{{"", {"a", "b"}}});
  CHECK(parse_answer(R"({"answer":[]})").values == Values{{"", {}}});
  CHECK_FALSE(parse_answer(R"({"answer":"haiku"})").by_text);
}

TEST_CASE("an answer may name its question and its giver") {
  const Answer a = parse_answer(R"({"question_id":"q-1","answer":"haiku","answered_by":"Ana"})");
  CHECK(a.values == Values{{"q-1", {"haiku"}}});
  CHECK(a.by == "Ana");
  const Answer nulls = parse_answer(R"({"question_id":null,"answer":"x","answered_by":null})");
  CHECK(nulls.values == Values{{"", {"x"}}});
  CHECK(nulls.by == "");
}

TEST_CASE("several answers come by id or text") {
  const Answer a = parse_answer(R"({"answers":{"q-1":"a","Which one?":["b","c"]}})");
  CHECK(a.values == Values{{"q-1", {"a"}}, {"Which one?", {"b", "c"}}});
  CHECK(a.by_text);
}

TEST_CASE("what is no answer is blamed by its field") {
  for (const auto& [text, field] : std::vector<std::pair<std::string, std::string>>{
           {"", "body"},
           {"haiku", "body"},
           {"\"haiku\"", "body"},
           {"{}", "answer"},
           {R"({"question_id":"q-1"})", "answer"},
           {R"({"answer":null})", "answer"},
           {R"({"answer":1})", "answer"},
           {R"({"answer":{"a":1}})", "answer"},
           {R"({"answer":["a",1]})", "answer"},
           {R"({"answer":"a","answer":"b"})", "answer"},
           {R"({"answer":"a\u0000"})", "answer"},
           {R"({"answer":"a","question_id":1})", "question_id"},
           {R"({"answer":"a","question_id":""})", "question_id"},
           {R"({"answer":"a","by":"Ana"})", "by"},
           {R"({"answer":"a","answered_by":1})", "answered_by"},
           {R"({"answer":"a","answered_by":" "})", "answered_by"},
           {R"({"answer":"a","answers":{"q":"a"}})", "answers"},
           {R"({"question_id":"q","answers":{"q":"a"}})", "answers"},
           {R"({"answers":{}})", "answers"},
           {R"({"answers":["a"]})", "answers"},
           {R"({"answers":null})", "answers"},
           {R"({"answers":{"":"a"}})", "answers"},
           {R"({"answers":{"q":1}})", "answers.q"},
           {R"({"answers":{"q":["a",null]}})", "answers.q"},
           {R"({"answers":{"q":"a","q":"b"}})", "answers.q"}}) {
    CAPTURE(text);
    CHECK(blamed(text) == field);
  }
}

TEST_CASE("who answered has at most 200 characters") {
  std::string name;
  for (int i = 0; i < 200; ++i) name += "é";
  CHECK(parse_answer(R"({"answer":"a","answered_by":")" + name + "\"}").by == name);
  CHECK(blamed(R"({"answer":"a","answered_by":")" + name + "é\"}") == "answered_by");
}

}  // namespace
}  // namespace holdpoint
