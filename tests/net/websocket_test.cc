#include "net/websocket.h"

#include <doctest/doctest.h>

#include <atomic>

#include "tests/net/tiny_server.h"
#include "tests/support/websocket_server.h"

namespace holdpoint {
namespace {

using namespace std::chrono_literals;
using Frame = WebSocketFrame;
using Kind = WebSocket::Message::Kind;
using test::WebSocketServer;

const AddressGuard kLocal{{"127.0.0.0/8"}};

struct Connected {
  explicit Connected(const std::string& path = "/") {
    REQUIRE(socket.connect(server.url(path), 20s) == "");
    peer = server.next();
  }
  WebSocketServer server;
  std::atomic<bool> cancelled{false};
  WebSocket socket{kLocal, [this] { return cancelled.load(); }};
  std::shared_ptr<test::WebSocketPeer> peer;
};

std::string connect_to(const std::string& url, const AddressGuard& guard = kLocal) {
  return WebSocket(guard, [] { return false; }).connect(url, 20s);
}

TEST_CASE("texts go both ways") {
  Connected c("/link/?ticket=1&app_id=2");
  CHECK(c.peer->head.starts_with("GET /link/?ticket=1&app_id=2 HTTP/1.1\r\nHost: 127.0.0.1:"));
  c.peer->send_text("hello");
  c.peer->send_text("");
  c.peer->send_text(std::string(100'000, 'x'));
  CHECK(c.socket.read(20s).text == "hello");
  CHECK(c.socket.read(20s).kind == Kind::text);
  CHECK(c.socket.read(20s).text == std::string(100'000, 'x'));
  CHECK(c.socket.send("back"));
  CHECK(c.peer->receive_text() == "back");
  CHECK(c.socket.send(std::string(70'000, 'y')));
  CHECK(c.peer->receive_text() == std::string(70'000, 'y'));
}

TEST_CASE("a text in parts is one text, with pings answered in between") {
  Connected c;
  c.peer->send({Frame::text, false, "a"});
  c.peer->send({Frame::ping, true, "now?"});
  c.peer->send({Frame::more, false, "b"});
  c.peer->send({Frame::more, true, "c"});
  CHECK(c.socket.read(20s).text == "abc");
  const auto pong = c.peer->receive();
  REQUIRE(pong);
  CHECK(pong->kind == Frame::pong);
  CHECK(pong->payload == "now?");
}

TEST_CASE("what is binary, and pongs, are passed over") {
  Connected c;
  c.peer->send({Frame::binary, true, "\x01"});
  c.peer->send({Frame::pong, true, ""});
  c.peer->send_text("x");
  CHECK(c.socket.read(20s).text == "x");
}

TEST_CASE("a silence is a timeout, and the connection stays") {
  Connected c;
  CHECK(c.socket.read(1ms).kind == Kind::timeout);
  CHECK(c.socket.read(0ms).kind == Kind::timeout);
  c.peer->send_text("still here");
  CHECK(test::eventually([&] { return c.socket.read(0ms).text == "still here"; }));
  CHECK(c.socket.silence() < 10s);
  CHECK(c.socket.ping());
  CHECK(c.peer->receive()->kind == Frame::ping);
}

TEST_CASE("a goodbye is answered, and the connection over") {
  Connected c;
  c.peer->send_text("last");
  c.peer->send({Frame::close, true, "\x03\xe8"});
  CHECK(c.socket.read(20s).text == "last");
  const auto message = c.socket.read(20s);
  CHECK(message.kind == Kind::closed);
  CHECK(message.text == "the other side closed it");
  CHECK(c.peer->receive()->kind == Frame::close);
  CHECK_FALSE(c.socket.send("x"));
  CHECK(c.socket.read(20s).kind == Kind::closed);
}

TEST_CASE("our goodbye says so and hangs up") {
  Connected c;
  c.socket.close();
  CHECK(c.peer->receive()->kind == Frame::close);
  CHECK_FALSE(c.peer->receive());
  CHECK(c.peer->gone());
}

TEST_CASE("who hangs up or breaks the rules is gone") {
  {
    Connected c;
    c.peer->hang_up();
    CHECK(c.socket.read(20s).kind == Kind::closed);
  }
  for (const std::string& bytes :
       {std::string("\xc1\x01x"), std::string("\x80\x01x"), std::string("\x01\x01x\x81\x01y")}) {
    Connected c;
    c.peer->send_bytes(bytes);
    CHECK(c.socket.read(20s).kind == Kind::closed);
  }
}

TEST_CASE("a wait ends soon once it is cancelled") {
  Connected c;
  std::thread later([&] { c.cancelled = true; });
  const auto start = std::chrono::steady_clock::now();
  CHECK(c.socket.read(60s).kind == Kind::timeout);
  CHECK(std::chrono::steady_clock::now() - start < 10s);
  later.join();
}

TEST_CASE("a flood of pings does not hold up a read beyond its time") {
  Connected c;
  std::atomic<bool> over{false};
  std::thread flood([&] {
    while (!over) c.peer->send({Frame::ping, true, ""});
  });
  std::thread drain([&] {
    while (!over) (void)c.peer->receive(10ms);
  });
  CHECK(c.socket.read(50ms).kind == Kind::timeout);
  over = true;
  c.socket.close();
  flood.join();
  drain.join();
}

TEST_CASE("what is no WebSocket is not connected to, and the error says why") {
  CHECK(connect_to("http://127.0.0.1/") == "the URL is no ws or wss URL");
  CHECK(connect_to("ws://user@127.0.0.1/") == "the URL is no ws or wss URL");
  CHECK(connect_to("ws://127.0.0.1:1/").find("Failed to connect") != std::string::npos);
  WebSocketServer server;
  CHECK(connect_to(server.url(), AddressGuard()).find("allow_private") != std::string::npos);
  const auto answered = [](const std::string& text) {
    WebSocketServer odd([&](const std::string& proof) {
      const auto at = text.find("PROOF");
      return at == std::string::npos ? text : text.substr(0, at) + proof + text.substr(at + 5);
    });
    return connect_to(odd.url());
  };
  const std::string hand = "the other side did not shake hands as WebSocket wants it";
  CHECK(answered("HTTP/1.1 403 Forbidden\r\n\r\n") == "the other side answered HTTP 403");
  CHECK(answered("SSH-2.0\r\n\r\n") == "the other side speaks no HTTP");
  CHECK(answered("HTTP/1.1 101 X\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: PROOF\r\n\r\n") ==
        "");
  CHECK(answered("HTTP/1.1 101 X\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: xPROOF\r\n\r\n") ==
        hand);
  CHECK(answered("HTTP/1.1 101 X\r\nSec-WebSocket-Accept: PROOF\r\n\r\n") == hand);
  CHECK(answered("HTTP/1.1 101 X\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: PROOF\r\n"
                 "Sec-WebSocket-Extensions: permessage-deflate\r\n\r\n") == hand);
  CHECK(answered(std::string(20'000, 'x')) == "the other side answered too much");
}

TEST_CASE("a server that never answers is given up in time") {
  test::TinyServer server([](const std::string&) { return test::TinyServer::Reply{}; });
  const std::string url = "ws" + server.url().substr(4);
  CHECK(WebSocket(kLocal, [] { return false; }).connect(url, 50ms) ==
        "the other side did not answer in time");
}

}  // namespace
}  // namespace holdpoint
