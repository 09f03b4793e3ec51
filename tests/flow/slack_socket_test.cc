#include "flow/slack_socket.h"

#include <doctest/doctest.h>

#include <atomic>

#include "domain/bad_request.h"
#include "store/database.h"
#include "tests/support/eventually.h"
#include "tests/support/websocket_server.h"
#include "tests/support/world.h"

using namespace holdpoint;
using namespace holdpoint::test;

namespace {

// Slack as far as Socket Mode goes; the test speaks on its sockets.
struct Slack {
  Slack() {
    http.respond = [this](const HttpRequest&) {
      return open.with([](auto& respond) { return respond(); });
    };
  }
  ~Slack() { socket.stop(); }

  HttpResponse answer_with(int status, const Json& body) {
    return {status, status ? "" : "no route", body.dump(), std::nullopt, {}};
  }

  std::shared_ptr<WebSocketPeer> greet() {
    auto peer = server.next();
    peer->send_text(R"({"type":"hello","num_connections":1})");
    return peer;
  }
  static std::string envelope(const std::string& id, const std::string& more = "") {
    return R"({"envelope_id":")" + id +
           R"(","type":"interactive","payload":{"type":"block_actions","n":")" + id + "\"}" + more +
           "}";
  }
  std::size_t opened() { return http.seen().size(); }
  // Also while the socket runs: it may ask for a URL at any moment.
  void open_with(std::function<HttpResponse()> respond) {
    open.with([&](auto& now) { now = std::move(respond); });
  }

  WebSocketServer server;
  FakeHttp http;
  Guarded<std::function<HttpResponse()>> open{[this] {
    return answer_with(200, {{"ok", true}, {"url", server.url("/link/?ticket=t")}});
  }};
  std::function<std::string(std::string_view)> reply = [](std::string_view) { return ""; };
  Guarded<std::vector<std::string>> taken;
  ManualClock clock;
  SlackSocket socket{http,
                     AddressGuard({"127.0.0.0/8"}),
                     [this](std::string_view payload, const std::string& address, Time) {
                       CHECK(address == "slack-socket");
                       taken.with([&](auto& all) { all.emplace_back(payload); });
                       return reply(payload);
                     },
                     clock,
                     {"https://slack.test/api", Secret("xapp-1"), 1ms, 5ms, 60s}};
};

}  // namespace

TEST_CASE("clicks come over the socket and are acknowledged once each") {
  Slack slack;
  slack.socket.start();
  const auto peer = slack.greet();
  const auto asked = slack.http.seen().at(0);
  CHECK(asked.url == "https://slack.test/api/apps.connections.open");
  CHECK(asked.headers.at("Authorization") == "Bearer xapp-1");
  CHECK(peer->head.starts_with("GET /link/?ticket=t HTTP/1.1"));
  peer->send_text(Slack::envelope("e-1"));
  peer->send_text(Slack::envelope("e-2"));
  CHECK(peer->receive_text() == R"({"envelope_id":"e-1"})");
  CHECK(peer->receive_text() == R"({"envelope_id":"e-2"})");
  CHECK(slack.taken.with([](auto& all) { return all; }) ==
        std::vector<std::string>{R"({"n":"e-1","type":"block_actions"})",
                                 R"({"n":"e-2","type":"block_actions"})"});
  slack.socket.stop();
  CHECK(peer->receive()->kind == WebSocketFrame::close);
}

TEST_CASE("an acknowledgement carries a payload only where Slack takes one") {
  Slack slack;
  slack.reply = [](std::string_view) { return R"({"response_action":"clear"})"; };
  slack.socket.start();
  const auto peer = slack.greet();
  peer->send_text(Slack::envelope("e-1", R"(,"accepts_response_payload":true)"));
  CHECK(peer->receive_text() == R"({"envelope_id":"e-1","payload":{"response_action":"clear"}})");
  peer->send_text(Slack::envelope("e-2", R"(,"accepts_response_payload":false)"));
  CHECK(peer->receive_text() == R"({"envelope_id":"e-2"})");
}

TEST_CASE("what is no click of ours is acknowledged, and what is nothing is passed over") {
  Slack slack;
  slack.reply = [](std::string_view) -> std::string { throw BadRequest("actions", "is odd"); };
  slack.socket.start();
  const auto peer = slack.greet();
  for (const char* nothing : {"", "{", "[]", "7", R"({"type":"later"})", R"({"type":7})"}) {
    peer->send_text(nothing);
  }
  peer->send_text(R"({"envelope_id":"e-1","type":"slash_commands","payload":{}})");
  CHECK(peer->receive_text() == R"({"envelope_id":"e-1"})");
  CHECK(slack.taken.with([](auto& all) { return all.empty(); }));
  peer->send_text(Slack::envelope("e-2"));
  CHECK(peer->receive_text() == R"({"envelope_id":"e-2"})");
}

