#include "wire/turn_json.h"

#include <doctest/doctest.h>

#include "tests/domain/complaint.h"

namespace holdpoint {
namespace {

using test::Complaint;
using test::complaint_of;

TurnReply reply(const std::string& text, const Limits& limits = {}) {
  return parse_turn_reply(text, limits);
}

Complaint complaint_about(const std::string& text, const Limits& limits = {}) {
  return complaint_of([&] { return parse_turn_reply(text, limits); });
}

TEST_CASE("the first turn of a session has its payload and nothing else") {
  TurnRequest request;
  request.session_id = SessionId("s-1");
  request.agent_name = "write-poem";
  request.payload = R"({ "topic" : "love" })";
  CHECK(turn_request_json(request) ==
        R"({"session_id":"s-1","agent":"write-poem","turn":1,"reason":"start",)"
        R"("payload":{ "topic" : "love" },"state":null,"resume":null,"messages":[]})");
}

TEST_CASE("a later turn gets its state, the answer and the messages byte for byte") {
  TurnRequest request;
  request.session_id = SessionId("s-1");
  request.agent_name = "write-poem";
  request.turn = 2;
  request.reason = TurnReason::answer;
  request.payload = "{}";
  request.state = "{\"n\": 1.00,\n\"s\":\"\\u00e9\"}";
  request.resume = R"({"answered":true})";
  request.messages = {"1", R"({"a" :2})", "\"x\""};
  CHECK(turn_request_json(request) ==
        "{\"session_id\":\"s-1\",\"agent\":\"write-poem\",\"turn\":2,\"reason\":\"answer\","
        "\"payload\":{},\"state\":{\"n\": 1.00,\n\"s\":\"\\u00e9\"},"
        "\"resume\":{\"answered\":true},\"messages\":[1,{\"a\" :2},\"x\"]}");
}

TEST_CASE("a reply may ask, with or without a state") {
  const auto plain = std::get<AskReply>(reply(R"({"ask":{"questions": []}})"));
  CHECK(plain.ask == R"({"questions": []})");
  CHECK_FALSE(plain.state);
  const auto kept = std::get<AskReply>(reply(R"( {"state" : {"n": 1.0} , "ask" : {"x":"}"}} )"));
  CHECK(kept.ask == R"({"x":"}"})");
  CHECK(kept.state == R"({"n": 1.0})");
}

TEST_CASE("a reply may be a result of any kind") {
  for (const char* result : {"{}", R"({ "poem" : "…" })", "null", "[1, 2]", "\"done\"", "-1.50"}) {
    CHECK(std::get<ResultReply>(reply(std::string(R"({"result": )") + result + " }")).result ==
          result);
  }
}

TEST_CASE("a reply may go on, with or without a state") {
  CHECK_FALSE(std::get<ContinueReply>(reply(R"({"continue":true})")).state);
  CHECK(std::get<ContinueReply>(reply(R"({"continue":true,"state":[1, 2]})")).state == "[1, 2]");
}

TEST_CASE("a reply may be an error, to be tried again or not") {
  const auto plain = std::get<ErrorReply>(reply(R"({"error":"no \"paper\"\n"})"));
  CHECK(plain.error == "no \"paper\"\n");
  CHECK_FALSE(plain.retry);
  CHECK(std::get<ErrorReply>(reply(R"({"error":"","retry":true})")).retry);
  CHECK_FALSE(std::get<ErrorReply>(reply(R"({"error":"","retry":false})")).retry);
}

TEST_CASE("a reply is exactly one of the four") {
  for (const std::string text :
       {"{}", "[]", "null", "\"ask\"", R"({"state":{}})", R"({"retry":true})",
        R"({"ask":{},"result":{}})", R"({"result":{},"error":"x"})",
        R"({"continue":true,"result":1})", R"({"ask":{},"result":1,"continue":true,"error":""})"}) {
    CAPTURE(text);
    CHECK(complaint_about(text).field == "reply");
    CHECK(complaint_about(text).reason ==
          "must be an object with exactly one of ask, result, continue, spawn or error");
  }
}

TEST_CASE("a reply that says the same thing twice is refused, since one of the two would be lost") {
  CHECK(complaint_about(R"({"result":1,"result":2})").field == "reply.result");
  CHECK(complaint_about(R"({"ask":{},"state":1,"state":2})").field == "reply.state");
}

TEST_CASE("a reply with a member that nobody knows is refused by name") {
  CHECK(complaint_about(R"({"result":{},"note":"hi"})").field == "reply.note");
  CHECK(complaint_about(R"({"Result":{}})").field == "reply.Result");
}

TEST_CASE("state goes with ask or continue, retry with error") {
  CHECK(complaint_about(R"({"result":{},"state":{}})").field == "reply.state");
  CHECK(complaint_about(R"({"error":"x","state":{}})").field == "reply.state");
  CHECK(complaint_about(R"({"result":{},"retry":true})").field == "reply.retry");
  CHECK(complaint_about(R"({"ask":{},"retry":true})").field == "reply.retry");
}

TEST_CASE("the members of a reply have their types") {
  for (const std::string value : {"false", "1", "null", "\"true\"", "{}"}) {
    CAPTURE(value);
    CHECK(complaint_about(std::string(R"({"continue":)") + value + "}").field == "reply.continue");
  }
  for (const std::string value : {"true", "1", "null", "{}", "[\"x\"]"}) {
    CHECK(complaint_about(std::string(R"({"error":)") + value + "}").field == "reply.error");
  }
  for (const std::string value : {"1", "null", "\"true\""}) {
    CHECK(complaint_about(std::string(R"({"error":"x","retry":)") + value + "}").field ==
          "reply.retry");
  }
}

TEST_CASE("a reply that is not JSON says so") {
  CHECK(complaint_about("done!").field == "reply");
  CHECK(complaint_about("done!").says("not valid JSON"));
  CHECK(complaint_about("").field == "reply");
  CHECK(complaint_about(R"({"result":{"a":"\u0000"}})").field == "reply.result.a");
}

TEST_CASE("state and result have a most of bytes, counted as they are written") {
  Limits limits;
  limits.max_state_bytes = 10;
  limits.max_result_bytes = 12;
  CHECK(complaint_about(R"({"ask":{},"state": "12345678" })", limits).field == "(none)");
  CHECK(complaint_about(R"({"ask":{},"state":"123456789"})", limits).field == "reply.state");
  CHECK(complaint_about(R"({"continue":true,"state":[1,2,3,4,5]})", limits).reason ==
        "has 11 bytes, at most 10 are kept");
  CHECK(complaint_about(R"({"result":"1234567890"})", limits).field == "(none)");
  CHECK(complaint_about(R"({"result":"12345678901"})", limits).field == "reply.result");
}

}  // namespace
}  // namespace holdpoint
