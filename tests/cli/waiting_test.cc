#include "cli/waiting.h"

#include <doctest/doctest.h>

#include <deque>

using namespace holdpoint;
using namespace holdpoint::cli;
using namespace std::chrono_literals;

namespace {

const Time kStart = *parse_iso("2026-11-18T08:00:00.000Z");
constexpr const char* kId = "019a8b3c-5d80-7c11-8b2c-3d4e5f607182";

std::string question(const char* status, int position = 0, const char* id = kId) {
  return R"({"id":")" + std::string(id) + R"(","session_id":"s","ask":1,"position":)" +
         std::to_string(position) + R"(,"status":")" + status +
         R"(","expires_at":"2026-11-18T09:00:00.000Z","channels":[],"answer":"yes"})";
}

std::string asked(const std::string& questions) {
  return R"({"ok":true,"questions":[)" + questions + "]}";
}

// Says what it was told to say, in order, and keeps what it was asked.
class ScriptedServer final : public Server {
 public:
  using Server::get;
  Reply get(const std::string& path, Duration) override { return next("GET " + path); }
  Reply post(const std::string& path, const std::string& body) override {
    return next("POST " + path + " " + body);
  }
  void reply(int status, const std::string& text, std::optional<Duration> retry_after = {}) {
    script_.push_back([=] {
      try {
        return check_reply(status, text, "http://server");
      } catch (CallFailed& failed) {
        failed.retry_after = retry_after;
        throw;
      }
    });
  }
  void go_away(int times = 1) {
    for (; times > 0; --times) {
      script_.push_back([]() -> Reply {
        CallFailed failed("cannot reach it");
        failed.unreachable = true;
        throw failed;
      });
    }
  }
  std::vector<std::string> calls;

 private:
  Reply next(std::string call) {
    calls.push_back(std::move(call));
    REQUIRE(!script_.empty());
    const auto say = script_.front();
    script_.pop_front();
    return say();
  }
  std::deque<std::function<Reply()>> script_;
};

Waiting::Start ask_it() {
  Waiting::Start start;
  start.body = R"({"idempotency_key":"k"})";
  return start;
}

Waiting::Start wait_for_it() {
  Waiting::Start start;
  start.id = kId;
  return start;
}

// Runs it until it has ended, at the times that it names; the last of them.
Time run(Waiting& waiting, Time now = kStart) {
  while (true) {
    const auto next = waiting.run_once(now);
    if (!next) return now;
    REQUIRE(*next >= now);
    now = *next;
  }
}

std::string refusal(const char* code, const char* message, const char* field) {
  return R"({"ok":false,"error":{"code":")" + std::string(code) + R"(","message":")" + message +
         R"(","field":")" + field + R"("}})";
}

}  // namespace

TEST_CASE("an ask that fails is made again, the same to the letter, until the server has it") {
  ScriptedServer server;
  server.go_away(3);
  server.reply(503, refusal("unavailable", "the store is away", ""));
  server.reply(202, asked(question("pending")));
  server.reply(200, question("answered"));
  int changes = 0;
  Waiting waiting(server, ask_it(), [&] { ++changes; });
  run(waiting);
  const auto seen = waiting.seen();
  REQUIRE(seen.end);
  CHECK(seen.end->code == exits::kAnswered);
  CHECK(seen.outages == 1);
  CHECK(seen.texts.front() == question("answered"));
  REQUIRE(server.calls.size() == 6);
  for (int i = 1; i < 5; ++i) CHECK(server.calls[static_cast<std::size_t>(i)] == server.calls[0]);
  CHECK(server.calls.back() == "GET /agent/questions/" + std::string(kId) + "?wait=55");
  CHECK(changes == 6);
}

TEST_CASE(
    "a server that was never reached is given up, one that was is not before the deadline is well "
    "past") {
  ScriptedServer never;
  never.go_away(100);
  Waiting first(never, ask_it(), [] {});
  CHECK(run(first) == kStart + 60s);
  CHECK(first.seen().end->code == exits::kFailed);

  ScriptedServer gone;
  gone.reply(202, asked(question("pending")));
  gone.go_away(2000);
  Waiting second(gone, ask_it(), [] {});
  CHECK(run(second) == kStart + 60min + 10min);
  CHECK(second.seen().end->code == exits::kFailed);
  CHECK(second.seen().questions.size() == 1);
}

TEST_CASE("Retry-After is obeyed, and pauses grow but never beyond some seconds") {
  ScriptedServer server;
  server.reply(429, refusal("too_many", "slower", ""), 30s);
  server.go_away(8);
  Waiting waiting(server, ask_it(), [] {});
  Time now = kStart;
  auto next = waiting.run_once(now);
  CHECK(*next == now + 30s);
  for (int i = 0; i < 8; ++i) {
    now = *next;
    next = waiting.run_once(now);
    REQUIRE(next);
    CHECK(*next > now);
    CHECK(*next <= now + 5s);
  }
}

