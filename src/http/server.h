#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "http/router.h"

namespace holdpoint {

// The listening socket and its connections; a thread each while they are open, as many as there
// are, up to `max_threads`.
class HttpServer {
 public:
  struct Options {
    std::string listen = "127.0.0.1:8080";  // Port 0: any free one.
    // PEM files; both, or none to serve in the clear. Under TLS the process must ignore SIGPIPE.
    std::string tls_cert;
    std::string tls_key;
    std::size_t max_threads = 2048;
    std::size_t max_body_bytes = 1 << 20;
    std::size_t max_header_bytes = 32768;  // Of the request line and all headers.
    std::size_t max_headers = 100;         // At most kMostHeaders.
    std::size_t max_connections_per_address = 512;
    Duration head_deadline{10'000};  // For a request line and headers, or for TLS's handshake.
    Duration body_deadline{15'000};  // For the whole request to arrive.
    // Addresses whose connections are not counted: proxies that stand for many.
    std::function<bool(const std::string& address)> exempt;
    std::function<void(const std::string& route, int status)> on_request;
    // Turned away before a route: bad_request, headers_too_large, body_too_large, too_slow or
    // too_many_connections.
    std::function<void(const char* reason)> on_refused;
  };
  static constexpr std::size_t kMostHeaders = 1000;

  // Throws std::runtime_error that says what is wrong with the TLS files.
  explicit HttpServer(Options options);
  ~HttpServer();

  // Throws std::runtime_error if the address cannot be had. Returns the one it has.
  std::string bind();
  // Serves `routes` until stop(). False if it ended without one: the system would accept no more.
  [[nodiscard]] bool run(Routes routes);
  // From any thread: accepts no more. run() returns once the open requests are answered.
  void stop();
  // From any thread: new connections get what the TLS files hold now; open ones go on. Throws
  // std::runtime_error that says why not, and then all stays as it was. Does nothing without TLS.
  void reload_tls();
  std::size_t threads() const;

 private:
  class Listener;
  std::unique_ptr<Listener> listener_;
};

}  // namespace holdpoint
