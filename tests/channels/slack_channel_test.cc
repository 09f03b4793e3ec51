#include "channels/slack_channel.h"

#include <doctest/doctest.h>

#include "channels/slack_form.h"
#include "channels/slack_webhook_channel.h"
#include "tests/channels/slack_asked.h"
#include "tests/channels/slack_limits.h"
#include "tests/support/world.h"

using namespace holdpoint;
using namespace holdpoint::test;
using Kind = SendOutcome::Kind;

namespace {

// Slack, which answers as the test says.
struct Workspace {
  HttpResponse answer(const std::string& body, int status = 200,
                      std::optional<Duration> retry_after = {}) {
    return {status, "", body, retry_after};
  }
  void answers(const std::string& body, int status = 200,
               std::optional<Duration> retry_after = {}) {
    http.respond = [=, this](const HttpRequest&) { return answer(body, status, retry_after); };
  }
  void refuses(const std::string& error) { answers(R"({"ok":false,"error":")" + error + "\"}"); }
  SendOutcome post() { return send({}); }
  SendOutcome edit() { return send("C1 1.2"); }
  SendOutcome send(std::optional<std::string> ref) {
    return slack.send({delivery, questions, true, std::move(ref)}, Time{}, [] { return false; });
  }
  HttpRequest last() { return http.seen().back(); }
  Json body() { return Json::parse(last().body); }

  FakeHttp http;
  SlackChannel slack{http, {"https://slack.example/api", Secret("xoxb-secret"), kSite}};
  Delivery delivery = [] {
    Delivery d;
    d.destination = "#ops";
    return d;
  }();
  std::vector<Question> questions{asked(options(2))};
};

}  // namespace

TEST_CASE("a new message is posted as the bot, and its name is kept to edit it by") {
  Workspace at;
  at.answers(R"({"ok":true,"channel":"C1","ts":"1700000000.000100","message":{}})");
  const auto outcome = at.post();
  CHECK(outcome.kind == Kind::delivered);
  CHECK(outcome.message_ref == "C1 1700000000.000100");
  CHECK(at.last().url == "https://slack.example/api/chat.postMessage");
  CHECK(at.last().headers.at("Authorization") == "Bearer xoxb-secret");
  CHECK(at.last().headers.at("Content-Type") == "application/json; charset=utf-8");
  CHECK(at.body()["channel"] == "#ops");
  CHECK(at.body()["unfurl_links"] == false);
  check_message(at.last().body);
}

TEST_CASE("a message with a name is edited") {
  Workspace at;
  at.answers(R"({"ok":true,"channel":"C1","ts":"1.2"})");
  at.questions[0] = settle(at.questions[0], QuestionStatus::cancelled);
  const auto outcome = at.edit();
  CHECK(outcome.kind == Kind::delivered);
  CHECK_FALSE(outcome.message_ref);
  CHECK(at.last().url == "https://slack.example/api/chat.update");
  CHECK(at.body()["channel"] == "C1");
  CHECK(at.body()["ts"] == "1.2");
  check_message(at.last().body);
  CHECK(at.send("nonsense").kind == Kind::refused);
  CHECK(at.http.seen().size() == 1);
}

TEST_CASE("what an operator can mend is tried again, and said with what mends it") {
  Workspace at;
  for (const auto& [error, fix] : std::map<std::string, std::string>{
           {"invalid_auth", "[slack] bot_token"},
           {"not_in_channel", "/invite @"},
           {"channel_not_found", "#ops: the bot sees no such channel"},
           {"missing_scope", "chat:write"},
           {"is_archived", "archived"},
           {"never_heard_of", "Slack says: never_heard_of"}}) {
    at.refuses(error);
    const auto outcome = at.post();
    CAPTURE(outcome.error);
    CHECK(outcome.kind == Kind::failed);
    CHECK(outcome.error.find(fix) != std::string::npos);
    CHECK(outcome.error.find(error) != std::string::npos);
    CHECK(outcome.error.find("xoxb") == std::string::npos);
  }
}

TEST_CASE("a message that Slack does not take is never sent again, and its reason is kept") {
  Workspace at;
  at.answers(
      R"({"ok":false,"error":"invalid_blocks","response_metadata":{"messages":["[ERROR] /blocks/1"]}})");
  const auto outcome = at.post();
  CHECK(outcome.kind == Kind::refused);
  CHECK(outcome.error.find("[ERROR] /blocks/1") != std::string::npos);
  at.refuses("msg_blocks_too_long");
  CHECK(at.post().kind == Kind::refused);
}

TEST_CASE("a message that is gone needs no edit; one that may not be edited is given up") {
  Workspace at;
  at.refuses("message_not_found");
  CHECK(at.edit().kind == Kind::delivered);
  CHECK(at.post().kind == Kind::failed);
  at.refuses("cant_update_message");
  CHECK(at.edit().kind == Kind::refused);
}

TEST_CASE("Slack's limits are obeyed: by channel for posts, everywhere for edits") {
  Workspace at;
  at.answers(R"({"ok":false,"error":"ratelimited"})", 429, 30s);
  auto outcome = at.post();
  CHECK(outcome.kind == Kind::failed);
  CHECK(outcome.http_status == 429);
  CHECK(outcome.retry_after == Duration{30s});
  CHECK(outcome.rest == Duration{30s});
  CHECK_FALSE(outcome.rest_all);
  CHECK(at.edit().rest_all);
  at.answers("", 429);
  CHECK(at.post().rest == Duration{5s});
  at.refuses("ratelimited");
  CHECK(at.post().http_status == 429);
}

