#include "agents/llm/model.h"

#include <doctest/doctest.h>

#include "agents/llm/model_retry.h"
#include "domain/bad_request.h"

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

Models::Service service(const std::string& name, bool lacks_key = false) {
  Models::Service s;
  s.name = name;
  s.provider = name == "anthropic" ? &anthropic_messages() : &chat_completions();
  s.base_url = "https://" + name + ".example/base";
  s.headers = {{"Authorization", Secret("Bearer sk-secret-key")}, {"X-Team", Secret("docs")}};
  s.lacks_key = lacks_key;
  s.timeout = 42s;
  s.max_attempts = 3;
  s.max_tokens = 777;
  return s;
}

const char* const kReply =
    R"({"content":[{"type":"text","text":"Hi"}],"stop_reason":"end_turn","usage":{"output_tokens":2}})";

struct Asking {
  Asking() {
    context.max_reply_bytes = 1234;
    context.cancelled = [this] { return cancelled; };
    http.response = {200, "", kReply, std::nullopt};
  }
  ModelReply ask() {
    const Model model = Models({service("anthropic")}).find("anthropic/claude");
    ModelRequest request;
    request.model = model.name;
    request.max_tokens = model.max_tokens;
    return ask_model(http, model, request, context);
  }
  TurnFailed failure(HttpResponse response) {
    http.response = std::move(response);
    try {
      ask();
    } catch (const TurnFailed& e) {
      return e;
    }
    return TurnFailed("there was a reply", false);
  }
  static HttpResponse answer(int status, std::string body = "",
                             std::map<std::string, std::string> headers = {}) {
    return {status, "", std::move(body), std::nullopt, std::move(headers)};
  }

  ScriptedHttp http;
  TurnContext context;
  bool cancelled = false;
};

TEST_CASE("a model is posted to, with its service's headers and bounds") {
  Asking a;
  const ModelReply reply = a.ask();
  CHECK(reply.text == "Hi");
  CHECK(reply.usage.output_tokens == 2);
  CHECK(a.http.sent.method == "POST");
  CHECK(a.http.sent.url == "https://anthropic.example/base/v1/messages");
  CHECK(a.http.sent.headers.at("Authorization") == "Bearer sk-secret-key");
  CHECK(a.http.sent.headers.at("X-Team") == "docs");
  CHECK(a.http.sent.headers.at("Content-Type") == "application/json");
  CHECK(a.http.sent.body == R"({"model":"claude","max_tokens":777,"messages":[]})");
  CHECK(a.http.sent.total_timeout == 42s);
  CHECK(a.http.sent.max_response_bytes == 1234);
  REQUIRE(a.http.sent.cancelled);
  a.cancelled = true;
  CHECK(a.http.sent.cancelled());
  CHECK(a.failure(Asking::answer(400)).retryable());  // Stopped: whoever takes it asks again.
}

TEST_CASE("what may pass is tried again, as often as the service says") {
  for (const int status : {408, 409, 429, 500, 502, 503, 529}) {
    CAPTURE(status);
    const TurnFailed e = Asking().failure(Asking::answer(status));
    REQUIRE(e.again());
    CHECK(e.again()->max_attempts == 3);
    CHECK(e.again()->wait <= 500ms);
    CHECK(e.again()->wait >= 375ms);
  }
  const TurnFailed nobody = Asking().failure({0, "connection refused", "", std::nullopt});
  CHECK(nobody.again());
  CHECK(std::string(nobody.what()) ==
        "anthropic/claude at https://anthropic.example/base/v1/messages could not be reached: "
        "connection refused");
  const TurnFailed nonsense = Asking().failure(Asking::answer(200, "{}"));
  CHECK(nonsense.again());
  CHECK(std::string(nonsense.what()) ==
        "anthropic/claude at https://anthropic.example/base/v1/messages sent what is no reply: the "
        "body has no content");
  for (const int status : {301, 400, 401, 403, 404, 422}) {
    CAPTURE(status);
    CHECK_FALSE(Asking().failure(Asking::answer(status)).retryable());
  }
}

