#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "base/guarded.h"
#include "net/http_client.h"

namespace holdpoint::test {

// A server on 127.0.0.1, or ::1, that sends whatever bytes the test tells it to.
class TinyServer {
 public:
  struct Reply {
    std::optional<std::string> bytes;  // None: no answer, ever.
    bool close = false;                // Close afterwards, without having said so.
  };
  using Respond = std::function<Reply(const std::string& request)>;

  // On ::1 with AF_INET6; throws if the machine has none.
  explicit TinyServer(Respond respond, int family = AF_INET) : respond_(std::move(respond)) {
    listener_ = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in6 address{};  // The port stands at the same place in both families.
    auto& v4 = reinterpret_cast<sockaddr_in&>(address);
    address.sin6_family = static_cast<sa_family_t>(family);
    socklen_t size = family == AF_INET ? sizeof v4 : sizeof address;
    if (family == AF_INET) v4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (family == AF_INET6) address.sin6_addr = in6addr_loopback;
    if (bind(listener_, reinterpret_cast<sockaddr*>(&address), size) != 0 ||
        listen(listener_, 64) != 0 ||
        getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size) != 0) {
      close(listener_);
      throw std::runtime_error("no port to listen on");
    }
    port_ = ntohs(address.sin6_port);
    acceptor_ = std::thread([this] { accept_all(); });
  }
  ~TinyServer() {
    shutdown(listener_, SHUT_RDWR);
    acceptor_.join();
    close(listener_);
    for (const int connection : sockets_) shutdown(connection, SHUT_RDWR);
    for (auto& thread : threads_) thread.join();
    for (const int connection : sockets_) close(connection);
  }
  TinyServer(const TinyServer&) = delete;

  std::string url(const std::string& path = "/", const std::string& host = "127.0.0.1") const {
    return "http://" + host + ":" + std::to_string(port_) + path;
  }
  int connections() const { return connections_; }
  std::vector<std::string> requests() {
    return requests_.with([](auto& all) { return all; });
  }

 private:
  void accept_all() {
    while (true) {
      const int connection = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
      if (connection < 0) return;
      ++connections_;
      sockets_.push_back(connection);
      threads_.emplace_back([this, connection] { serve(connection); });
    }
  }

  void serve(int connection) {
    while (const auto request = read_request(connection)) {
      requests_.with([&](auto& all) { all.push_back(*request); });
      const Reply reply = respond_(*request);
      if (!reply.bytes) continue;  // Reads on until the client gives up.
      std::size_t sent = 0;
      while (sent < reply.bytes->size()) {
        const ssize_t count =
            send(connection, reply.bytes->data() + sent, reply.bytes->size() - sent, MSG_NOSIGNAL);
        if (count <= 0) return;
        sent += static_cast<std::size_t>(count);
      }
      if (reply.close) break;
    }
    shutdown(connection, SHUT_RDWR);
  }

  static std::optional<std::string> read_request(int connection) {
    std::string text;
    std::size_t whole = std::string::npos;
    while (text.size() < whole) {
      char buffer[65536];
      const ssize_t got = recv(connection, buffer, sizeof buffer, 0);
      if (got <= 0) return std::nullopt;
      text.append(buffer, static_cast<std::size_t>(got));
      const auto head_end = text.find("\r\n\r\n");
      if (whole != std::string::npos || head_end == std::string::npos) continue;
      whole = head_end + 4;
      const auto length = text.find("Content-Length: ");
      if (length < head_end) whole += std::stoul(text.substr(length + 16));
    }
    return text;
  }

  const Respond respond_;
  int listener_ = -1;
  int port_ = 0;
  std::thread acceptor_;
  // Touched by the acceptor alone, and by the destructor after it.
  std::vector<int> sockets_;
  std::vector<std::thread> threads_;
  std::atomic<int> connections_ = 0;
  Guarded<std::vector<std::string>> requests_;
};

// A response with this body.
inline std::string response(int status, const std::string& body, const std::string& headers = "") {
  return "HTTP/1.1 " + std::to_string(status) + " Whatever\r\n" + headers +
         "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

// May reach this machine, and nothing else that is private.
inline std::unique_ptr<HttpClient> local_client() {
  return make_http_client(AddressGuard({"127.0.0.0/8"}));
}

inline HttpRequest post(const std::string& url, std::string body = "{}") {
  HttpRequest request;
  request.url = url;
  request.body = std::move(body);
  return request;
}

}  // namespace holdpoint::test
