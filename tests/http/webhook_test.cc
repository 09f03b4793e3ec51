#include <doctest/doctest.h>

#include "tests/http/site.h"
#include "wire/digest.h"
#include "wire/json.h"

using namespace holdpoint;
using namespace holdpoint::test;

namespace {

const std::string kSecret = "a secret of thirty two bytes !!!";

// A closed site whose agent `poet` wants its webhooks signed.
struct Hooked : Site {
  explicit Hooked(WebhookScheme scheme) {
    key({"admin"});
    change_poet([&](AgentDefinition& poet) {
      poet.webhook_verify = scheme;
      poet.webhook_keys = {Secret(kSecret)};
    });
  }
  std::string seconds() const {
    return std::to_string(
        std::chrono::floor<std::chrono::seconds>(world.now()).time_since_epoch().count());
  }
  Call github(const std::string& body, const std::string& id) const {
    return post("/agent/webhook/poet")
        .json(body)
        .with("X-GitHub-Delivery", id)
        .with("X-Hub-Signature-256", "sha256=" + to_hex(hmac_sha256(kSecret, body)));
  }
  Call standard(const std::string& body, const std::string& id,
                const std::string& more = "") const {
    const std::string signature =
        "v1," + to_base64(hmac_sha256(kSecret, id + "." + seconds() + "." + body));
    return post("/agent/webhook/poet")
        .json(body)
        .with("webhook-id", id)
        .with("webhook-timestamp", seconds())
        .with("webhook-signature", signature + more);
  }
  Call slack(const std::string& body) const {
    return post("/agent/webhook/poet")
        .json(body)
        .with("X-Slack-Request-Timestamp", seconds())
        .with("X-Slack-Signature",
              "v0=" + to_hex(hmac_sha256(kSecret, "v0:" + seconds() + ":" + body)));
  }
  // "202", "401 bad_signature" …
  std::string outcome(const Call& call) {
    const Response response = send(call);
    const Json body = Json::parse(response.body);
    return std::to_string(response.status) +
           (body.contains("error") ? " " + body["error"]["code"].get<std::string>() : "");
  }
  std::int64_t sessions() { return count("agent_sessions"); }
};

}  // namespace

TEST_CASE("a signed webhook starts its agent without any key, and who signed is on record") {
  Hooked site(WebhookScheme::github);
  CHECK(site.outcome(site.github("{}", "1")) == "202");
  CHECK(site.sessions() == 1);
  CHECK(site.count("audit_pending WHERE credential = 'webhook:github' AND actor = 'poet'") == 1);
}

TEST_CASE("an unsigned, forged or altered webhook starts nothing") {
  Hooked site(WebhookScheme::github);
  Call altered = site.github("{}", "1");
  altered.body = R"({"evil":1})";
  for (const auto& call :
       {post("/agent/webhook/poet").json("{}"), altered,
        post("/agent/webhook/poet").json("{}").with("X-Hub-Signature-256", "sha256="),
        post("/agent/webhook/poet").json("{}").with("Authorization", "Bearer " + kSecret),
        Hooked(WebhookScheme::standard).standard("{}", "1")}) {
    CHECK(site.outcome(call) == "401 bad_signature");
  }
  CHECK(site.sessions() == 0);
}

TEST_CASE("a copy of a signed webhook starts nothing, whatever unsigned headers it brings") {
  Hooked site(WebhookScheme::github);
  CHECK(site.outcome(site.github("{}", "1")) == "202");
  CHECK(site.outcome(site.github("{}", "1")) == "401 bad_signature");
  CHECK(site.outcome(site.github("{}", "2")) == "401 bad_signature");
  CHECK(site.outcome(site.github("{}", "1").with("Idempotency-Key", "fresh")) ==
        "401 bad_signature");
  CHECK(site.sessions() == 1);
}

TEST_CASE("Slack's webhooks are taken once, and within 300 s") {
  Hooked site(WebhookScheme::slack);
  const Call call = site.slack("{}");
  CHECK(site.outcome(call) == "202");
  CHECK(site.outcome(call) == "401 bad_signature");
  const Call late = site.slack(R"({"a":1})");
  site.world.clock.advance(301s);
  CHECK(site.outcome(late) == "401 bad_signature");
  CHECK(site.sessions() == 1);
}

TEST_CASE("Slack's retry of an event, signed anew, gets the session of the first time") {
  Hooked site(WebhookScheme::slack);
  const std::string event = R"({"type":"event_callback","event_id":"Ev1","event":{}})";
  const Json first = Json::parse(site.send(site.slack(event)).body);
  site.world.clock.advance(60s);
  const Json retry = Json::parse(
      site.send(site.slack(event).with("X-Slack-Retry-Num", "1").with("Idempotency-Key", "x"))
          .body);
  CHECK(retry["session_id"] == first["session_id"]);
  CHECK(retry["duplicate"] == true);
  CHECK(site.outcome(site.slack(R"({"event_id":"Ev1","evil":1})")) == "401 bad_signature");
  CHECK(site.outcome(site.slack(R"({"event_id":"Ev2"})")) == "202");
  CHECK(site.sessions() == 2);
}

