#include "wire/outside_ask.h"

#include <doctest/doctest.h>

#include "domain/bad_request.h"

using namespace holdpoint;

namespace {

const std::string kQuestions = R"("questions":[{"question":"Go?","options":["yes","no"]}])";

OutsideAsk parse(const std::string& more) {
  return parse_outside_ask("{" + kQuestions + more + "}", "pager", AskDefaults{}, Limits{});
}

std::string blamed(const std::string& more) {
  try {
    (void)parse(more);
  } catch (const BadRequest& e) {
    return e.field();
  }
  return "(taken)";
}

}  // namespace

TEST_CASE("an ask from outside may bring a key, a payload, and leave to join") {
  const auto plain = parse("");
  CHECK(plain.agent_name == "pager");
  CHECK_FALSE(plain.idempotency_key);
  CHECK_FALSE(plain.dedupe);
  CHECK(plain.payload == "{}");
  const auto all =
      parse(R"(,"agent":"x","idempotency_key":"k 1","dedupe":true,"payload":{"n":1.50,"b": 2})");
  CHECK(all.idempotency_key == "k 1");
  CHECK(all.dedupe);
  CHECK(all.payload == R"({"n":1.50,"b": 2})");
  CHECK(parse(R"(,"idempotency_key":null,"payload":null)").payload == "{}");
}

TEST_CASE("what an ask from outside adds is blamed by its name") {
  CHECK(blamed(R"(,"idempotency_key":7)") == "idempotency_key");
  CHECK(blamed(R"(,"idempotency_key":"")") == "idempotency_key");
  CHECK(blamed(R"(,"idempotency_key":"ü")") == "idempotency_key");
  CHECK(blamed(R"(,"idempotency_key":")" + std::string(256, 'k') + "\"") == "idempotency_key");
  CHECK(blamed(R"(,"idempotency_key":")" + std::string(255, 'k') + "\"") == "(taken)");
  CHECK(blamed(R"(,"dedupe":"yes")") == "dedupe");
  CHECK(blamed(R"(,"payload":[])") == "payload");
  CHECK(blamed(R"(,"dedup":true)") == "dedup");
}

TEST_CASE("asks have the same fingerprint if they would look the same to people") {
  const auto first = fingerprint(parse(""));
  CHECK(fingerprint(parse(R"(,"timeout":5,"context":{"a":1},"idempotency_key":"k")")) == first);
  auto other = parse("");
  other.agent_name = "other";
  CHECK(fingerprint(other) != first);
  other = parse("");
  other.ask.questions[0].question = "Stop?";
  CHECK(fingerprint(other) != first);
  other = parse("");
  other.ask.questions[0].options.pop_back();
  CHECK(fingerprint(other) != first);
  other = parse("");
  std::swap(other.ask.questions[0].options[0], other.ask.questions[0].options[1]);
  CHECK(fingerprint(other) != first);
  // Labels and questions cannot run into each other.
  auto one = parse(""), two = parse("");
  one.ask.questions[0].options = {{"a", "", "", false}, {"b\",\"c", "", "", false}};
  two.ask.questions[0].options = {{"a\",\"b", "", "", false}, {"c", "", "", false}};
  CHECK(fingerprint(one) != fingerprint(two));
}

TEST_CASE("the agent that asks is named in the body, or is the one of asks that name none") {
  CHECK(asking_agent(R"({"agent":"desk"})", "external") == "desk");
  CHECK(asking_agent("{}", "external") == "external");
  CHECK(asking_agent("[]", "external") == "external");
  CHECK_THROWS_AS((void)asking_agent(R"({"agent":7})", "external"), BadRequest);
}
