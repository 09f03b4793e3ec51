#include "http/email_api.h"

#include <doctest/doctest.h>

#include "tests/flow/mail_world.h"
#include "tests/http/call.h"
#include "wire/digest.h"
#include "wire/json.h"

using namespace holdpoint;
using namespace holdpoint::test;

namespace {

const std::string kKey = "sixteen bytes it is, at least";
const std::string kSecret = "whsec_" + to_base64(kKey);

// The routes of mail, on a world that asks by it.
struct Provider {
  Response send(const Call& call) {
    Replies replies(m.world.db(), m.world.process().journal, m.world.process().answers,
                    m.world.process().notices, m.tokens, {"reply@example.org", {}});
    Unsubscribe leaving(m.world.db(), m.world.process().journal, m.tokens);
    const std::vector<Secret> secrets{Secret("another one"), Secret(kSecret)};
    const auto now = m.world.now();
    const Routes routes{
        {"POST", "/email/inbound", own_check(),
         [&](Request& r) { return email_inbound(replies, secrets, r, now); }, false, false, true},
        {"GET", "/email/unsubscribe", own_check(),
         [&](Request& r) { return unsubscribe_page(leaving, r); }, true},
        {"POST", "/email/unsubscribe", own_check(),
         [&](Request& r) { return unsubscribe(leaving, r, now); }, true, true, true},
    };
    return answer_call(routes, call);
  }
  // "200 answered", "401", "422 from" …
  std::string outcome(const Call& call) {
    const Response response = send(call);
    const Json body = Json::parse(response.body);
    const std::string status = std::to_string(response.status);
    if (body.contains("outcome")) return status + " " + body["outcome"].get<std::string>();
    return status + " " + body["error"].value("field", "");
  }
  std::string reply(const std::string& text, const std::string& more = "") const {
    return R"({"from":"Ana <ana@example.org>","to":")" + m.address_of(m.asked().id) +
           R"(","text":")" + text + "\"" + more + "}";
  }
  Call bearer(const std::string& body) const {
    return post("/email/inbound").json(body).with("Authorization", "Bearer " + kSecret);
  }
  std::string seconds(std::chrono::seconds ago = {}) const {
    return std::to_string(
        std::chrono::floor<std::chrono::seconds>(m.world.now() - ago).time_since_epoch().count());
  }
  Call mailgun(const std::string& timestamp, const std::string& key = kSecret) const {
    return post("/email/inbound")
        .form({{"recipient", m.address_of(m.asked().id)},
               {"from", "ana@example.org"},
               {"body-plain", "Yes"},
               {"timestamp", timestamp},
               {"token", "abc"},
               {"signature", to_hex(hmac_sha256(key, timestamp + "abc"))}});
  }
  bool pending() { return m.world.questions(id)[0].status == QuestionStatus::pending; }

  MailWorld m;
  SessionId id = m.ask();
};

}  // namespace

TEST_CASE("a provider's post with the secret answers the question") {
  Provider p;
  CHECK(p.outcome(p.bearer(p.reply("No problem"))) == "200 unclear");
  CHECK(p.outcome(p.bearer(p.reply("Away", R"(,"headers":{"Auto-Submitted":"auto-replied"})"))) ==
        "200 ignored");
  CHECK(p.outcome(p.bearer(R"({"from":"eve@x","to":")" + p.m.address_of(p.m.asked().id) +
                           R"(","text":"Yes"})")) == "200 refused");
  CHECK(p.outcome(p.bearer(R"({"from":"eve@x","to":"reply@example.org","text":"Yes"})")) ==
        "200 unknown");
  CHECK(p.pending());
  CHECK(p.outcome(p.bearer(p.reply("Yes"))) == "200 answered");
  CHECK(p.outcome(p.bearer(p.reply("Yes"))) == "200 already_answered");
  CHECK(p.outcome(p.bearer(p.reply("No"))) == "200 late");
}

