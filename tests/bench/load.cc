#include "load.h"

#include <sys/epoll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "http_message.h"
#include "interrupt.h"

namespace holdpoint::bench {
namespace {

constexpr Seconds kRequestLimit{40};  // above the longest `?wait=` that a script asks for
constexpr Seconds kFetchLimit{10};
constexpr int kTickMilliseconds = 250;

class FetchScript : public Script {
 public:
  explicit FetchScript(std::string request) : request_(std::move(request)) {}

  std::optional<std::string> begin(Instant) override { return request_; }
  std::optional<std::string> on_response(const Response& response, Instant) override {
    body = response.body;
    if (response.status != 200) error = "HTTP " + std::to_string(response.status) + ": " + body;
    return std::nullopt;
  }
  std::optional<std::string> on_failure(const std::string& reason, Instant) override {
    error = reason;
    return std::nullopt;
  }

  std::string body;
  std::string error;

 private:
  std::string request_;
};

}  // namespace

Load::Load(std::vector<Endpoint> endpoints, const std::vector<Script*>& scripts)
    : endpoints_(std::move(endpoints)), epoll_(epoll_create1(EPOLL_CLOEXEC)) {
  if (!epoll_) throw_errno("epoll_create1");
  for (Script* script : scripts) {
    Client& client = clients_.emplace_back();
    client.script = script;
    client.connections.resize(endpoints_.size());
    for (std::size_t i = 0; i < endpoints_.size(); ++i) {
      client.connections[i].client = &client;
      client.connections[i].endpoint = &endpoints_[i];
      open(client.connections[i]);
    }
  }
}

void Load::run(Instant deadline) {
  active_ = clients_.size();
  for (Client& client : clients_) send(client, client.script->begin(now()));

  std::array<epoll_event, 64> events;
  Instant next_tick = now();
  while (active_ > 0) {
    const int ready =
        epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()), kTickMilliseconds);
    if (ready < 0 && errno != EINTR) throw_errno("epoll_wait");
    for (int i = 0; i < ready; ++i) {
      const epoll_event& event = events[static_cast<std::size_t>(i)];
      Connection& connection = *static_cast<Connection*>(event.data.ptr);
      if (!connection.fd) continue;
      if ((event.events & EPOLLOUT) != 0) flush(connection);
      if ((event.events & ~static_cast<std::uint32_t>(EPOLLOUT)) != 0) read(connection);
    }
    if (const Instant at = now(); at >= next_tick) {
      check_interrupt();
      if (at >= deadline) throw std::runtime_error("the clients did not finish in time");
      fail_overdue(at);
      next_tick = at + std::chrono::milliseconds(kTickMilliseconds);
    }
  }
}

void Load::open(Connection& connection) {
  connection.fd = connect_to(*connection.endpoint);
  connection.in.clear();
  connection.out.clear();
  connection.awaits_write = false;
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.ptr = &connection;
  if (epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, connection.fd.get(), &event) != 0)
    throw_errno("epoll_ctl");
}

void Load::send(Client& client, std::optional<std::string> request) {
  if (!request) return finish(client);
  Connection& connection = client.connections[turn_++ % endpoints_.size()];
  if (!connection.fd) {
    try {
      open(connection);
    } catch (const std::system_error& error) {
      client.script->on_failure(error.what(), now());
      return finish(client);
    }
  }
  client.asked = &connection;
  client.give_up = after(kRequestLimit);
  connection.out = std::move(*request);
  flush(connection);
}

void Load::finish(Client& client) {
  client.asked = nullptr;
  for (Connection& connection : client.connections) connection.fd.close();
  --active_;
}

void Load::flush(Connection& connection) {
  while (!connection.out.empty()) {
    const ssize_t sent =
        ::send(connection.fd.get(), connection.out.data(), connection.out.size(), MSG_NOSIGNAL);
    if (sent < 0) {
      // Any other error shows up in `read`, together with what the server had to say about it.
      if (errno == EAGAIN) watch(connection, true);
      return;
    }
    connection.out.erase(0, static_cast<std::size_t>(sent));
  }
  if (connection.awaits_write) watch(connection, false);
}

void Load::watch(Connection& connection, bool for_write) {
  epoll_event event{};
  event.events = for_write ? EPOLLIN | EPOLLOUT : EPOLLIN;
  event.data.ptr = &connection;
  if (epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, connection.fd.get(), &event) != 0)
    throw_errno("epoll_ctl");
  connection.awaits_write = for_write;
}

void Load::read(Connection& connection) {
  std::array<char, 16384> buffer;
  const ssize_t got = recv(connection.fd.get(), buffer.data(), buffer.size(), 0);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (connection.client->asked != &connection) {
    // Its node ended an idle connection; the next request that it gets opens another.
    connection.fd.close();
  } else if (got > 0) {
    connection.in.append(buffer.data(), static_cast<std::size_t>(got));
    consume(connection);
  } else if (got == 0) {
    fail(connection, "the server closed the connection before it answered");
  } else {
    fail(connection, std::string("recv: ") + std::strerror(errno));
  }
}

void Load::consume(Connection& connection) {
  Client& client = *connection.client;
  std::optional<std::string> request;
  try {
    const auto message = read_message(connection.in);
    if (!message) return;
    const Response response{read_status(message->start_line), message->body};
    request = client.script->on_response(response, now());
    if (message->close) connection.fd.close();
    connection.in.erase(0, message->size);
  } catch (const WireError& error) {
    fail(connection, error.what());
    return;
  }
  send(client, std::move(request));
}

void Load::fail(Connection& connection, const std::string& reason) {
  connection.fd.close();
  send(*connection.client, connection.client->script->on_failure(reason, now()));
}

void Load::fail_overdue(Instant now) {
  for (Client& client : clients_)
    if (client.asked != nullptr && now >= client.give_up) fail(*client.asked, "no answer in time");
}

std::string fetch(const Endpoint& endpoint, const std::string& target) {
  FetchScript script(get_request(endpoint.text(), target));
  Load({endpoint}, {&script}).run(after(kFetchLimit));
  if (!script.error.empty()) throw std::runtime_error("GET " + target + ": " + script.error);
  return script.body;
}

}  // namespace holdpoint::bench
