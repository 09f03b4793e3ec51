#include "agents/llm/ask_tool.h"

#include <doctest/doctest.h>

#include "domain/bad_request.h"
#include "wire/json.h"

using namespace holdpoint;

namespace {

ToolAsk read(const std::string& input, OnTimeout on_timeout = OnTimeout::carry_on) {
  return read_ask_call({"toolu_1", kAskTool, input}, {std::chrono::seconds{60}, on_timeout}, {});
}

// The field and the rule that the input breaks, as the model reads them.
std::string complaint(const std::string& input, OnTimeout on_timeout = OnTimeout::carry_on) {
  try {
    read(input, on_timeout);
  } catch (const BadRequest& e) {
    return e.field() + " " + e.what();
  }
  return "(none)";
}

std::string question(const std::string& options, const std::string& more = "") {
  return R"({"questions":[{"question":"Which?","options":)" + options + more + "}]}";
}

}  // namespace

TEST_CASE("a call becomes an ask that is bound to it") {
  const ToolAsk ask =
      read(R"({"questions":[{"question":"Which?","header":"Style","multiSelect":true,"options":[)"
           R"({"label":"a","description":"first","recommended":true},{"label":"b"}]},)"
           R"({"question":"And?","options":[{"label":"c"},{"label":"d"}]}]})");
  CHECK(ask.questions == 2);
  const Ask parsed = parse_ask(ask.ask, {}, {});
  CHECK(parsed.tool_call_id == "toolu_1");
  CHECK(parsed.questions[0].multi_select);
  CHECK(parsed.questions[0].allow_other);
  CHECK(parsed.questions[0].options[0].recommended);
  CHECK_FALSE(parsed.questions[1].multi_select);
}

TEST_CASE("what breaks a rule is said with the place and the rule") {
  const std::string two = R"([{"label":"a"},{"label":"b"}])";
  CHECK(complaint("no json").find("not valid JSON") != std::string::npos);
  CHECK(complaint("[]").find("must be a JSON object") != std::string::npos);
  CHECK(complaint("{}").find("questions is required") != std::string::npos);
  CHECK(complaint(R"({"questions":[]})").find("questions") == 0);
  CHECK(complaint(R"({"questions":["Which?"]})").find("questions[0]") == 0);
  CHECK(complaint(R"({"questions":[{"question":"Which?"}]})") ==
        "questions[0].options must be a list of 2 to 4 options");
  CHECK(complaint(question(R"([{"label":"a"}])")) ==
        "questions[0].options must be a list of 2 to 4 options");
  CHECK(complaint(question(R"(["a","b","c","d","e"])")).find("questions[0].options") == 0);
  CHECK(complaint(question(R"(["a","a"])")).find("questions[0].options") == 0);
  CHECK(complaint(question(two, R"(,"header":"much too long a header")"))
            .find("questions[0].header") == 0);
  CHECK(complaint(question(two, R"(,"timeout":5)")).find("questions[0].timeout is not known") == 0);
  CHECK(complaint(R"({"questions":[{"options":["a","b"]}]})").find("questions[0].question") == 0);
  CHECK(complaint(R"({"questions":[{"question":"a","options":["a","b"]}],"timeout":5})")
            .find("input.timeout is not known") == 0);
  std::string five;
  for (int i = 0; i < 5; ++i) {
    five += std::string(i ? "," : "") + R"({"question":")" + std::to_string(i) +
            R"(","options":["a","b"]})";
  }
  CHECK(complaint("{\"questions\":[" + five + "]}").find("questions") == 0);
}

TEST_CASE("where an answer is taken after the deadline, it is the recommended one") {
  const std::string plain = question(R"([{"label":"a"},{"label":"b"}])");
  CHECK(complaint(plain, OnTimeout::use_default).find("questions[0].options must have one that") ==
        0);
  const ToolAsk ask =
      read(question(R"([{"label":"a"},{"label":"b","recommended":true}])"), OnTimeout::use_default);
  CHECK(Json::parse(ask.ask)["questions"][0]["default"] == "b");
}

TEST_CASE("how an ask ended is the call's result") {
  const ToolCall call{"toolu_1", kAskTool, "{}"};
  const auto told = [&](const std::string& resume) { return ask_result(call, resume); };
  CHECK(told(R"({"answered":true,"outcome":"answered","reason":null,"answers":{"A?": ["x"]}})")
            .content == R"({"answered":true,"answers":{"A?": ["x"]}})");
  CHECK(
      told(R"({"answered":false,"outcome":"timed_out","reason":"timeout","answers":{}})").content ==
      R"({"answered":false,"reason":"timeout"})");
  CHECK_FALSE(
      told(R"({"answered":false,"outcome":"timed_out","reason":"timeout","answers":{}})").is_error);
  CHECK(told(R"({"answered":false,"outcome":"timed_out","reason":"timeout","answers":{"A?":"x"}})")
            .content == R"({"answered":false,"reason":"timeout","answers":{"A?":"x"}})");
  CHECK(told(R"({"answered":true,"outcome":"defaulted","reason":"timeout","answers":{"A?":"x"}})")
            .content == R"({"answered":true,"reason":"timeout","answers":{"A?":"x"}})");
  const auto cancelled = told(R"({"answered":false,"outcome":"cancelled","answers":{}})");
  CHECK(cancelled.is_error);
  CHECK(cancelled.content == "The user cancelled the question.");
  const auto refused = told(refusal_json("toolu_1", "no channel"));
  CHECK(refused.is_error);
  CHECK(refused.content == "The question was not asked: no channel");
  CHECK(refused.id == "toolu_1");
}

TEST_CASE("the schema that models get is JSON, and says what is checked") {
  const Json schema = Json::parse(ask_tool().schema);
  const Json& items = schema["properties"]["questions"];
  CHECK(items["maxItems"] == 4);
  CHECK(items["items"]["properties"]["options"]["minItems"] == 2);
  CHECK(items["items"]["properties"]["header"]["maxLength"] == 12);
}
