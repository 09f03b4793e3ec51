#pragma once

#include <string>
#include <utility>

namespace holdpoint::bench {

// Owns one file descriptor.
class Fd {
 public:
  Fd() = default;
  explicit Fd(int fd) : fd_(fd) {}
  Fd(Fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Fd& operator=(Fd&& other) noexcept {
    if (this != &other) {
      close();
      fd_ = std::exchange(other.fd_, -1);
    }
    return *this;
  }
  ~Fd() { close(); }

  int get() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }
  void close();

 private:
  int fd_ = -1;
};

struct Endpoint {
  std::string host;
  int port = 0;

  std::string text() const { return host + ":" + std::to_string(port); }
};

// "127.0.0.1:8080" -> Endpoint; throws std::runtime_error for anything else than IPv4 and a port.
Endpoint parse_endpoint(const std::string& address);

// A connected, non-blocking socket with TCP_NODELAY. Throws std::system_error, at the latest after
// five seconds.
Fd connect_to(const Endpoint& endpoint);

// Listens on a free port of 127.0.0.1, non-blocking.
Fd listen_on_loopback(int* port);

// Non-blocking and TCP_NODELAY, as every connection here has to be.
void prepare_connection(int fd);

[[noreturn]] void throw_errno(const std::string& what);

}  // namespace holdpoint::bench