TEST_CASE("an outage, a cut line and an answer that is not Slack's are tried again") {
  Workspace at;
  for (const auto& [status, body] :
       std::vector<std::pair<int, std::string>>{{503, "<html>"},
                                                {200, "<html>"},
                                                {404, "no"},
                                                {200, "{\"ok\":\"true\"}"},
                                                {200, "[]"}}) {
    at.answers(body, status);
    const auto outcome = at.post();
    CHECK(outcome.kind == Kind::failed);
    CHECK_FALSE(outcome.error.empty());
    CHECK(outcome.http_status == status);
  }
  at.http.respond = [](const HttpRequest&) { return HttpResponse{0, "timed out", "", {}}; };
  CHECK(at.post().error == "Slack could not be reached: timed out");
  CHECK_FALSE(at.post().http_status);
}

TEST_CASE("a notice is for the one who clicked alone, and leaves the message as it is") {
  Workspace at;
  CHECK(at.slack.tell("https://hooks.slack.example/1", "Too late: <!here>") == "");
  CHECK(at.last().url == "https://hooks.slack.example/1");
  CHECK(at.last().headers.count("Authorization") == 0);
  CHECK(at.body()["response_type"] == "ephemeral");
  CHECK(at.body()["replace_original"] == false);
  CHECK(at.body()["text"] == "Too late: &lt;!here&gt;");
  check_message(at.last().body);
  CHECK_FALSE(at.slack.tell("", "x").empty());
  at.answers("used_url", 404);
  CHECK(at.slack.tell("https://hooks.slack.example/1", "x") == "HTTP 404");
}

TEST_CASE("a clicked message can be replaced by what it should show") {
  Workspace at;
  CHECK(at.slack.replace("https://hooks.slack.example/1", at.questions, true) == "");
  CHECK(at.body()["replace_original"] == true);
  check_message(at.last().body);
}

TEST_CASE("a form is opened by the click's trigger") {
  Workspace at;
  at.answers(R"({"ok":true})");
  CHECK(at.slack.open_form("13.4", at.questions[0], {}) == "");
  CHECK(at.last().url == "https://slack.example/api/views.open");
  CHECK(at.body()["trigger_id"] == "13.4");
  check_view(at.body()["view"].dump());
  at.refuses("expired_trigger_id");
  CHECK(at.slack.open_form("13.4", at.questions[0], {}).find("3 s") != std::string::npos);
}

TEST_CASE("a test of the token says whose it is, or what is wrong with it") {
  Workspace at;
  at.answers(R"({"ok":true,"user":"holdpoint","team":"Example Inc","bot_id":"B1"})");
  CHECK(at.slack.auth_test().ok);
  CHECK(at.slack.auth_test().says == "@holdpoint in Example Inc");
  at.refuses("invalid_auth");
  CHECK_FALSE(at.slack.auth_test().ok);
  CHECK(at.slack.auth_test().says.find("[slack] bot_token") != std::string::npos);
}

TEST_CASE("an incoming webhook gets links, then a closing message") {
  FakeHttp http;
  SlackWebhookChannel channel(http, kSite);
  Delivery delivery;
  delivery.destination = "https://hooks.slack.example/services/T/B/x";
  delivery.event = "question_pending";
  delivery.tokens = {"tok"};
  const auto send = [&](const Question& q) {
    return channel.send({delivery, {q}, false, {}}, Time{}, [] { return false; });
  };
  CHECK(send(asked(options(2))).kind == Kind::delivered);
  CHECK(http.seen().back().url == delivery.destination);
  CHECK(check_message(http.seen().back().body).dump().find("token=tok") != std::string::npos);
  delivery.event = "question_settled";
  const Question done = settle(asked(options(2)), QuestionStatus::answered, "b");
  CHECK(send(done).kind == Kind::delivered);
  CHECK(check_message(http.seen().back().body)["text"] == settled_line(done));
}

TEST_CASE("a webhook that is no more is gone; others are tried again or refused") {
  FakeHttp http;
  SlackWebhookChannel channel(http, kSite);
  Delivery delivery;
  delivery.destination = "https://hooks.slack.example/services/T/B/x";
  const auto sent = [&](int status, const std::string& body, std::optional<Duration> after = {}) {
    http.respond = [=](const HttpRequest&) { return HttpResponse{status, "", body, after}; };
    const auto outcome =
        channel.send({delivery, {asked()}, false, {}}, Time{}, [] { return false; });
    CHECK(outcome.error.find("services/T/B") == std::string::npos);
    return outcome;
  };
  CHECK(sent(404, "no_service").kind == Kind::gone);
  CHECK(sent(410, "channel_is_archived").kind == Kind::gone);
  CHECK(sent(403, "invalid_token").kind == Kind::gone);
  CHECK(sent(404, "<html>").kind == Kind::failed);
  CHECK(sent(403, "action_prohibited").kind == Kind::failed);
  CHECK(sent(400, "invalid_blocks").kind == Kind::refused);
  CHECK(sent(500, "\xff").error == "HTTP 500");
  CHECK(sent(429, "", 9s).rest == Duration{9s});
  CHECK(sent(429, "").retry_after == Duration{5s});
}
