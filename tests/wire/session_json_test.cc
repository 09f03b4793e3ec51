#include "wire/session_json.h"

#include <doctest/doctest.h>

#include "tests/wire/sample_question.h"
#include "wire/json.h"

namespace holdpoint {
namespace {

Session sample_session() {
  Session s;
  s.id = SessionId("sess-456");
  s.agent_name = "write-poem";
  s.created_at = *parse_iso("2024-01-01T12:00:00.000Z");
  s.updated_at = *parse_iso("2024-01-01T12:05:00.000Z");
  return s;
}

TEST_CASE("a finished session has the members of seed 002 first, and more after them") {
  Session s = sample_session();
  s.status = SessionStatus::completed;
  s.result = R"({ "poem_path": "poem/love-haiku-2024.md" })";
  s.questions_asked = 1;
  s.completed_at = s.updated_at;
  s.turn = 2;
  s.attempts = 1;
  JsonWriter out;
  write_session(out, s);
  CHECK(out.take() ==
        R"({"id":"sess-456","agent_name":"write-poem","status":"completed",)"
        R"("result":{ "poem_path": "poem/love-haiku-2024.md" },"questions_asked":1,)"
        R"("created_at":"2024-01-01T12:00:00.000Z","completed_at":"2024-01-01T12:05:00.000Z",)"
        R"("error":null,"updated_at":"2024-01-01T12:05:00.000Z","parent_id":null,"turn":2,)"
        R"("attempts":1,"usage":null})");
}

TEST_CASE("what a session's model has used is told, with the cost to the millionth of a dollar") {
  Session s = sample_session();
  s.spent = {3, 1200, 300, 100, 12'300};
  JsonWriter priced, unpriced;
  write_session(priced, s);
  const std::string text = priced.take();
  CHECK(text.substr(text.find("\"usage\"")) ==
        R"("usage":{"steps":3,"input_tokens":1200,"output_tokens":300,"cached_tokens":100,)"
        R"("cost_usd":0.0123}})");
  s.spent.cost_micros = std::nullopt;
  write_session(unpriced, s, {});
  const Json usage = Json::parse(unpriced.take())["usage"];
  CHECK(usage["steps"] == 3);
  CHECK(usage["cost_usd"] == nullptr);
}

TEST_CASE("dollars are JSON numbers without a rest of noughts") {
  CHECK(to_dollars(0) == "0");
  CHECK(to_dollars(1) == "0.000001");
  CHECK(to_dollars(100'000) == "0.1");
  CHECK(to_dollars(20'000'000) == "20");
  CHECK(to_dollars(9'223'372'036'854'775'807) == "9223372036854.775807");
  CHECK(to_dollars(std::nullopt) == std::nullopt);
}

TEST_CASE("a record passes on what it holds unread, and says what the caller may do") {
  SessionRecord record;
  record.payload = R"({ "a":1,  "a":2 })";
  record.state = "1.0";
  const Time then = *parse_iso("2024-01-01T12:00:00.000Z");
  record.messages = {{MessageId("m1"), R"("hi" )", then, 2}, {MessageId("m2"), "null", then, {}}};
  record.children = {{SessionId("c"), "poet", SessionStatus::failed, then}};
  JsonWriter out;
  write_record(out, SessionId("s"), record, {true, false, true});
  CHECK(out.take() ==
        R"({"id":"s","payload":{ "a":1,  "a":2 },"state":1.0,"resume":null,"messages":[)"
        R"({"id":"m1","body":"hi" ,"created_at":"2024-01-01T12:00:00.000Z","turn":2},)"
        R"({"id":"m2","body":null,"created_at":"2024-01-01T12:00:00.000Z","turn":null}],)"
        R"("children":[{"id":"c","agent_name":"poet","status":"failed",)"
        R"("created_at":"2024-01-01T12:00:00.000Z"}],)"
        R"("may_cancel":true,"may_retry":false,"may_message":true})");
}

TEST_CASE("a session that waits shows its questions, one that does not has none") {
  Session s = sample_session();
  s.status = SessionStatus::pending_input;
  s.parent_id = SessionId("sess-1");
  JsonWriter waiting, running;
  write_session(waiting, s, {test::sample_question()});
  const Json json = Json::parse(waiting.take());
  CHECK(json["status"] == "pending_input");
  CHECK(json["parent_id"] == "sess-1");
  CHECK(json["result"] == nullptr);
  REQUIRE(json["questions"].size() == 1);
  CHECK(json["questions"][0]["id"] == "q-123");
  write_session(running, s, {});
  CHECK(Json::parse(running.take())["questions"].dump() == "[]");
}

TEST_CASE("a delivery is shown with its last attempt") {
  Delivery d;
  d.id = DeliveryId("d-1");
  d.session_id = SessionId("sess-456");
  d.question_id = QuestionId("q-123");
  d.channel = "url";
  d.event = "question_pending";
  d.destination = "https://example.org/hook";
  d.body = "never shown";
  d.attempts = 3;
  d.next_attempt_at = *parse_iso("2024-01-01T12:06:00.000Z");
  d.last_status = 503;
  d.last_error = "HTTP 503";
  d.created_at = *parse_iso("2024-01-01T12:00:00.000Z");
  JsonWriter out;
  write_delivery(out, d);
  CHECK(out.take() ==
        R"({"id":"d-1","session_id":"sess-456","question_id":"q-123","event":"question_pending",)"
        R"("channel":"url","destination":"https://example.org/hook","status":"pending",)"
        R"("attempts":3,"next_attempt_at":"2024-01-01T12:06:00.000Z","last_status":503,)"
        R"("last_error":"HTTP 503","created_at":"2024-01-01T12:00:00.000Z","delivered_at":null,)"
        R"("message_ref":null,"follows":null})");
}

TEST_CASE("a delivery to a platform tells which message it is, and which it follows") {
  Delivery d;
  d.id = DeliveryId("d-2");
  d.channel = "slack";
  d.destination = "#ops";
  d.message_ref = "C0123 1700000000.000100";
  d.follows = DeliveryId("d-1");
  JsonWriter out;
  write_delivery(out, d);
  const Json shown = Json::parse(out.take());
  CHECK(shown["message_ref"] == "C0123 1700000000.000100");
  CHECK(shown["follows"] == "d-1");
}

}  // namespace
}  // namespace holdpoint
