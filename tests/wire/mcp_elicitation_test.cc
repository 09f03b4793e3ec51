#include "wire/mcp_elicitation.h"

#include <doctest/doctest.h>

using namespace holdpoint;

namespace {

Ask sample_ask() {
  QuestionSpec pick, several, own;
  pick.question = "Which?";
  pick.options = {{"a", "the first", "", false}, {"b", "", "", false}};
  several.question = "Which ones?";
  several.options = pick.options;
  several.multi_select = true;
  several.allow_other = false;
  own.question = "Why?";
  Ask ask;
  ask.questions = {pick, several, own};
  return ask;
}

std::optional<std::vector<Choice>> read(const char* result) {
  return mcp::read_elicited(Json::parse(result), sample_ask(), Limits{});
}

}  // namespace

TEST_CASE("a form has a field a question, and one for own words where there are options too") {
  const Json params = Json::parse(mcp::elicitation_params(sample_ask()));
  CHECK(params["message"] == "Which?\nWhich ones?\nWhy?");
  const Json& schema = params["requestedSchema"];
  CHECK(schema["required"] == Json({"answer2", "answer3"}));
  const Json& fields = schema["properties"];
  CHECK(fields.size() == 4);
  CHECK(fields["answer1"]["enum"] == Json({"a", "b"}));
  CHECK(fields["answer1"]["description"] == "a: the first");
  CHECK(fields["other1"]["type"] == "string");
  CHECK(fields["answer2"]["type"] == "array");
  CHECK(fields["answer2"]["items"]["enum"] == Json({"a", "b"}));
  CHECK(fields["answer3"]["type"] == "string");
}

TEST_CASE("clients from before lists are not shown what needs one") {
  Ask ask = sample_ask();
  CHECK(mcp::can_elicit(ask, "2025-11-25"));
  CHECK(mcp::can_elicit(ask, "2026-07-28"));
  CHECK_FALSE(mcp::can_elicit(ask, "2025-06-18"));
  ask.questions.erase(ask.questions.begin() + 1);
  CHECK(mcp::can_elicit(ask, "2025-06-18"));
}

TEST_CASE("what a user accepts becomes choices, own words before an option") {
  const auto choices =
      read(R"({"action":"accept","content":{"answer1":"b","answer2":["b","a"],"answer3":"so"}})");
  REQUIRE(choices);
  CHECK((*choices)[0].selected == std::vector<std::string>{"b"});
  CHECK((*choices)[1].selected.size() == 2);
  CHECK((*choices)[2].text == "so");
  const auto own = read(
      R"({"action":"accept","content":{"answer1":"b","other1":"c!","answer2":["a"],"answer3":"x"}})");
  REQUIRE(own);
  CHECK((*own)[0].text == "c!");
  CHECK((*own)[0].selected.empty());
}

TEST_CASE("what is declined, missing, or not allowed by the questions is no answer") {
  for (const char* result :
       {R"(null)", R"([])", R"({})", R"({"action":"decline"})", R"({"action":"cancel"})",
        R"({"action":7})", R"({"action":"accept"})", R"({"action":"accept","content":[]})",
        R"({"action":"accept","content":{}})",
        R"({"action":"accept","content":{"answer1":"a","answer2":["c"],"answer3":"x"}})",
        R"({"action":"accept","content":{"answer1":"a","answer2":[],"answer3":"x"}})",
        R"({"action":"accept","content":{"answer1":"a","answer2":["a"],"answer3":"  "}})",
        R"({"action":"accept","content":{"answer1":["a","b"],"answer2":["a"],"answer3":"x"}})",
        R"({"action":"accept","content":{"answer1":7,"answer2":["a"],"answer3":"x"}})"}) {
    CAPTURE(result);
    CHECK_FALSE(read(result));
  }
}

TEST_CASE("the tool's result has the answers under their questions, and where they came from") {
  const auto choices =
      read(R"({"action":"accept","content":{"answer1":"b","answer2":["a"],"answer3":"so"}})");
  const Json result = Json::parse(mcp::elicited_result(sample_ask(), choices.value()));
  CHECK(result["isError"] == false);
  const Json& structured = result["structuredContent"];
  CHECK(structured["status"] == "answered");
  CHECK(structured["outcome"] == "answered");
  CHECK(structured["answered_via"] == "elicitation");
  CHECK(structured["answers"] == Json({{"Which?", "b"}, {"Which ones?", {"a"}}, {"Why?", "so"}}));
}
