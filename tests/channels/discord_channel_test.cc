#include "channels/discord_channel.h"

#include <doctest/doctest.h>

#include "tests/channels/discord_sample.h"
#include "tests/support/world.h"

namespace holdpoint {
namespace {

using namespace std::chrono_literals;
using test::discord_question;
using Kind = SendOutcome::Kind;

struct Fixture {
  test::FakeHttp http;
  DiscordChannel channel{
      http, {"https://discord.test/api/v10", Secret("sesame"), "https://hold.example.org"}};
  Delivery delivery = [] {
    Delivery d;
    d.id = DeliveryId("0193e1f0-1234-7000-8000-00000000abcd");
    d.channel = "discord";
    d.destination = "1234567890";
    return d;
  }();
  std::vector<Question> questions{
      discord_question({{"Yes", "", "", false}, {"No", "", "", false}})};

  SendOutcome send(std::optional<std::string> ref = std::nullopt) {
    return channel.send({delivery, questions, true, std::move(ref)}, Time{}, {});
  }
  SendOutcome send_when(int status, const std::string& body,
                        std::map<std::string, std::string> headers = {},
                        std::optional<std::string> ref = std::nullopt) {
    http.respond = [=](const HttpRequest&) {
      return HttpResponse{status, "", body, std::nullopt, headers};
    };
    return send(std::move(ref));
  }
};

bool says(const SendOutcome& outcome, const std::string& what) {
  return outcome.error.find(what) != std::string::npos;
}

TEST_CASE("a new message is posted by the bot, and its name kept") {
  Fixture f;
  const auto outcome = f.send_when(200, R"({"id":"987","channel_id":"1234567890"})");
  CHECK(outcome.kind == Kind::delivered);
  CHECK(outcome.message_ref == "1234567890 987");
  CHECK(outcome.error == "");
  CHECK_FALSE(outcome.rest);
  const auto sent = f.http.seen().at(0);
  CHECK(sent.method == "POST");
  CHECK(sent.url == "https://discord.test/api/v10/channels/1234567890/messages");
  CHECK(sent.headers.at("Authorization") == "Bot sesame");
  CHECK(sent.headers.at("User-Agent").starts_with("DiscordBot ("));
  const Json body = Json::parse(sent.body);
  CHECK(body["enforce_nonce"] == true);
  CHECK(body["nonce"] == discord_nonce(f.delivery.id.text()));
  CHECK(test::labels_of(body).back() == "Cancel");
}

TEST_CASE("a message that is there is edited, where it is") {
  Fixture f;
  f.questions[0].status = QuestionStatus::timed_out;
  const auto outcome = f.send_when(200, R"({"id":"987"})", {}, "555 987");
  CHECK(outcome.kind == Kind::delivered);
  CHECK_FALSE(outcome.message_ref);
  const auto sent = f.http.seen().at(0);
  CHECK(sent.method == "PATCH");
  CHECK(sent.url == "https://discord.test/api/v10/channels/555/messages/987");
  CHECK(sent.body == discord_message(f.questions, {"https://hold.example.org", true}));
}

TEST_CASE("nothing is sent to what is no channel or no message of Discord") {
  Fixture f;
  f.delivery.destination = "#general";
  auto outcome = f.send();
  CHECK(outcome.kind == Kind::refused);
  CHECK(says(outcome, "\"#general\" is no channel id"));
  for (const char* ref : {"", "1", "1 ", "1 x", "1 2/../3", "1/2 3"}) {
    CAPTURE(ref);
    CHECK(f.send(ref).kind == Kind::refused);
  }
  f.delivery.destination = "1";
  f.questions.clear();
  CHECK(f.send().kind == Kind::refused);
  CHECK(f.http.seen().empty());
}

TEST_CASE("a rate limit says how long to wait, and whether that is for everything") {
  Fixture f;
  auto outcome = f.send_when(429, R"({"message":"slow","retry_after":1.2345,"global":false})",
                             {{"x-ratelimit-scope", "shared"}});
  CHECK(outcome.kind == Kind::failed);
  CHECK(outcome.http_status == 429);
  CHECK(outcome.retry_after == 1235ms);
  CHECK(outcome.rest == 1235ms);
  CHECK_FALSE(outcome.rest_all);
  outcome = f.send_when(429, R"({"retry_after":65,"global":true})");
  CHECK(outcome.rest == 65s);
  CHECK(outcome.rest_all);
  CHECK(f.send_when(429, R"({"retry_after":1})", {{"x-ratelimit-global", "true"}}).rest_all);
  CHECK(f.send_when(429, R"({"retry_after":1})", {{"x-ratelimit-scope", "global"}}).rest_all);
  outcome = f.send_when(429, "<html>", {{"retry-after", "30"}});
  CHECK(outcome.retry_after == 30s);
  CHECK(outcome.rest_all);
  CHECK(f.send_when(429, R"({"retry_after":"soon"})").rest == 5s);
  CHECK(f.send_when(429, R"({"retry_after":1e300})").rest == 24h);
  CHECK(f.send_when(429, R"({"retry_after":-1})").rest == 5s);
}

TEST_CASE("the last call that a limit allows is followed by a rest") {
  Fixture f;
  auto outcome = f.send_when(200, R"({"id":"1"})",
                             {{"x-ratelimit-remaining", "0"}, {"x-ratelimit-reset-after", "0.75"}});
  CHECK(outcome.kind == Kind::delivered);
  CHECK(outcome.rest == 750ms);
  CHECK_FALSE(outcome.rest_all);
  outcome = f.send_when(200, R"({"id":"1"})",
                        {{"x-ratelimit-remaining", "4"}, {"x-ratelimit-reset-after", "0.75"}});
  CHECK_FALSE(outcome.rest);
}

TEST_CASE("what an operator can mend is tried again, and the error says how to mend it") {
  Fixture f;
  const struct {
    int status;
    const char* body;
    const char* fix;
  } cases[] = {
      {401, R"({"message":"401: Unauthorized","code":0})", "[discord] bot_token"},
      {403, R"({"message":"Missing Access","code":50001})", "View Channel"},
      {403, R"({"message":"Missing Permissions","code":50013})", "Send Messages"},
      {404, R"({"message":"Unknown Channel","code":10003})", "channel's id"},
      {502, "<html>bad gateway", "HTTP 502"},
      {403, R"({"message":"Cannot send messages to this user","code":50007})", "to this user"},
  };
  for (const auto& expected : cases) {
    CAPTURE(expected.body);
    const auto outcome = f.send_when(expected.status, expected.body);
    CHECK(outcome.kind == Kind::failed);
    CHECK(outcome.http_status == expected.status);
    CHECK(says(outcome, expected.fix));
    CHECK_FALSE(says(outcome, "sesame"));
  }
  f.http.respond = [](const HttpRequest&) { return HttpResponse{0, "no route", "", {}, {}}; };
  CHECK(f.send().kind == Kind::failed);
  CHECK(f.send().error == "no route");
}

TEST_CASE("what can never work is not tried again") {
  Fixture f;
  auto outcome = f.send_when(
      400, R"({"message":"Invalid Form Body","code":50035,"errors":{"flags":{"_errors":[]}}})");
  CHECK(outcome.kind == Kind::refused);
  CHECK(says(outcome, "Invalid Form Body {\"flags\""));
  outcome = f.send_when(404, R"({"message":"Unknown Message","code":10008})", {}, "5 6");
  CHECK(outcome.kind == Kind::refused);
  CHECK(says(outcome, "deleted"));
}

TEST_CASE("an answer that cannot be read is no reason to post again") {
  Fixture f;
  for (const char* body : {"", "[]", "{", R"({"id":7})", R"({"id":"../x"})"}) {
    CAPTURE(body);
    const auto outcome = f.send_when(200, body);
    CHECK(outcome.kind == Kind::delivered);
    CHECK_FALSE(outcome.message_ref);
  }
}

TEST_CASE("a check names the bot, or what is wrong") {
  Fixture f;
  const auto check_when = [&](int status, const std::string& body) {
    f.http.respond = [=](const HttpRequest&) {
      return HttpResponse{status, status ? "" : "no route", body, std::nullopt, {}};
    };
    return f.channel.check();
  };
  CHECK(check_when(200, R"({"id":"1","username":"holdpoint","bot":true})").bot_name == "holdpoint");
  CHECK(f.http.seen().at(0).method == "GET");
  CHECK(f.http.seen().at(0).url == "https://discord.test/api/v10/users/@me");
  CHECK(check_when(401, "{}").error.find("[discord] bot_token") != std::string::npos);
  CHECK(check_when(0, "").error.find("cannot be reached: no route") != std::string::npos);
  CHECK(check_when(200, "hello").error.find("[discord] api_url") != std::string::npos);
  CHECK(check_when(503, "").error == "Discord answered HTTP 503");
}

}  // namespace
}  // namespace holdpoint