TEST_CASE("the other side has the last word on whether to try again") {
  CHECK(Asking().failure(Asking::answer(400, "", {{"x-should-retry", "true"}})).again());
  CHECK_FALSE(Asking().failure(Asking::answer(500, "", {{"x-should-retry", "false"}})).retryable());
}

TEST_CASE("failures say what can be done about them") {
  const auto said = [](HttpResponse response) {
    return std::string(Asking().failure(std::move(response)).what());
  };
  const std::string at = "anthropic/claude at https://anthropic.example/base/v1/messages ";
  CHECK(said(Asking::answer(401, R"({"error":{"type":"authentication_error","message":"no"}})")) ==
        at + "answered with HTTP 401: authentication_error: no; [llm.anthropic] key holds the key, "
             "and auth says how it is sent");
  CHECK(said(Asking::answer(404)).find("[llm.anthropic] base_url and models") != std::string::npos);
  CHECK(said(Asking::answer(302)).find("redirects are not followed") != std::string::npos);
  CHECK(said({200, "the response has more than 1234 bytes", "{", std::nullopt})
            .find("[limits] max_reply_bytes") != std::string::npos);
  CHECK(said({0, "the address is private; [outgoing] allow_private does not list it", "",
              std::nullopt})
            .find("[outgoing] allow_private") != std::string::npos);
  const std::string full = R"({"error":{"message":"prompt is too long: 2 > 1"}})";
  CHECK(said(Asking::answer(400, full)).starts_with("the conversation is too long for the model"));
  CHECK_FALSE(
      Asking().failure(Asking::answer(413, full, {{"x-should-retry", "true"}})).retryable());
}

TEST_CASE("a key that a service repeats is not passed on, nor a part of it") {
  for (std::size_t before : {0, 380, 390, 395}) {
    const std::string body =
        R"({"error":{"message":")" + std::string(before, 'a') + R"( sk-secret-key is wrong"}})";
    const std::string what = Asking().failure(Asking::answer(401, body)).what();
    CAPTURE(what);
    CHECK(what.find("sk-s") == std::string::npos);
    CHECK(what.size() < 700);
  }
}

TEST_CASE("without a word from the other side, waits double from half a second to eight") {
  const HttpResponse none;
  CHECK(model_backoff(none, 1, 0) == 500ms);
  CHECK(model_backoff(none, 2, 0) == 1s);
  CHECK(model_backoff(none, 5, 0) == 8s);
  CHECK(model_backoff(none, 6, 0) == 8s);
  CHECK(model_backoff(none, 1'000'000, 0) == 8s);
  CHECK(model_backoff(none, 0, 0) == 500ms);
  CHECK(model_backoff(none, 5, 0.999) > 6s);
  CHECK(model_backoff(none, 5, 0.999) < 6100ms);
}

TEST_CASE("how long to wait is the other side's to say, within five minutes") {
  HttpResponse response = Asking::answer(429);
  response.retry_after = 7s;
  CHECK(model_backoff(response, 1, 0.5) == 7s);
  response.headers["retry-after-ms"] = "1500";
  CHECK(model_backoff(response, 1, 0.5) == 1500ms);
  response.headers["retry-after-ms"] = "99.7";
  CHECK(model_backoff(response, 1, 0.5) == 99ms);
  response.headers["retry-after-ms"] = "99999999999";
  CHECK(model_backoff(response, 1, 0.5) == 5min);
  for (const std::string odd : {"soon", "-5", "", "0", "99999999999999999999999"}) {
    CAPTURE(odd);
    response.headers["retry-after-ms"] = odd;
    CHECK(model_backoff(response, 1, 0.5) == 7s);
  }
  response.headers.clear();
  response.retry_after = 24h;
  CHECK(model_backoff(response, 1, 0.5) == 5min);
  response.retry_after = 0s;
  CHECK(model_backoff(response, 1, 0) == 500ms);
}

