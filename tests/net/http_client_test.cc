#include "net/http_client.h"

#include <doctest/doctest.h>

#include <ctime>

#include "tests/net/tiny_server.h"

namespace holdpoint {
namespace {

using namespace std::chrono_literals;
using test::local_client;
using test::post;
using test::response;
using test::TinyServer;

// What a client gets from a server that always answers with these bytes.
HttpResponse answer_of(const std::string& bytes) {
  TinyServer server([&](const std::string&) { return TinyServer::Reply{bytes}; });
  return local_client()->send(post(server.url()));
}

bool has_line(const std::string& request, const std::string& line) {
  return request.find("\r\n" + line + "\r\n") != std::string::npos;
}

TEST_CASE("a call sends its method, path, headers and body, and gets status and body back") {
  TinyServer server([](const std::string&) { return TinyServer::Reply{response(201, "made")}; });
  HttpRequest request = post(server.url("/hook?x=1"), R"({"a":1})");
  request.headers = {{"Content-Type", "application/json"}, {"webhook-id", "d-1"}};
  const HttpResponse got = local_client()->send(request);
  CHECK(got.status == 201);
  CHECK(got.body == "made");
  CHECK(got.error == "");
  CHECK_FALSE(got.retry_after);
  REQUIRE(server.requests().size() == 1);
  const std::string sent = server.requests()[0];
  CHECK(sent.starts_with("POST /hook?x=1 HTTP/1.1\r\n"));
  CHECK(has_line(sent, "Content-Type: application/json"));
  CHECK(has_line(sent, "webhook-id: d-1"));
  CHECK(has_line(sent, "Content-Length: 7"));
  CHECK(sent.ends_with("\r\n\r\n{\"a\":1}"));
}

TEST_CASE("a large body goes out whole, without an Expect header that some servers refuse") {
  TinyServer server([](const std::string&) { return TinyServer::Reply{response(200, "")}; });
  const std::string body(3'000'000, 'x');
  CHECK(local_client()->send(post(server.url(), body)).status == 200);
  CHECK(server.requests()[0].ends_with(body));
  CHECK(server.requests()[0].find("Expect") == std::string::npos);
}

TEST_CASE("on one kept connection a call of each method is what it is") {
  TinyServer server([](const std::string&) { return TinyServer::Reply{response(200, "ok")}; });
  const auto client = local_client();
  HttpRequest request = post(server.url("/message"), "{\"a\":1}");
  for (const char* method :
       {"POST", "PATCH", "GET", "PUT", "DELETE", "PATCH", "DELETE", "POST", "GET"}) {
    request.method = method;
    const bool bare = request.method == "GET" || request.method == "DELETE";
    request.body = bare ? "" : "{\"a\":1}";
    CHECK(client->send(request).status == 200);
    const std::string sent = server.requests().back();
    CHECK(sent.starts_with(std::string(method) + " /message HTTP/1.1\r\n"));
    CHECK(sent.ends_with("\r\n\r\n" + request.body));
    CHECK((sent.find("\r\nContent-") == std::string::npos) == bare);
  }
  CHECK(server.connections() == 1);
}

TEST_CASE("the headers of an answer are there by their names in lower case") {
  const auto got =
      answer_of(response(200, "", "X-RateLimit-Remaining: 0\r\nx-ratelimit-reset-AFTER: 1.5\r\n"));
  CHECK(got.headers.at("x-ratelimit-remaining") == "0");
  CHECK(got.headers.at("x-ratelimit-reset-after") == "1.5");
  CHECK(got.headers.count("X-RateLimit-Remaining") == 0);
}

TEST_CASE("a GET is a GET") {
  TinyServer server([](const std::string&) { return TinyServer::Reply{response(200, "ok")}; });
  HttpRequest request;
  request.method = "GET";
  request.url = server.url("/status");
  CHECK(local_client()->send(request).body == "ok");
  CHECK(server.requests()[0].starts_with("GET /status HTTP/1.1\r\n"));
}

TEST_CASE("an error status is a response like any other") {
  for (const int status : {204, 400, 410, 429, 500, 503}) {
    const HttpResponse got = answer_of(response(status, status == 204 ? "" : "why"));
    CHECK(got.status == status);
    CHECK(got.error == "");
  }
}

TEST_CASE("a redirect is not followed") {
  TinyServer other([](const std::string&) { return TinyServer::Reply{response(200, "")}; });
  for (const int status : {301, 302, 303, 307, 308}) {
    CHECK(answer_of(response(status, "", "Location: " + other.url() + "\r\n")).status == status);
  }
  CHECK(other.connections() == 0);
}

TEST_CASE("a body up to the cap is kept, and one past it is cut off and said to be") {
  TinyServer server([](const std::string& request) {
    const auto size = std::stoul(request.substr(request.find("size=") + 5));
    return TinyServer::Reply{response(200, std::string(size, 'x'))};
  });
  const auto client = local_client();
  const auto sized = [&](std::size_t size) {
    HttpRequest request = post(server.url("/?size=" + std::to_string(size)));
    request.max_response_bytes = 1000;
    return client->send(request);
  };
  CHECK(sized(1000).body.size() == 1000);
  CHECK(sized(1000).error == "");
  for (const std::size_t size : {1001, 100'000, 5'000'000}) {
    const HttpResponse got = sized(size);
    CHECK(got.error == "the response has more than 1000 bytes");
    CHECK(got.body == std::string(1000, 'x'));
    CHECK(got.status == 200);
  }
  CHECK(sized(0).error == "");
}

TEST_CASE("a server that does not answer in time is an error") {
  TinyServer silent([](const std::string&) { return TinyServer::Reply{}; });
  TinyServer halfway([](const std::string&) {
    return TinyServer::Reply{"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nabc"};
  });
  for (auto* server : {&silent, &halfway}) {
    HttpRequest request = post(server->url());
    request.total_timeout = 200ms;
    const HttpResponse got = local_client()->send(request);
    CHECK(got.status == 0);
    CHECK(got.error != "");
  }
}

TEST_CASE("a server that hangs up, or speaks no HTTP, is an error") {
  for (const std::string bytes :
       {"", "SSH-2.0-OpenSSH_9.2\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc"}) {
    CAPTURE(bytes);
    TinyServer server([&](const std::string&) { return TinyServer::Reply{bytes, true}; });
    const HttpResponse got = local_client()->send(post(server.url()));
    CHECK(got.status == 0);
    CHECK(got.error != "");
  }
}

TEST_CASE("a port where nobody listens is an error") {
  std::string url;
  {
    TinyServer gone([](const std::string&) { return TinyServer::Reply{}; });
    url = gone.url();
  }
  const HttpResponse got = local_client()->send(post(url));
  CHECK(got.status == 0);
  CHECK(got.error != "");
}

TEST_CASE("Retry-After is read as seconds and as a date") {
  const auto after = [](const std::string& value) {
    return answer_of(response(503, "", "Retry-After: " + value + "\r\n")).retry_after;
  };
  const auto date = [](std::time_t when) {
    char text[64];
    std::tm parts{};
    gmtime_r(&when, &parts);
    std::strftime(text, sizeof text, "%a, %d %b %Y %H:%M:%S GMT", &parts);
    return std::string(text);
  };
  CHECK(after("0") == 0ms);
  CHECK(after("7") == 7s);
  CHECK(after("999999999") == 999999999s);
  const std::time_t now = std::time(nullptr);
  const auto soon = after(date(now + 100));
  REQUIRE(soon);
  CHECK(*soon > 60s);
  CHECK(*soon <= 100s);
  CHECK(after(date(now - 1000)) == 0ms);
  for (const std::string value : {"soon", "1.5", "7 s", "99999999999999999999"}) {
    CAPTURE(value);
    CHECK_FALSE(after(value));
  }
}

}  // namespace
}  // namespace holdpoint
