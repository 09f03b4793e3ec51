#include "wire/mcp_tools.h"

#include <doctest/doctest.h>

#include "domain/bad_request.h"
#include "tests/wire/sample_question.h"
#include "wire/json.h"

using namespace holdpoint;
using namespace holdpoint::test;
using namespace std::chrono_literals;

namespace {

mcp::Rules rules() {
  mcp::Rules rules;
  rules.agent_name = "mcp";
  rules.defaults.timeout = 3600s;
  return rules;
}

template <class Parse>
std::string complaint(Parse parse) {
  try {
    parse();
  } catch (const BadRequest& e) {
    return e.field() + ": " + e.what();
  }
  return "(none)";
}
std::string ask_complaint(const std::string& arguments) {
  return complaint([&] { mcp::parse_ask(arguments, rules()); });
}

Session finished(SessionStatus status) {
  Session session;
  session.id = SessionId("sess-456");
  session.status = status;
  return session;
}

Json text_json(const std::string& result) {
  const Json json = parse_json(result, "result");
  return Json::parse(json["content"].at(0)["text"].get<std::string>());
}

const std::string kQuestions =
    R"("questions":[{"question":"Which?","header":"Style","options":[{"label":"a","description":"x"},{"label":"b"}],"multiSelect":true}])";

}  // namespace

TEST_CASE("the list of tools is JSON with the limits that hold") {
  Limits limits;
  limits.max_options = 7;
  limits.max_timeout = 4321s;
  const Json tools = parse_json(mcp::tools_json(limits), "tools");
  REQUIRE(tools.size() == 5);
  const Json& ask = tools[0]["inputSchema"]["properties"];
  CHECK(ask["questions"]["items"]["properties"]["options"]["maxItems"] == 7);
  CHECK(ask["timeout"]["maximum"] == 4321);
  for (const auto& tool : tools) {
    CAPTURE(tool["name"]);
    CHECK(tool["inputSchema"]["type"] == "object");
    CHECK(tool["inputSchema"]["additionalProperties"] == false);
    for (const auto& name : tool["inputSchema"]["required"]) {
      CHECK(tool["inputSchema"]["properties"].contains(name.get<std::string>()));
    }
  }
}

TEST_CASE("an ask has what agents know, and what a call adds to it") {
  const auto call = mcp::parse_ask(
      "{" + kQuestions +
          R"(,"wait_seconds":3,"elicit":true,"on_cancel":"withdraw","timeout":60,"idempotency_key":"k","dedupe":true,"context":{"z":1,"a":2}})",
      rules());
  CHECK(call.wait == 3s);
  CHECK(call.elicit);
  CHECK(call.ask.agent_name == "mcp");
  CHECK(call.ask.idempotency_key == "k");
  CHECK(call.ask.dedupe);
  CHECK(call.ask.ask.timeout == 60s);
  CHECK(call.ask.ask.context == R"({"z":1,"a":2})");
  REQUIRE(call.ask.ask.questions.size() == 1);
  CHECK(call.ask.ask.questions[0].multi_select);
  CHECK(call.ask.ask.questions[0].options[0].description == "x");
  CHECK(mcp::withdrawn_by_cancel(call.ask.payload));
  CHECK_FALSE(mcp::is_permission(call.ask.payload));
}

TEST_CASE("a call that says nothing waits as long as it may, keeps its question, shows no form") {
  const auto call = mcp::parse_ask("{" + kQuestions + "}", rules());
  CHECK(call.wait == 55s);
  CHECK_FALSE(call.elicit);
  CHECK_FALSE(mcp::withdrawn_by_cancel(call.ask.payload));
  CHECK(mcp::parse_ask("{" + kQuestions + R"(,"wait_seconds":86400})", rules()).wait == 55s);
  CHECK(mcp::parse_ask("{" + kQuestions + R"(,"wait_seconds":0})", rules()).wait == 0s);
}

TEST_CASE("wrong arguments are refused by the name of the field") {
  CHECK(ask_complaint("[]").starts_with("arguments: "));
  CHECK(ask_complaint("{}").starts_with("questions: "));
  CHECK(ask_complaint(R"({"questions":[{}]})").starts_with("questions[0].question: "));
  CHECK(ask_complaint("{" + kQuestions + R"(,"wait_seconds":-1})").starts_with("wait_seconds: "));
  CHECK(ask_complaint("{" + kQuestions + R"(,"wait_seconds":1.5})").starts_with("wait_seconds: "));
  CHECK(ask_complaint("{" + kQuestions + R"(,"on_cancel":"x"})").starts_with("on_cancel: "));
  CHECK(ask_complaint("{" + kQuestions + R"(,"elicit":"yes"})").starts_with("elicit: "));
  CHECK(ask_complaint("{" + kQuestions + R"(,"agent":"x"})") == "agent: is not known here");
  CHECK(ask_complaint("{" + kQuestions + R"(,"payload":{}})") == "payload: is not known here");
  CHECK(ask_complaint("{" + kQuestions + R"(,"colour":1})").starts_with("colour: "));
  const auto get = [](const char* arguments) {
    return complaint([&] { mcp::parse_get_answer(arguments, rules()); });
  };
  CHECK(get("{}") == "id: is required");
  CHECK(get(R"({"id":1})") == "id: must be a string");
  CHECK(get(R"({"id":"x","more":1})").starts_with("more: "));
  CHECK(complaint([] { mcp::parse_cancel(R"({"id":"x","reason":7})"); }) ==
        "reason: must be a string");
  CHECK(complaint([] {
          mcp::parse_cancel(R"({"id":"x","reason":")" + std::string(1001, 'x') + "\"}");
        }).starts_with("reason: "));
}