TEST_CASE("a request's later attempts wait longer") {
  Asking a;
  a.context.attempt = 4;
  CHECK(a.failure(Asking::answer(503)).again()->wait >= 3s);
}

std::string not_found(const Models& models, const std::string& name) {
  try {
    models.find(name);
  } catch (const BadRequest& e) {
    return e.what();
  }
  return "found";
}

TEST_CASE("a model is found by alias, by service and alias, or by service and name") {
  auto anthropic = service("anthropic");
  anthropic.aliases = {{"sonnet", "claude-sonnet"}};
  anthropic.prices = {{"sonnet", {3, 15, 0.3}}, {"claude-other", {1, 2, 1}}};
  const Models models({anthropic, service("router")});
  for (const std::string name : {"sonnet", "anthropic/sonnet", "anthropic/claude-sonnet"}) {
    CAPTURE(name);
    const Model model = models.find(name);
    CHECK(model.name == "claude-sonnet");
    CHECK(model.label == (name == "sonnet" ? "anthropic/sonnet" : name));
    REQUIRE(model.price);
    CHECK(model.price->output == 15);
    CHECK(model.max_tokens == 777);
    CHECK(model.timeout == 42s);
  }
  CHECK(models.find("anthropic/claude-other").price->input == 1);
  CHECK_FALSE(models.find("anthropic/claude-new").price);
  const Model routed = models.find("router/maker/model:free");
  CHECK(routed.name == "maker/model:free");
  CHECK(routed.url == "https://router.example/base/chat/completions");
}

TEST_CASE("a model that is not there is refused with what is") {
  auto anthropic = service("anthropic");
  anthropic.aliases = {{"sonnet", "claude-sonnet"}};
  const Models models({anthropic, service("router")});
  for (const std::string name : {"", "opus", "/", "nobody/opus", "anthropic/", "router"}) {
    CAPTURE(name);
    CHECK(not_found(models, name) ==
          "\"" + name +
              "\" is none: there are: anthropic/sonnet; or say <service>/<its name there>, with "
              "one of the services anthropic, router");
  }
  CHECK(not_found(Models({}), "opus") == "\"opus\" is none: the settings have no [llm.*]");
}

TEST_CASE("a service without its key says which setting is missing") {
  auto off = service("anthropic", true);
  off.aliases = {{"sonnet", "claude-sonnet"}};
  const std::string missing =
      "needs [llm.anthropic] key, e.g. \"env:NAME\"; or auth = \"none\" if it takes none";
  CHECK(not_found(Models({off}), "sonnet") == missing);
  CHECK(not_found(Models({off}), "anthropic/any") == missing);
}

TEST_CASE("an alias of two services is used with the service's name, unless one is off") {
  auto first = service("first"), second = service("second");
  first.aliases = second.aliases = {{"sonnet", "claude"}};
  CHECK(not_found(Models({first, second}), "sonnet") ==
        "\"sonnet\" is in [llm.first] and in [llm.second]: say first/sonnet or second/sonnet");
  CHECK(Models({first, second}).find("second/sonnet").label == "second/sonnet");
  first.lacks_key = true;
  CHECK(Models({first, second}).find("sonnet").label == "second/sonnet");
}

TEST_CASE("what a request costs, with what came from a cache at its own price") {
  Model model;
  const ModelUsage usage{1000, 100, 400};
  CHECK(cost_micros(model, usage) == std::nullopt);
  model.price = ModelPrice{3, 15, 0.3};
  CHECK(cost_micros(model, usage) == 600 * 3 + 120 + 100 * 15);
  model.price = ModelPrice{0.15, 0.6, 0.15};
  CHECK(cost_micros(model, {10, 1, 0}) == 2);  // 2.1
  model.price = ModelPrice{0, 0, 0};
  CHECK(cost_micros(model, usage) == 0);
}

}  // namespace
}  // namespace holdpoint
