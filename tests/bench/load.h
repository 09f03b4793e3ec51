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

// Clients in closed loop, each on one keep-alive connection to every endpoint, all in the calling
// thread. Requests go to the endpoints in turn, whichever client they come from, as a load balancer
// would send them. The constructor opens the connections, so that `run` times nothing but requests.
class Load {
 public:
  Load(std::vector<Endpoint> endpoints, const std::vector<Script*>& scripts);

  // Returns when every script has finished; throws std::runtime_error at `deadline`.
  void run(Instant deadline);

 private:
  struct Client;
  struct Connection {
    Client* client = nullptr;
    const Endpoint* endpoint = nullptr;
    Fd fd;
    std::string in;
    std::string out;
    bool awaits_write = false;
  };
  struct Client {
    Script* script = nullptr;
    std::vector<Connection> connections;  // one an endpoint
    Connection* asked = nullptr;          // the one whose answer is awaited; nothing once finished
    Instant give_up;
  };

  void open(Connection& connection);
  void send(Client& client, std::optional<std::string> request);
  void finish(Client& client);
  void flush(Connection& connection);
  void watch(Connection& connection, bool for_write);
  void read(Connection& connection);
  void consume(Connection& connection);
  void fail(Connection& connection, const std::string& reason);
  void fail_overdue(Instant now);

  std::vector<Endpoint> endpoints_;
  std::size_t turn_ = 0;
  Fd epoll_;
  std::deque<Client> clients_;  // epoll holds the addresses of their connections
  std::size_t active_ = 0;
};

// One GET on a connection of its own: the body of a 200. Throws std::runtime_error otherwise.
std::string fetch(const Endpoint& endpoint, const std::string& target);

}  // namespace holdpoint::bench
