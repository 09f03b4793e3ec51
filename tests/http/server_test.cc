#include "http/server.h"

#include <arpa/inet.h>
#include <doctest/doctest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <map>
#include <thread>

#include "base/guarded.h"

namespace holdpoint {
namespace {

// A server on a port of its own, with what it refused.
class Served {
 public:
  Served(Routes routes, HttpServer::Options options = {}) : server_(completed(std::move(options))) {
    const std::string address = server_.bind();
    port_ = std::stoi(address.substr(address.rfind(':') + 1));
    thread_ = std::thread([this, routes = std::move(routes)] { CHECK(server_.run(routes)); });
  }
  ~Served() {
    server_.stop();
    thread_.join();
  }

  int port() const { return port_; }
  std::map<std::string, int> refused() {
    return refused_.with([](auto& refused) { return refused; });
  }
  std::map<int, int> statuses() {
    return statuses_.with([](auto& statuses) { return statuses; });
  }

 private:
  HttpServer::Options completed(HttpServer::Options options) {
    options.listen = "127.0.0.1:0";
    options.on_refused = [this](const char* reason) {
      refused_.with([&](auto& refused) { ++refused[reason]; });
    };
    options.on_request = [this](const std::string&, int status) {
      statuses_.with([&](auto& statuses) { ++statuses[status]; });
    };
    return options;
  }