TEST_CASE("ids are taken in any case, and a withdrawal always has a reason") {
  CHECK(mcp::parse_get_answer(R"({"id":"ABC"})", rules()).id == "abc");
  CHECK(mcp::parse_cancel(R"({"id":"x"})").reason == "the agent withdrew it");
  CHECK(mcp::parse_cancel(R"({"id":"x","reason":"done"})").reason == "done");
}

TEST_CASE("a permission is asked with the tool's input, for as long as the call waits at most") {
  mcp::Rules bounds = rules();
  bounds.longest_wait = 100s;
  const auto outside = mcp::parse_permission(
      R"({"tool_name":"Bash","input":{"z": 1,"a":"rm"},"tool_use_id":"toolu_9"})", bounds);
  const Ask& ask = outside.ask;
  CHECK(ask.timeout == 100s);
  CHECK(ask.on_timeout == OnTimeout::fail);
  CHECK(ask.tool_call_id == "toolu_9");
  CHECK(ask.questions[0].question.starts_with("Allow Bash?"));
  CHECK(ask.questions[0].question.find("\"rm\"") != std::string::npos);
  CHECK(ask.context == R"({"tool":"Bash","input":{"z": 1,"a":"rm"}})");
  CHECK(mcp::is_permission(outside.payload));
  CHECK(mcp::withdrawn_by_cancel(outside.payload));
  bounds.longest_wait = 7200s;
  CHECK(mcp::parse_permission(R"({"tool_name":"Bash","input":{}})", bounds).ask.timeout == 3600s);
}

TEST_CASE("an input that is too large to show is cut for people, and whole in what is allowed") {
  const std::string input = R"({"text":")" + std::string(100'000, 'x') + "\"}";
  const auto outside =
      mcp::parse_permission(R"({"tool_name":"Write","input":)" + input + "}", rules());
  CHECK(outside.ask.questions[0].question.size() < 2000);
  CHECK(outside.ask.context.size() <= rules().limits.max_context_bytes);
  Question question = answered(sample_question(), {{"Allow"}, std::nullopt});
  const Json allowed = text_json(
      mcp::permission_result(finished(SessionStatus::completed), {question}, outside.payload));
  CHECK(allowed["updatedInput"] == Json::parse(input));
}

TEST_CASE("a permission is allowed by that option alone; all else denies it and says why") {
  const std::string payload = R"({"mcp":"permission","tool_name":"Bash","input":{"a":1}})";
  const auto result = [&](const Question& question, SessionStatus status) {
    return text_json(mcp::permission_result(finished(status), {question}, payload));
  };
  const Question asked = sample_question();
  CHECK(result(answered(asked, {{"Allow"}, std::nullopt}), SessionStatus::completed) ==
        Json({{"behavior", "allow"}, {"updatedInput", {{"a", 1}}}}));
  const Json denied = result(answered(asked, {{"Deny"}, std::nullopt}), SessionStatus::completed);
  CHECK(denied["behavior"] == "deny");
  CHECK(denied["message"].get<std::string>().find("Deny") != std::string::npos);
  CHECK(result(answered(asked, {{}, "Allow"}), SessionStatus::completed) ==
        Json({{"behavior", "deny"}, {"message", "Allow"}}));
  Question late = asked;
  late.status = QuestionStatus::timed_out;
  CHECK(result(late, SessionStatus::failed)["behavior"] == "deny");
  CHECK(result(asked, SessionStatus::pending_input)["behavior"] == "deny");
}

TEST_CASE("the result of an open question says how to go on, that of a settled one how it ended") {
  const auto result = [](const Session& session, const Question& question) {
    return parse_json(mcp::ask_result(session, {question}), "result");
  };
  const Json open = result(finished(SessionStatus::pending_input), sample_question());
  CHECK(open["isError"] == false);
  CHECK(open["structuredContent"] == Json({{"id", "sess-456"},
                                           {"status", "pending"},
                                           {"expires_at", "2024-01-01T13:00:00.000Z"}}));
  CHECK(open["content"][0]["text"].get<std::string>().find(R"({"id": "sess-456"})") !=
        std::string::npos);
  const Json done = result(finished(SessionStatus::completed),
                           answered(sample_question(), {{"haiku"}, std::nullopt}));
  CHECK(done["isError"] == false);
  CHECK(done["structuredContent"]["status"] == "answered");
  CHECK(done["structuredContent"]["answers"]["What style would you prefer?"] == "haiku");
  Question gone = sample_question();
  gone.status = QuestionStatus::cancelled;
  Session cancelled = finished(SessionStatus::cancelled);
  cancelled.error = "the user cancelled the question: too late";
  const Json over = result(cancelled, gone);
  CHECK(over["isError"] == true);
  CHECK(over["structuredContent"]["status"] == "cancelled");
  CHECK(over["content"][0]["text"].get<std::string>().find("too late") != std::string::npos);
}