TEST_CASE("a click that could not be kept is not acknowledged, so that Slack sends it again") {
  Slack slack;
  std::atomic<int> calls{0};
  slack.reply = [&](std::string_view) -> std::string {
    if (++calls == 1) throw StoreError("the disk is full", true);
    return "";
  };
  slack.socket.start();
  const auto peer = slack.greet();
  peer->send_text(Slack::envelope("e-1"));
  peer->send_text(Slack::envelope("e-1", R"(,"retry_attempt":1)"));
  CHECK(peer->receive_text() == R"({"envelope_id":"e-1"})");
  CHECK(calls == 2);
  CHECK_FALSE(peer->receive(0ms));
}

TEST_CASE("before Slack ends a connection there is another, and nothing on the old is lost") {
  Slack slack;
  slack.socket.start();
  const auto first = slack.greet();
  first->send_text(Slack::envelope("e-1"));
  CHECK(first->receive_text() == R"({"envelope_id":"e-1"})");
  slack.clock.advance(10ms);  // Ten first waits: it has lasted.
  first->send_text(R"({"type":"disconnect","reason":"refresh_requested"})");
  first->send_text(Slack::envelope("e-2"));
  const auto second = slack.greet();
  CHECK(first->receive_text() == R"({"envelope_id":"e-2"})");
  CHECK(first->receive()->kind == WebSocketFrame::close);
  second->send_text(Slack::envelope("e-3"));
  CHECK(second->receive_text() == R"({"envelope_id":"e-3"})");
  CHECK(slack.opened() == 2);
}

TEST_CASE("it is connected from Slack's greeting until the line is lost") {
  Slack slack;
  CHECK_FALSE(slack.socket.is_connected());
  slack.socket.start();
  const auto first = slack.server.next();
  CHECK_FALSE(slack.socket.is_connected());
  first->send_text(R"({"type":"hello","num_connections":1})");
  CHECK(eventually([&] { return slack.socket.is_connected(); }));
  slack.clock.advance(10ms);
  first->send_text(R"({"type":"disconnect","reason":"refresh_requested"})");
  const auto second = slack.server.next();
  CHECK(slack.socket.is_connected());  // Replaced is not lost.
  slack.open_with([&] { return slack.answer_with(0, {}); });
  first->hang_up();
  second->hang_up();
  CHECK(eventually([&] { return !slack.socket.is_connected(); }));
  CHECK(eventually([&] { return slack.opened() > 2; }));  // It asked for another.
}

TEST_CASE("a connection that is lost is opened again, by a new URL each time") {
  Slack slack;
  slack.socket.start();
  slack.greet()->hang_up();
  slack.greet()->send({WebSocketFrame::close, true, ""});
  slack.greet()->send_text(R"({"type":"disconnect","reason":"warning"})");  // At once.
  const auto peer = slack.greet();
  peer->send_text(Slack::envelope("e-1"));
  CHECK(peer->receive_text() == R"({"envelope_id":"e-1"})");
  CHECK(slack.opened() == 4);
}

TEST_CASE("a connection on which nothing is heard is asked, and then given up") {
  Slack slack;
  SlackSocket quick(slack.http, AddressGuard({"127.0.0.0/8"}),
                    [](std::string_view, const std::string&, Time) { return ""; }, slack.clock,
                    {"https://slack.test/api", Secret("xapp-1"), 1ms, 5ms, 40ms});
  quick.start();
  const auto silent = slack.server.next();
  const auto ping = silent->receive();
  REQUIRE(ping);
  CHECK(ping->kind == WebSocketFrame::ping);
  (void)slack.server.next();
  quick.stop();
}

TEST_CASE("while Slack gives no connection the waits grow, and a mistake waits for a person") {
  Slack slack;
  const auto wait_after = [&](HttpResponse response) {
    slack.open_with([response] { return response; });
    const auto next = slack.socket.run_once(slack.clock.now());
    REQUIRE(next);
    return *next - slack.clock.now();
  };
  CHECK(wait_after(slack.answer_with(0, {})) <= 2ms);
  for (int i = 0; i < 40; ++i) CHECK(wait_after(slack.answer_with(503, {})) <= 7ms);
  CHECK(wait_after(slack.answer_with(200, {{"ok", true}, {"url", "http://x"}})) <= 7ms);
  CHECK(wait_after({429, "", "", 17s, {}}) > 16s);
  CHECK(wait_after(slack.answer_with(200, {{"ok", false}, {"error", "invalid_auth"}})) > 100s);
  CHECK(wait_after(slack.answer_with(200, {{"ok", false}, {"error", "internal_error"}})) <= 7ms);
}

TEST_CASE("Socket Mode that is switched off is not tried every second") {
  Slack slack;
  std::optional<Time> next;
  std::thread serving([&] { next = slack.socket.run_once(slack.clock.now()); });
  slack.greet()->send_text(R"({"type":"disconnect","reason":"link_disabled"})");
  serving.join();
  REQUIRE(next);
  CHECK(*next - slack.clock.now() > 100s);
}

TEST_CASE("it stops at once, connected or not, before it was started too") {
  {
    Slack never;
    never.socket.stop();
  }
  Slack slack;
  slack.socket.start();
  const auto peer = slack.server.next();
  const auto start = std::chrono::steady_clock::now();
  slack.socket.stop();
  CHECK(std::chrono::steady_clock::now() - start < 10s);
  CHECK(peer->receive()->kind == WebSocketFrame::close);
}
