#include <doctest/doctest.h>
#include <stdlib.h>

#include <thread>

#include "net/http_client.h"
#include "tests/net/tiny_server.h"

namespace holdpoint {
namespace {

using namespace std::chrono_literals;
using test::local_client;
using test::post;
using test::response;
using test::TinyServer;

TEST_CASE("a private address is refused without a connection") {
  TinyServer server([](const std::string&) { return TinyServer::Reply{response(200, "")}; });
  const auto guarded = make_http_client(AddressGuard{});
  for (const std::string host :
       {"127.0.0.1", "localhost", "0x7f000001", "2130706433", "127.1", "[::ffff:127.0.0.1]"}) {
    CAPTURE(host);
    const HttpResponse got = guarded->send(post(server.url("/", host)));
    CHECK(got.status == 0);
    CHECK(got.error == "the address is private; [outgoing] allow_private does not list it");
  }
  CHECK(server.connections() == 0);
  CHECK(local_client()->send(post(server.url())).status == 200);
}

TEST_CASE("a name with two addresses, one of them refused, is reached by the other") {
  // libcurl knows localhost as 127.0.0.1 and ::1, and tries them in this order.
  const auto ok = [](const std::string&) { return TinyServer::Reply{response(200, "ok")}; };
  TinyServer v4(ok);
  const HttpResponse first = local_client()->send(post(v4.url("/", "localhost")));
  CHECK(first.error == "");
  CHECK(first.status == 200);
  std::optional<TinyServer> v6;
  try {
    v6.emplace(ok, AF_INET6);
  } catch (const std::runtime_error&) {
    return;  // A machine without IPv6.
  }
  const HttpResponse second =
      make_http_client(AddressGuard({"::1"}))->send(post(v6->url("/", "localhost")));
  CHECK(v6->requests().size() == 1);
  CHECK(second.error == "");
  CHECK(second.status == 200);
}

TEST_CASE("what is no http URL is refused before anything is sent") {
  for (const char* url : {"", "ftp://127.0.0.1/", "file:///etc/passwd", "127.0.0.1"}) {
    CHECK(local_client()->send(post(url)).error == "the URL is no http or https URL");
  }
}

TEST_CASE("a name with a refused address and one where nobody listens tells of the latter") {
  std::string url;
  {
    TinyServer gone([](const std::string&) { return TinyServer::Reply{}; });
    url = gone.url("/", "localhost");
  }
  // Not ::1, the other address of localhost.
  const HttpResponse got = local_client()->send(post(url));
  CHECK(got.status == 0);
  CHECK(got.error != "");
  CHECK(got.error.find("private") == std::string::npos);
}

TEST_CASE("a proxy in the environment is not used") {
  TinyServer server([](const std::string&) { return TinyServer::Reply{response(200, "")}; });
  TinyServer proxy([](const std::string&) { return TinyServer::Reply{response(502, "")}; });
  for (const char* name :
       {"http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"}) {
    CAPTURE(name);
    setenv(name, proxy.url().c_str(), 1);
    CHECK(local_client()->send(post(server.url())).status == 200);
    const int before = server.connections();
    const std::string secure = "https" + server.url().substr(4);
    CHECK(local_client()->send(post(secure)).status == 0);  // It speaks no TLS.
    CHECK(server.connections() == before + 1);
    unsetenv(name);
  }
  CHECK(proxy.connections() == 0);
}

TEST_CASE("a cookie is not kept, on the same connection or another") {
  std::atomic<int> calls = 0;
  TinyServer server([&](const std::string&) {
    return TinyServer::Reply{response(200, "", "Set-Cookie: track=1; Path=/\r\n"), ++calls == 2};
  });
  const auto client = local_client();
  for (int i = 0; i < 4; ++i) CHECK(client->send(post(server.url())).status == 200);
  for (const auto& request : server.requests()) CHECK(request.find("Cookie") == std::string::npos);
}

TEST_CASE("a connection is kept for the next call to the same host") {
  TinyServer server([](const std::string& request) {
    const bool first = request.starts_with("POST /first");
    return TinyServer::Reply{response(first ? 503 : 200, "", first ? "Retry-After: 9\r\n" : "")};
  });
  const auto client = local_client();
  CHECK(client->send(post(server.url("/first"), "one")).retry_after == 9s);
  for (int i = 0; i < 5; ++i) {
    // Nothing of an earlier call is left in the next.
    const HttpResponse got = client->send(post(server.url("/next"), "two"));
    CHECK(got.status == 200);
    CHECK_FALSE(got.retry_after);
    CHECK(server.requests().back().ends_with("\r\n\r\ntwo"));
  }
  CHECK(server.connections() == 1);
}

TEST_CASE("a kept connection that the server has closed meanwhile is no failure") {
  TinyServer server([](const std::string&) { return TinyServer::Reply{response(200, ""), true}; });
  const auto client = local_client();
  for (int i = 0; i < 5; ++i) CHECK(client->send(post(server.url())).status == 200);
}

TEST_CASE("a call that is cancelled ends, and leaves the client as it was") {
  std::atomic<bool> cancelled = false;
  TinyServer server([&](const std::string& request) {
    if (request.starts_with("POST /quick")) return TinyServer::Reply{response(200, "")};
    cancelled = true;
    return TinyServer::Reply{};
  });
  const auto client = local_client();
  HttpRequest request = post(server.url("/slow"));
  request.cancelled = [&] { return cancelled.load(); };
  const auto start = std::chrono::steady_clock::now();
  const HttpResponse got = client->send(request);
  CHECK(std::chrono::steady_clock::now() - start < 20s);  // Far below the call's own 30 s.
  CHECK(got.status == 0);
  CHECK(got.error != "");
  CHECK(client->send(post(server.url("/quick"))).status == 200);
}

TEST_CASE("threads share a client, and each gets its own answers") {
  TinyServer server([](const std::string& request) {
    return TinyServer::Reply{response(200, request.substr(request.find("\r\n\r\n") + 4))};
  });
  const auto client = local_client();
  std::atomic<int> right = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 50; ++i) {
        const std::string body = std::to_string(t) + "/" + std::to_string(i);
        right += client->send(post(server.url(), body)).body == body;
      }
    });
  }
  for (auto& thread : threads) thread.join();
  CHECK(right == 400);
  CHECK(server.connections() <= 8);
}

}  // namespace
}  // namespace holdpoint