TEST_CASE("Slack's question whether the address is ours is answered, and starts nothing") {
  Hooked site(WebhookScheme::slack);
  const Response response =
      site.send(site.slack(R"({"type":"url_verification","challenge":"a\"b"})"));
  CHECK(response.status == 200);
  CHECK(response.body == R"({"challenge":"a\"b"})");
  CHECK(site.sessions() == 0);
  const Call forged = post("/agent/webhook/poet").json(R"({"type":"url_verification"})");
  CHECK(site.outcome(forged) == "401 bad_signature");
}

TEST_CASE("a Standard Webhook is taken once; the sender's own retry gets the same session") {
  Hooked site(WebhookScheme::standard);
  const Call call = site.standard("{}", "msg_1");
  const Json first = Json::parse(site.send(call).body);
  CHECK(site.outcome(call) == "401 bad_signature");
  site.world.clock.advance(10s);
  const Json retry = Json::parse(site.send(site.standard("{}", "msg_1")).body);
  CHECK(retry["session_id"] == first["session_id"]);
  CHECK(retry["duplicate"] == true);
  CHECK(site.outcome(site.standard(R"({"evil":1})", "msg_1")) == "401 bad_signature");
  CHECK(site.sessions() == 1);
}

TEST_CASE("a copy with another signature beside the right one is still a copy") {
  Hooked site(WebhookScheme::standard);
  CHECK(site.outcome(site.standard("{}", "msg_1")) == "202");
  for (const std::string more : {" v1,AAAA", " v2,x", " "}) {
    CAPTURE(more);
    CHECK(site.outcome(site.standard("{}", "msg_1", more)) == "401 bad_signature");
    CHECK(site.outcome(site.standard("{}", "msg_1", more + "x").with("Idempotency-Key", more)) ==
          "401 bad_signature");
  }
  CHECK(site.sessions() == 1);
}

TEST_CASE("the id that is signed counts, not an Idempotency-Key that is not") {
  Hooked site(WebhookScheme::standard);
  const Json first = Json::parse(site.send(site.standard("{}", "msg_1")).body);
  site.world.clock.advance(1s);
  const Json retry =
      Json::parse(site.send(site.standard("{}", "msg_1").with("Idempotency-Key", "another")).body);
  CHECK(retry["session_id"] == first["session_id"]);
  CHECK(site.sessions() == 1);
}

TEST_CASE("a bearer secret is the whole of the header") {
  Hooked site(WebhookScheme::bearer);
  const auto with = [&](const std::string& value) {
    return site.outcome(post("/agent/webhook/poet").json("{}").with("Authorization", value));
  };
  CHECK(with("Bearer " + kSecret) == "202");
  CHECK(with("bearer " + kSecret) == "202");
  for (const std::string& value :
       {kSecret, "Bearer " + kSecret + "x", "Basic " + kSecret, std::string("Bearer ")}) {
    CHECK(with(value) == "401 bad_signature");
  }
  CHECK(site.sessions() == 2);
}

TEST_CASE("a key that may start the agent needs no signature, another key does not help") {
  Hooked site(WebhookScheme::github);
  const Call call = post("/agent/webhook/poet").json("{}");
  for (const char* scope : {"webhook:poet", "sessions:create", "admin"}) {
    CHECK(site.outcome(Call(call).with("Authorization", site.key({scope}))) == "202");
  }
  for (const char* scope : {"webhook:loner", "questions:ask", "sessions:read"}) {
    CHECK(site.outcome(Call(call).with("Authorization", site.key({scope}))) == "401 bad_signature");
  }
}

TEST_CASE("an agent that verifies nothing needs a key once the server is closed") {
  Hooked site(WebhookScheme::none);
  const Call call = post("/agent/webhook/poet").json("{}");
  CHECK(site.outcome(call) == "401 unauthenticated");
  CHECK(site.outcome(Call(call).with("Authorization", site.key({"webhook:loner"}))) ==
        "403 forbidden");
  CHECK(site.outcome(Call(call).with("Authorization", site.key({"webhook:poet"}))) == "202");
}

TEST_CASE("open, an agent that verifies wants its signature all the same") {
  Site site;
  site.change_poet([](AgentDefinition& poet) {
    poet.webhook_verify = WebhookScheme::github;
    poet.webhook_keys = {Secret(kSecret)};
  });
  const Response response = site.send(post("/agent/webhook/poet").json("{}"));
  CHECK(response.status == 401);
  CHECK(site.count("agent_sessions") == 0);
}

TEST_CASE("who may not start agents is not told which there are") {
  Hooked site(WebhookScheme::github);
  const Response unknown = site.send(post("/agent/webhook/nobody").json("{}"));
  const Response known = site.send(post("/agent/webhook/poet").json("{}"));
  CHECK(unknown.status == 401);
  CHECK(known.status == 401);
  const auto by = [&](const char* agent, const char* scope) {
    return site.outcome(post("/agent/webhook/" + std::string(agent))
                            .json("{}")
                            .with("Authorization", site.key({scope})));
  };
  CHECK(by("nobody", "admin") == "404 unknown_agent");
  CHECK(by("nobody", "webhook:nobody") == "404 unknown_agent");
}
