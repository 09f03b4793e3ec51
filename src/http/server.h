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
    std::size_t max_threads = 2048;
    std::size_t max_body_bytes = 1 << 20;
    Duration head_deadline{10'000};  // For a request line and headers to arrive.
    Duration body_deadline{15'000};  // For the whole request to arrive.
    std::function<void(const std::string& route, int status)> on_request;
  };
  explicit HttpServer(Options options);
  ~HttpServer();

  // Throws std::runtime_error if the address cannot be had. Returns the one it has.
  std::string bind();
  // Serves `routes` until stop(). False if it ended without one: the system would accept no more.
  [[nodiscard]] bool run(Routes routes);
  // From any thread: accepts no more. run() returns once the open requests are answered.
  void stop();
  std::size_t threads() const;

 private:
  class Listener;
  std::unique_ptr<Listener> listener_;
};

}  // namespace holdpoint
