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

Load::Load(Endpoint endpoint, const std::vector<Script*>& scripts)
    : endpoint_(std::move(endpoint)), epoll_(epoll_create1(EPOLL_CLOEXEC)) {
  if (!epoll_) throw_errno("epoll_create1");
  for (Script* script : scripts) {
    Client& client = clients_.emplace_back();
    client.script = script;
    open(client);
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
      Client& client = *static_cast<Client*>(event.data.ptr);
      if (client.finished) continue;
      if ((event.events & EPOLLOUT) != 0) flush(client);
      if ((event.events & ~static_cast<std::uint32_t>(EPOLLOUT)) != 0) read(client);
    }
    if (const Instant at = now(); at >= next_tick) {
      check_interrupt();
      if (at >= deadline) throw std::runtime_error("the clients did not finish in time");
      fail_overdue(at);
      next_tick = at + std::chrono::milliseconds(kTickMilliseconds);
    }
  }
}

void Load::open(Client& client) {
  client.fd = connect_to(endpoint_);
  client.in.clear();
  client.out.clear();
  client.awaits_write = false;
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.ptr = &client;
  if (epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, client.fd.get(), &event) != 0)
    throw_errno("epoll_ctl");
}

void Load::reopen(Client& client, std::optional<std::string> request) {
  client.fd.close();
  if (request) {
    try {
      open(client);
    } catch (const std::system_error& error) {
      client.script->on_failure(error.what(), now());
      request.reset();
    }
  }
  send(client, std::move(request));
}

void Load::send(Client& client, std::optional<std::string> request) {
  if (!request) {
    client.finished = true;
    client.fd.close();
    --active_;
    return;
  }
  client.out = std::move(*request);
  client.give_up = after(kRequestLimit);
  flush(client);
}

void Load::flush(Client& client) {
  while (!client.out.empty()) {
    const ssize_t sent =
        ::send(client.fd.get(), client.out.data(), client.out.size(), MSG_NOSIGNAL);
    if (sent < 0) {
      // Any other error shows up in `read`, together with what the server had to say about it.
      if (errno == EAGAIN) watch(client, true);
      return;
    }
    client.out.erase(0, static_cast<std::size_t>(sent));
  }
  if (client.awaits_write) watch(client, false);
}

void Load::watch(Client& client, bool for_write) {
  epoll_event event{};
  event.events = for_write ? EPOLLIN | EPOLLOUT : EPOLLIN;
  event.data.ptr = &client;
  if (epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, client.fd.get(), &event) != 0)
    throw_errno("epoll_ctl");
  client.awaits_write = for_write;
}

void Load::read(Client& client) {
  std::array<char, 16384> buffer;
  const ssize_t got = recv(client.fd.get(), buffer.data(), buffer.size(), 0);
  if (got > 0) {
    client.in.append(buffer.data(), static_cast<std::size_t>(got));
    consume(client);
  } else if (got == 0) {
    fail(client, "the server closed the connection before it answered");
  } else if (errno != EAGAIN && errno != EINTR) {
    fail(client, std::string("recv: ") + std::strerror(errno));
  }
}

void Load::consume(Client& client) {
  std::optional<std::string> request;
  bool close = false;
  try {
    const auto message = read_message(client.in);
    if (!message) return;
    const Response response{read_status(message->start_line), message->body};
    request = client.script->on_response(response, now());
    close = message->close;
    client.in.erase(0, message->size);
  } catch (const WireError& error) {
    fail(client, error.what());
    return;
  }
  if (close) {
    reopen(client, std::move(request));
  } else {
    send(client, std::move(request));
  }
}

void Load::fail(Client& client, const std::string& reason) {
  reopen(client, client.script->on_failure(reason, now()));
}

void Load::fail_overdue(Instant now) {
  for (Client& client : clients_)
    if (!client.finished && now >= client.give_up) fail(client, "no answer in time");
}

std::string fetch(const Endpoint& endpoint, const std::string& target) {
  FetchScript script(get_request(endpoint.text(), target));
  Load(endpoint, {&script}).run(after(kFetchLimit));
  if (!script.error.empty()) throw std::runtime_error("GET " + target + ": " + script.error);
  return script.body;
}

}  // namespace holdpoint::bench
