#include "http/slack_api.h"

#include <doctest/doctest.h>

#include "channels/slack_message.h"
#include "tests/http/call.h"
#include "tests/support/world.h"
#include "wire/digest.h"
#include "wire/form.h"

using namespace holdpoint;
using namespace holdpoint::test;

namespace {

const std::string kSecret = "8f742231b10e8888abcd99yyyzzz85a5";

// The route alone, and a question to click on.
struct Slacked {
  Slacked() {
    session = world.trigger();
    world.run_until_idle();
    id = world.questions(session).at(0).id;
  }
  std::string payload() const {
    const Json json{
        {"type", "block_actions"},
        {"user", {{"id", "U1"}, {"username", "ana"}}},
        {"actions",
         Json::array({{{"block_id", slack_block_id(id, "row0")}, {"action_id", "pick:0"}}})}};
    return "payload=" + escape_url(json.dump());
  }
  Call call(const std::string& body, std::chrono::seconds off = 0s,
            const std::string& secret = kSecret) const {
    const std::string time = std::to_string(
        std::chrono::floor<std::chrono::seconds>(world.now() + off).time_since_epoch().count());
    Call made = post("/slack/interactions");
    made.body = body;
    return made.with("Content-Type", "application/x-www-form-urlencoded")
        .with("X-Slack-Request-Timestamp", time)
        .with("X-Slack-Signature", "v0=" + to_hex(hmac_sha256(secret, "v0:" + time + ":" + body)));
  }
  Response send(const Call& made, const std::vector<Secret>& secrets = {Secret(kSecret)}) {
    Route route{"POST",
                "/slack/interactions",
                nothing(),
                [&](Request& request) {
                  return slack_interaction(desk, secrets, request, world.now()); },
                false,
                true};
    Request request = request_of(made);
    return answer_request(route, request);
  }
  QuestionStatus status() { return world.questions(session).at(0).status; }

  World world;
  SessionId session;
  QuestionId id;
  Clicks clicks{world.process().answers, world.process().control, world.process().views, {}};
  SlackChannel slack{world.http, {}};
  SlackDesk desk{clicks, slack, [](const Question&) { return SlackDesk::Standing{}; }};
};

}  // namespace

TEST_CASE("a signed click is taken, and acknowledged with nothing more") {
  Slacked at;
  const Response response = at.send(at.call(at.payload()));
  CHECK(response.status == 200);
  CHECK(response.body.empty());
  CHECK(at.status() == QuestionStatus::answered);
}

TEST_CASE("either of two signing secrets will do, while one is changed for the other") {
  Slacked at;
  CHECK(at.send(at.call(at.payload()), {Secret("new"), Secret(kSecret)}).status == 200);
}

TEST_CASE("an unsigned, forged, altered or stale click is refused") {
  Slacked at;
  Call unsigned_call = post("/slack/interactions");
  unsigned_call.body = at.payload();
  Call altered = at.call(at.payload());
  altered.body += "&x=1";
  Call twice = at.call(at.payload());
  twice.with("X-Slack-Signature", "v0=00");
  for (const Call& call : {unsigned_call, altered, twice, at.call(at.payload(), 0s, "guess"),
                           at.call(at.payload(), -301s), at.call(at.payload(), 301s)}) {
    const Response response = at.send(call);
    CHECK(response.status == 401);
    CHECK(Json::parse(response.body)["error"]["code"] == "bad_signature");
  }
  CHECK(at.status() == QuestionStatus::pending);
  CHECK(at.send(at.call(at.payload(), 299s)).status == 200);
}

TEST_CASE("without a signing secret the route says what to set") {
  Slacked at;
  const Response response = at.send(at.call(at.payload()), {});
  CHECK(response.status == 404);
  CHECK(response.body.find("[slack] signing_secret") != std::string::npos);
}

TEST_CASE("a body that cannot be read is a bad request; a look at the certificate is not") {
  Slacked at;
  for (const std::string body : {"", "payload=", "payload=%7B", "payload=%zz", "x=1",
                                 "payload=%7B%7D&payload=%7B%7D", "payload=%5B%5D"}) {
    CAPTURE(body);
    CHECK(at.send(at.call(body)).status == 400);
  }
  CHECK(at.send(at.call("payload=%7B%7D")).status == 200);
  CHECK(at.send(at.call("ssl_check=1&token=x")).status == 200);
  CHECK(at.status() == QuestionStatus::pending);
}
