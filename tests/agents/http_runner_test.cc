#include "agents/http_runner.h"

#include <doctest/doctest.h>

namespace holdpoint {
namespace {

using namespace std::chrono_literals;

class ScriptedHttp final : public HttpClient {
 public:
  HttpResponse send(const HttpRequest& request) override {
    sent = request;
    return response;
  }
  HttpRequest sent;
  HttpResponse response;
};

struct Turn {
  Turn() {
    agent.name = "poet";
    agent.runner = RunnerKind::http;
    agent.url = "http://agent.example/turn";
    request.session_id = SessionId("s-1");
    request.agent_name = "poet";
    request.payload = "{}";
    context.timeout = 42s;
    context.max_reply_bytes = 1234;
    context.cancelled = [this] { return cancelled; };
  }
  std::string run() { return HttpRunner(http).run(agent, request, context); }
  // `again: …` or `never: …` with the reason of the failure.
  std::string failure(HttpResponse response) {
    http.response = std::move(response);
    try {
      return "no failure: " + run();
    } catch (const TurnFailed& e) {
      return std::string(e.retryable() ? "again: " : "never: ") + e.what();
    }
  }

  ScriptedHttp http;
  AgentDefinition agent;
  TurnRequest request;
  TurnContext context;
  bool cancelled = false;
};

TEST_CASE("a turn is posted to the agent, and the response is its reply") {
  Turn turn;
  turn.http.response = {200, "", R"({"result":1})", std::nullopt};
  CHECK(turn.run() == R"({"result":1})");
  CHECK(turn.http.sent.method == "POST");
  CHECK(turn.http.sent.url == "http://agent.example/turn");
  CHECK(turn.http.sent.body == turn_request_json(turn.request));
  CHECK(turn.http.sent.headers.at("Content-Type") == "application/json");
  CHECK(turn.http.sent.headers.at("X-Agent-Session") == "s-1");
  CHECK(turn.http.sent.total_timeout == 42s);
  CHECK(turn.http.sent.max_response_bytes == 1234);
  REQUIRE(turn.http.sent.cancelled);
  turn.cancelled = true;
  CHECK(turn.http.sent.cancelled());
}

TEST_CASE("an agent that cannot be reached is tried again") {
  CHECK(Turn().failure({0, "connection refused", "", std::nullopt}) ==
        "again: the agent at http://agent.example/turn could not be reached: connection refused");
}

TEST_CASE("a reply that is too large is a failure, though its status was good") {
  CHECK(Turn()
            .failure({200, "the response has more than 1234 bytes", "{", std::nullopt})
            .find("more than 1234 bytes") != std::string::npos);
}

TEST_CASE("an agent's trouble may pass, its refusal stays") {
  for (const int status : {408, 425, 429, 500, 502, 503, 504}) {
    CHECK(Turn().failure({status, "", "why", std::nullopt}) ==
          "again: the agent answered with HTTP " + std::to_string(status) + ": why");
  }
  for (const int status : {301, 400, 401, 403, 404, 410, 422}) {
    CHECK(Turn().failure({status, "", "why", std::nullopt}) ==
          "never: the agent answered with HTTP " + std::to_string(status) + ": why");
  }
}

TEST_CASE("a turn that was cancelled says so, whatever came back") {
  Turn turn;
  turn.cancelled = true;
  CHECK(turn.failure({0, "aborted", "", std::nullopt}) == "again: the turn was stopped");
  CHECK(turn.failure({200, "", "{}", std::nullopt}) == "again: the turn was stopped");
}

}  // namespace
}  // namespace holdpoint