TEST_CASE("after an outage it looks at once whether it is settled, and only then waits again") {
  ScriptedServer server;
  server.reply(202, asked(question("pending")));
  server.go_away();
  server.reply(200, question("pending"));
  server.reply(200, question("answered"));
  Waiting waiting(server, ask_it(), [] {});
  run(waiting);
  CHECK(server.calls[2].ends_with("?wait=0"));
  CHECK(server.calls[3].ends_with("?wait=55"));
}

TEST_CASE("a server that says at once that nothing has changed is asked again a second later") {
  ScriptedServer server;
  server.reply(202, asked(question("pending")));
  server.reply(200, question("pending"));
  Waiting waiting(server, ask_it(), [] {});
  CHECK(waiting.run_once(kStart) == kStart);
  CHECK(waiting.run_once(kStart) == kStart + 1s);
}

TEST_CASE("what is refused ends it, by the name of the option") {
  const auto end_of = [](int status, const std::string& text) {
    ScriptedServer server;
    server.reply(status, text);
    Waiting waiting(server, ask_it(), [] {});
    run(waiting);
    return *waiting.seen().end;
  };
  const auto wrong =
      end_of(422, refusal("invalid", "questions[0].options: too few", "questions[0].options"));
  CHECK(wrong.code == exits::kRefused);
  CHECK(wrong.complaint == "--option: too few");
  CHECK(end_of(404, refusal("unknown_agent", "no such agent", "agent")).code == exits::kRefused);
  CHECK(end_of(413, refusal("too_large", "too large", "")).code == exits::kRefused);
  CHECK(end_of(401, refusal("unauthenticated", "who?", "")).code == exits::kFailed);
  CHECK(end_of(403, refusal("forbidden", "no", "")).code == exits::kFailed);
  CHECK(end_of(404, refusal("unknown_path", "no such path", "")).code == exits::kFailed);
  // Not ours, however it looks.
  for (const char* text :
       {"<html>", "[]", "{}", R"({"error":"no"})", R"({"questions":[]})", R"({"questions":[{}]})",
        R"({"questions":[{"id":5,"status":"pending"}]})"}) {
    CAPTURE(text);
    CHECK(end_of(202, text).code == exits::kFailed);
    CHECK(end_of(404, text).code == exits::kFailed);
  }
}

TEST_CASE("whatever a proxy says while the server behind it is away ends nothing") {
  ScriptedServer server;
  server.reply(202, asked(question("pending")));
  server.reply(404, "<html>");
  server.reply(200, "<html>");
  server.reply(302, "");
  server.reply(200, question("answered"));
  Waiting waiting(server, ask_it(), [] {});
  run(waiting);
  CHECK(waiting.seen().end->code == exits::kAnswered);
}

TEST_CASE("a key that is taken away ends the wait, and the question is still known") {
  ScriptedServer server;
  server.reply(202, asked(question("pending")));
  server.reply(401, refusal("unauthenticated", "who?", ""));
  Waiting waiting(server, ask_it(), [] {});
  run(waiting);
  CHECK(waiting.seen().end->code == exits::kFailed);
  CHECK(waiting.seen().questions.size() == 1);
}

TEST_CASE("an id may be the session's: its last ask is waited for, each question in turn") {
  ScriptedServer server;
  server.reply(404, refusal("unknown_question", "there is no such question", ""));
  const std::string other = "019a8b3c-5d80-7c11-8b2c-3d4e5f607183";
  server.reply(200, asked(question("pending", 1, other.c_str()) + "," + question("answered", 0)));
  server.reply(200, question("timed_out", 1, other.c_str()));
  Waiting waiting(server, wait_for_it(), [] {});
  run(waiting);
  CHECK(server.calls[2] == "GET /agent/questions/" + other + "?wait=55");
  CHECK(waiting.seen().end->code == exits::kTimedOut);
  CHECK(waiting.seen().questions[0].at("position") == 0);

  ScriptedServer nobody;
  nobody.reply(404, refusal("unknown_question", "there is no such question", ""));
  nobody.reply(200, asked(""));
  Waiting lost(nobody, wait_for_it(), [] {});
  run(lost);
  CHECK(lost.seen().end->code == exits::kRefused);
}

TEST_CASE("how a question ended decides the exit code") {
  for (const auto& [status, code] :
       {std::pair{"answered", 0}, {"defaulted", 0}, {"timed_out", 2}, {"cancelled", 3}}) {
    ScriptedServer server;
    server.reply(200, question(status));
    Waiting waiting(server, wait_for_it(), [] {});
    run(waiting);
    CHECK(waiting.seen().end->code == code);
  }
}

TEST_CASE("who detaches does not wait") {
  ScriptedServer server;
  server.reply(202, asked(question("pending")));
  Waiting::Start start = ask_it();
  start.detach = true;
  Waiting waiting(server, start, [] {});
  CHECK(!waiting.run_once(kStart));
  CHECK(waiting.seen().end->code == exits::kAnswered);
}
