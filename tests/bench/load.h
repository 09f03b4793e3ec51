#pragma once

#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "instant.h"
#include "socket.h"

namespace holdpoint::bench {

struct Response {
  int status = 0;
  std::string_view body;
};

// What one client does, request by request. Each call returns the next request to send, or nothing
// when the client has finished.
class Script {
 public:
  virtual ~Script() = default;
  virtual std::optional<std::string> begin(Instant now) = 0;
  virtual std::optional<std::string> on_response(const Response& response, Instant now) = 0;
  // The connection broke, or the request took too long: it may or may not have been carried out.
  virtual std::optional<std::string> on_failure(const std::string& reason, Instant now) = 0;
};

// Clients in closed loop, each on one keep-alive connection, all in the calling thread. The
// constructor opens the connections, so that `run` times nothing but requests.
class Load {
 public:
  Load(Endpoint endpoint, const std::vector<Script*>& scripts);

  // Returns when every script has finished; throws std::runtime_error at `deadline`.
  void run(Instant deadline);

 private:
  struct Client {
    Script* script = nullptr;
    Fd fd;
    std::string in;
    std::string out;
    bool awaits_write = false;
    bool finished = false;
    Instant give_up;
  };

  void open(Client& client);
  void reopen(Client& client, std::optional<std::string> request);
  void send(Client& client, std::optional<std::string> request);
  void flush(Client& client);
  void watch(Client& client, bool for_write);
  void read(Client& client);
  void consume(Client& client);
  void fail(Client& client, const std::string& reason);
  void fail_overdue(Instant now);

  Endpoint endpoint_;
  Fd epoll_;
  std::deque<Client> clients_;  // epoll holds their addresses
  std::size_t active_ = 0;
};

// One GET on a connection of its own: the body of a 200. Throws std::runtime_error otherwise.
std::string fetch(const Endpoint& endpoint, const std::string& target);

}  // namespace holdpoint::bench
