#include "agent_process.h"

#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <exception>
#include <map>
#include <string>
#include <utility>

#include "agent_turn.h"
#include "http_message.h"

namespace holdpoint::bench {
namespace {

class AgentServer {
 public:
  explicit AgentServer(Fd listener)
      : listener_(std::move(listener)), epoll_(epoll_create1(EPOLL_CLOEXEC)) {
    if (!epoll_) throw_errno("epoll_create1");
    watch(listener_.get());
  }

  [[noreturn]] void run() {
    std::array<epoll_event, 64> events;
    while (true) {
      const int ready =
          epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()), -1);
      for (int i = 0; i < ready; ++i) {
        const int fd = events[static_cast<std::size_t>(i)].data.fd;
        if (fd == listener_.get()) {
          accept_all();
        } else if (!serve(connections_.at(fd))) {
          connections_.erase(fd);
        }
      }
    }
  }

 private:
  struct Connection {
    Fd fd;
    std::string in;
  };

  void watch(int fd) {
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.fd = fd;
    if (epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) != 0) throw_errno("epoll_ctl");
  }

  void accept_all() {
    while (true) {
      Fd fd(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
      if (!fd) return;
      prepare_connection(fd.get());
      watch(fd.get());
      const int key = fd.get();
      connections_[key] = Connection{std::move(fd), {}};
    }
  }

  // False once the connection is to be dropped.
  bool serve(Connection& connection) {
    std::array<char, 16384> buffer;
    const ssize_t got = recv(connection.fd.get(), buffer.data(), buffer.size(), 0);
    if (got <= 0) return got < 0 && (errno == EAGAIN || errno == EINTR);
    connection.in.append(buffer.data(), static_cast<std::size_t>(got));
    try {
      while (const auto request = read_message(connection.in)) {
        if (!reply(connection.fd.get(), take_turn(request->body)) || request->close) return false;
        connection.in.erase(0, request->size);
      }
    } catch (const WireError&) {
      return false;
    }
    return true;
  }

  // Replies are far smaller than a socket's buffer: one that does not fit means a broken peer.
  static bool reply(int fd, const std::string& body) {
    const std::string response =
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: " +
        std::to_string(body.size()) + "\r\n\r\n" + body;
    return send(fd, response.data(), response.size(), MSG_NOSIGNAL) ==
           static_cast<ssize_t>(response.size());
  }

  Fd listener_;
  Fd epoll_;
  std::map<int, Connection> connections_;
};

pid_t start_agent(int* port) {
  Fd listener = listen_on_loopback(port);
  const pid_t parent = getpid();
  const pid_t pid = fork();
  if (pid < 0) throw_errno("fork");
  if (pid > 0) return pid;

  die_with_parent(parent);
  // Ctrl-C reaches the whole process group; the agent stays until the server has shut down.
  std::signal(SIGINT, SIG_IGN);
  try {
    AgentServer(std::move(listener)).run();
  } catch (const std::exception&) {
    _exit(1);
  }
}

}  // namespace

AgentProcess::AgentProcess() : child_(start_agent(&port_)) {}

}  // namespace holdpoint::bench