  Guarded<std::map<std::string, int>> refused_;
  Guarded<std::map<int, int>> statuses_;
  HttpServer server_;
  int port_ = 0;
  std::thread thread_;
};

class Socket {
 public:
  explicit Socket(const Served& served) : fd_(socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(served.port()));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const timeval patience{20, 0};
    setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    REQUIRE(connect(fd_, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
  }
  ~Socket() { ::close(fd_); }
  Socket(const Socket&) = delete;

  void say(std::string_view text) {
    while (!text.empty()) {
      const ssize_t sent = send(fd_, text.data(), text.size(), MSG_NOSIGNAL);
      if (sent < 0) return;  // Refused already; what was said about it is still to be read.
      text.remove_prefix(static_cast<std::size_t>(sent));
    }
  }
  // Until the server closes.
  std::string hear_all() {
    std::string all;
    std::array<char, 4096> buffer;
    while (true) {
      const ssize_t got = recv(fd_, buffer.data(), buffer.size(), 0);
      if (got <= 0) return all;
      all.append(buffer.data(), static_cast<std::size_t>(got));
    }
  }
  std::string hear(std::size_t most) {
    std::string text(most, '\0');
    const ssize_t got = recv(fd_, text.data(), text.size(), 0);
    text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
    return text;
  }

 private:
  const int fd_;
};

std::string reply_to(const Served& served, const std::string& request) {
  Socket socket(served);
  socket.say(request);
  return socket.hear_all();
}

std::string post(const std::string& path, const std::string& type, const std::string& body) {
  return "POST " + path + " HTTP/1.1\r\nHost: h\r\nConnection: close\r\nContent-Type: " + type +
         "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

std::string get(const std::string& path, const std::string& headers = {}) {
  return "GET " + path + " HTTP/1.1\r\nHost: h\r\nConnection: close\r\n" + headers + "\r\n";
}

int status_of(const std::string& response) {
  REQUIRE(response.starts_with("HTTP/1.1 "));
  return std::stoi(response.substr(9, 3));
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

// Says back what it got.
Response echo(const Request& request) {
  Response response;
  response.content_type = "text/plain";
  for (const auto& [name, value] : request.query) response.body += name + "=" + value + "?";
  response.body += request.body;
  return response;
}

Routes echo_routes() {
  return {{"POST", "/json", nothing(), echo},
          {"POST", "/form/:id", nothing(), echo, false, true},
          {"GET", "/form/:id", nothing(), echo},
          {"GET", "/plain", nothing(), echo}};
}

const std::string kForm = "application/x-www-form-urlencoded";

TEST_CASE("a route that takes forms gets them as they were sent, and its query apart from them") {
  Served served(echo_routes());
  const std::string response =
      reply_to(served, post("/form/7?q=1", kForm, "answer=a%20b+c&q=2&answer=%0d%0a"));
  CHECK(status_of(response) == 200);
  CHECK(response.ends_with("\r\n\r\nq=1?answer=a%20b+c&q=2&answer=%0d%0a"));
  CHECK(
      reply_to(served, post("/form/7", kForm + "; charset=utf-8", "a=b")).ends_with("\r\n\r\na=b"));
  CHECK(reply_to(served, post("/form/7", "application/json", "{}")).ends_with("\r\n\r\n{}"));
}

TEST_CASE("a form may be as large as any body") {
  HttpServer::Options options;
  options.max_body_bytes = 65536;
  Served served(echo_routes(), options);
  const std::string large = "text=" + std::string(65536 - 5, 'x');
  const std::string response = reply_to(served, post("/form/7", kForm, large));
  CHECK(status_of(response) == 200);
  CHECK(response.ends_with("\r\n\r\n" + large));
  CHECK(status_of(reply_to(served, post("/form/7", kForm, large + "x"))) == 413);
  const std::string chunked = "POST /form/7 HTTP/1.1\r\nHost: h\r\nContent-Type: " + kForm +
                              "\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n";
  CHECK(reply_to(served, chunked + "10000\r\n" + large + "\r\n0\r\n\r\n")
            .ends_with("\r\n\r\n" + large));
  CHECK(status_of(reply_to(served, chunked + "10001\r\n" + large + "x\r\n0\r\n\r\n")) == 413);
}

TEST_CASE("forms and other types are for no route that does not take them") {
  Served served(echo_routes());
  for (const auto& request : {post("/json", kForm, "a=b"), post("/form/7", "text/plain", "a"),
                              post("/form/7", "multipart/form-data; boundary=x", "--x--"),
                              post("/form/7/8", kForm, "a=b"), post("/form", kForm, "a=b"),
                              post("/form/", kForm, "a=b"), post("/plain", kForm, "a=b")}) {
    CAPTURE(request);
    CHECK(status_of(reply_to(served, request)) == 415);
  }
}

TEST_CASE("every response carries the security headers once, whoever writes it") {
  Routes routes = echo_routes();
  routes.push_back({"GET", "/own", nothing(), [](const Request&) {
                      Response response;
                      response.headers = {{"cache-control", "max-age=60"},
                                          {"Content-Security-Policy", "default-src 'self'"}};
                      return response;
                    }});
  routes.push_back({"GET", "/stream", nothing(), [](const Request&) {
                      Response response;
                      response.stream = [](const StreamWrite& write) {
                        write("x");
                        return false;
                      };
                      return response;
                    }});
  routes.push_back({"GET", "/throws", nothing(),
                    [](const Request&) -> Response { throw std::runtime_error("x"); }});
  Served served(routes);
  for (const auto& request :
       {get("/plain"), get("/stream"), get("/throws"), get("/nowhere"), get("/json"),
        "HEAD" + get("/plain").substr(3), "OPTIONS" + get("/plain").substr(3),
        "BREW" + get("/plain").substr(3), post("/json", kForm, "a=b"),
        get("/plain", "X: %0d%0a\r\n"), std::string("noise\r\n\r\n"), get("/plain", "Host: h\r\n"),
        get("/" + std::string(9000, 'x')),
        get("/plain", "X: " + std::string(9000, 'x') + "\r\n")}) {
    CAPTURE(request.substr(0, 200));
    const std::string response = reply_to(served, request);
    const std::string head = response.substr(0, response.find("\r\n\r\n") + 2);
    for (const char* line :
         {"Content-Security-Policy: default-src 'none'; style-src 'self'; img-src 'self'; "
          "form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
          "Referrer-Policy: no-referrer", "X-Content-Type-Options: nosniff",
          "Cross-Origin-Opener-Policy: same-origin", "Cross-Origin-Resource-Policy: same-origin",
          "Cache-Control: no-store", "X-Robots-Tag: noindex"}) {
      CAPTURE(line);
      CHECK(count(head, "\r\n" + std::string(line) + "\r\n") == 1);
    }
    CHECK(count(head, "Strict-Transport-Security") == 0);
  }
  const std::string own = reply_to(served, get("/own"));
  CHECK(count(own, "cache-control: max-age=60\r\n") == 1);
  CHECK(count(own, "Cache-Control: ") == 0);
  CHECK(count(own, "Content-Security-Policy: ") == 1);
  CHECK(count(own, "Content-Security-Policy: default-src 'self'\r\n") == 1);
  CHECK(count(own, "Referrer-Policy: no-referrer\r\n") == 1);
}

TEST_CASE("what is refused is counted once, by its reason and by its status") {
  HttpServer::Options options;
  options.head_deadline = Duration{200};
  options.body_deadline = Duration{400};
  options.max_body_bytes = 100;
  Served served(echo_routes(), options);
  const auto length = [](int bytes) {
    return "POST /json HTTP/1.1\r\nHost: h\r\nContent-Length: " + std::to_string(bytes) + "\r\n";
  };
  struct Case {
    std::string request;
    int status;
    const char* reason;
  };
  std::map<std::string, int> reasons;
  std::map<int, int> statuses;
  for (const auto& [request, status, reason] : std::vector<Case>{
           {"GET /plain HTTP/1.1\r\n\r\n", 400, "bad_request"},
           {"GET noise\r\n\r\n", 400, "bad_request"},
           {"noise\r\n\r\n", 400, "bad_request"},
           {get("/plain", "X: %0d%0aY: 1\r\n"), 200, nullptr},
           {get("/plain", "Transfer-Encoding: chunked\r\n") + "-2\r\n", 400, "bad_request"},
           {get("/plain", "X: " + std::string(9000, 'x') + "\r\n"), 431, "headers_too_large"},
           {get("/" + std::string(8200, 'x')), 414, "headers_too_large"},
           {get("/" + std::string(9000, 'x')), 414, "headers_too_large"},
           {length(101) + "\r\n", 413, "body_too_large"},
           {length(101) + "Expect: 100-continue\r\n\r\n", 413, "body_too_large"},
           {post("/json", "application/json", "{}"), 200, nullptr},
           {get("/nowhere"), 404, nullptr},
           {get("/json"), 405, nullptr},
           {"GET / HT", 408, "too_slow"},
           {length(50) + "\r\n{", 408, "too_slow"}}) {
    CAPTURE(request.substr(0, 200));
    CHECK(status_of(reply_to(served, request)) == status);
    ++statuses[status];
    if (reason) ++reasons[reason];
    CHECK(served.refused() == reasons);
    CHECK(served.statuses() == statuses);
  }
}

TEST_CASE("one address has so many connections and no more, unless it is exempt") {
  HttpServer::Options options;
  options.max_connections_per_address = 3;
  const std::string keep = "GET /plain HTTP/1.1\r\nHost: h\r\n\r\n";
  SUBCASE("counted") {
    Served served(echo_routes(), options);
    Socket first(served), second(served);
    for (Socket* socket : {&first, &second}) {
      socket->say(keep);
      CHECK(status_of(socket->hear(9000)) == 200);
    }
    {
      Socket third(served);
      third.say(keep);
      CHECK(status_of(third.hear(9000)) == 200);
      Socket fourth(served);
      const std::string response = fourth.hear_all();  // Without having asked for anything.
      CHECK(status_of(response) == 429);
      CHECK(count(response, "\r\nRetry-After: 1\r\n") == 1);
      CHECK(count(response, "\"code\":\"too_many_connections\"") == 1);
      CHECK(served.refused() == std::map<std::string, int>{{"too_many_connections", 1}});
      // Those that were there go on.
      third.say(keep);
      CHECK(status_of(third.hear(9000)) == 200);
    }
    // The server learns of the two that closed a moment later, so ask until it has.
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds{10};
    while (status_of(reply_to(served, get("/plain"))) == 429) {
      REQUIRE(std::chrono::steady_clock::now() < deadline);
    }
    first.say(keep);
    CHECK(status_of(first.hear(9000)) == 200);
  }
  SUBCASE("exempt") {
    options.exempt = [](const std::string& address) { return address == "127.0.0.1"; };
    Served served(echo_routes(), options);
    std::vector<std::unique_ptr<Socket>> sockets;
    for (int i = 0; i < 10; ++i) {
      sockets.push_back(std::make_unique<Socket>(served));
      sockets.back()->say(keep);
      CHECK(status_of(sockets.back()->hear(9000)) == 200);
    }
  }
}

}  // namespace
}  // namespace holdpoint