TEST_CASE("each way to show the secret opens the door") {
  const auto with = [](const std::function<Call(Provider&)>& call) {
    Provider p;
    return p.outcome(call(p));
  };
  CHECK(with([](Provider& p) {
          return post("/email/inbound")
              .json(p.reply("Yes"))
              .with("Authorization", "Basic " + to_base64("postmark:" + kSecret));
        }) == "200 answered");
  CHECK(with([](Provider& p) {
          const std::string body = p.reply("Yes");
          const std::string signed_text = "m1." + p.seconds() + "." + body;
          return post("/email/inbound")
              .json(body)
              .with("webhook-id", "m1")
              .with("webhook-timestamp", p.seconds())
              .with("webhook-signature", "v1," + to_base64(hmac_sha256(kKey, signed_text)));
        }) == "200 answered");
  CHECK(with([](Provider& p) { return p.mailgun(p.seconds()); }) == "200 answered");
  // It tries again for hours.
  CHECK(with([](Provider& p) { return p.mailgun(p.seconds(std::chrono::hours{8})); }) ==
        "200 answered");
}

TEST_CASE("whoever does not show the secret is turned away, and learns nothing about the body") {
  Provider p;
  const std::string body = p.reply("Yes");
  const auto call = [&](const std::string& authorization) {
    return post("/email/inbound").json(body).with("Authorization", authorization);
  };
  for (const auto& wrong :
       {post("/email/inbound").json(body), post("/email/inbound").json("{"), call("Bearer "),
        call("Bearer wrong"), call("Bearer"), call("Basic " + to_base64(kSecret)),
        call("Basic " + to_base64("user:wrong")), call("Basic !!!"), call("Digest " + kSecret),
        call("Bearer " + kSecret).with("Authorization", "Bearer " + kSecret),
        post("/email/inbound").json(body).with("webhook-signature", "v1,x"),
        p.mailgun(p.seconds(), "wrong"), p.mailgun(p.seconds(std::chrono::hours{13})),
        p.mailgun(p.seconds(std::chrono::hours{-1})), p.mailgun("99999999999999999999"),
        p.mailgun("x")}) {
    const Response response = p.send(wrong);
    CHECK(response.status == 401);
    CHECK(response.body.find(kSecret) == std::string::npos);
  }
  CHECK(p.pending());
}

TEST_CASE("a post that lacks something is told which field") {
  Provider p;
  CHECK(p.outcome(p.bearer(R"({"to":"a@x","text":"Yes"})")) == "422 from");
  CHECK(p.outcome(p.bearer(R"({"from":"a@x","text":"Yes"})")) == "422 to");
  CHECK(p.outcome(p.bearer(R"({"from":"a@x","to":"b@x"})")) == "422 text");
  CHECK(p.outcome(p.bearer("[1]")) == "400 body");
  Call plain = p.bearer("Yes");
  plain.headers = {{"Authorization", "Bearer " + kSecret}, {"Content-Type", "text/plain"}};
  CHECK(p.outcome(plain) == "400 body");
}

TEST_CASE("a whole mail can be posted as it is") {
  Provider p;
  Call call = post("/email/inbound").with("Authorization", "Bearer " + kSecret);
  call.with("Content-Type", "message/rfc822");
  call.body = "From: ana@example.org\r\nTo: " + p.m.address_of(p.m.asked().id) + "\r\n\r\n1\r\n";
  CHECK(p.outcome(call) == "200 answered");
}

TEST_CASE("opening the link to unsubscribe changes nothing, its button does") {
  Provider p;
  const std::string target = "/email/unsubscribe?token=" + p.m.tokens.make(p.m.asked().id);
  const Response page = p.send(get(target));
  CHECK(page.status == 200);
  CHECK(page.body.find("ana@example.org") != std::string::npos);
  CHECK(page.body.find("action=\"" + target + "\"") != std::string::npos);
  CHECK(p.m.world.count_events(p.id, "destination_disabled") == 0);
  // As a mail program does it (RFC 8058).
  const Response done = p.send(post(target).form({{"List-Unsubscribe", "One-Click"}}));
  CHECK(done.status == 200);
  CHECK(p.m.world.count_events(p.id, "destination_disabled") == 1);
  CHECK(p.send(post(target)).status == 200);
  CHECK(p.m.world.count_events(p.id, "destination_disabled") == 1);
}

TEST_CASE("a link to unsubscribe that is not ours is a page that says so") {
  Provider p;
  for (const char* target : {"/email/unsubscribe", "/email/unsubscribe?token=",
                             "/email/unsubscribe?token=%ff%00", "/email/unsubscribe?token=abc"}) {
    CHECK(p.send(get(target)).status == 404);
    CHECK(p.send(post(target)).status == 404);
  }
}
