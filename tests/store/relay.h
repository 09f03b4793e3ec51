#pragma once

#include <arpa/inet.h>
#include <libpq-fe.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/guarded.h"

namespace holdpoint::test {

// Stands between clients and a PostgreSQL server, and breaks what the test tells it to.
class Relay {
 public:
  enum class Act {
    pass,
    lose,         // It never arrives, and the connection is gone.
    lose_answer,  // It arrives, and is answered; then the connection is gone.
    hold,         // The client's connection is gone; it arrives once `release` is called.
  };
  // Asked about all that clients send, in the thread of its connection.
  using Rule = std::function<Act(std::string_view sent)>;

  explicit Relay(const std::string& url) : url_(url) {
    PQconninfoOption* options = PQconninfoParse(url.c_str(), nullptr);
    for (const auto* option = options; option && option->keyword; ++option) {
      const std::string_view keyword = option->keyword;
      if (keyword == "host" && option->val) host_ = option->val;
      if (keyword == "port" && option->val) server_port_ = std::stoi(option->val);
    }
    PQconninfoFree(options);
    open();
  }
  ~Relay() {
    close_listener();
    cut_all();
    for (auto& thread : threads_) thread.join();
    held_.with([](Held& held) {
      if (held.server >= 0) close(held.server);
    });
  }
  Relay(const Relay&) = delete;

  // The server's URL by way of this relay.
  std::string url() const {
    const char* mark = url_.find('?') == std::string::npos ? "?" : "&";
    return url_ + mark + "host=127.0.0.1&port=" + std::to_string(port_);
  }
  void set_rule(Rule rule) {
    rule_.with([&](Rule& r) { r = std::move(rule); });
  }
  // From now on nobody listens there; what was open is gone.
  void go_away() {
    close_listener();
    cut_all();
  }
  // From now on connections are taken and never answered; what was open is gone.
  void fall_silent() {
    silent_ = true;
    cut_all();
  }
  void come_back() {
    silent_ = false;
    cut_all();
    if (listener_ < 0) open();
  }
  // Sends what was held; returns the server's answer to it.
  std::string release() {
    const Held held = held_.with([](Held& h) { return h; });
    send_all(held.server, held.bytes);
    std::string answer;
    // The last message of an answer says that the server is ready: Z, its length and one byte.
    while (answer.size() < 6 || answer[answer.size() - 6] != 'Z') {
      const auto part = receive(held.server);
      if (part.empty()) break;
      answer += part;
    }
    return answer;
  }

 private:
  struct Held {
    std::string bytes;
    int server = -1;
  };

  void open() {
    listener_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const int yes = 1;
    setsockopt(listener_, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    sockaddr_in address = loopback(port_);
    socklen_t size = sizeof address;
    auto* any = reinterpret_cast<sockaddr*>(&address);
    if (bind(listener_, any, size) != 0 || listen(listener_, 64) != 0 ||
        getsockname(listener_, any, &size) != 0) {
      throw std::runtime_error("no port to listen on");
    }
    port_ = ntohs(address.sin_port);
    acceptor_ = std::thread([this, listener = listener_] { accept_all(listener); });
  }

  void close_listener() {
    if (listener_ < 0) return;
    shutdown(listener_, SHUT_RDWR);
    acceptor_.join();
    close(listener_);
    listener_ = -1;
  }

  static sockaddr_in loopback(int port) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return address;
  }

  void accept_all(int listener) {
    while (true) {
      const int client = accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
      if (client < 0) return;
      open_.with([&](auto& all) { all.push_back(client); });
      threads_.emplace_back([this, client] {
        if (silent_) {
          while (!receive(client).empty()) {
          }
        } else {
          relay(client);
        }
        // Not before it is forgotten: its number may be another's then.
        open_.with([&](auto& all) { std::erase(all, client); });
        close(client);
      });
    }
  }

  void cut_all() {
    open_.with([](auto& all) {
      for (const int client : all) shutdown(client, SHUT_RDWR);
    });
  }

  void relay(int client) {
    const int server = connect_server();
    if (server < 0) return;
    std::array<pollfd, 2> fds{{{client, POLLIN, 0}, {server, POLLIN, 0}}};
    Act act = Act::pass;
    while (true) {
      poll(fds.data(), fds.size(), -1);
      if (fds[0].revents) {
        const std::string sent = receive(client);
        if (sent.empty()) break;
        const Rule rule = rule_.with([](Rule& r) { return r; });
        act = rule ? rule(sent) : Act::pass;
        if (act == Act::lose) break;
        if (act == Act::hold) {
          held_.with([&](Held& held) { held = {sent, server}; });
          return;
        }
        send_all(server, sent);
      }
      if (fds[1].revents) {
        const std::string answer = receive(server);
        if (answer.empty() || act == Act::lose_answer) break;
        send_all(client, answer);
      }
    }
    close(server);
  }

  int connect_server() const {
    const int server = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address = loopback(server_port_);
    inet_pton(AF_INET, host_.c_str(), &address.sin_addr);
    if (connect(server, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0) return server;
    close(server);
    return -1;
  }

  static std::string receive(int fd) {
    std::string part(65536, '\0');
    const ssize_t got = recv(fd, part.data(), part.size(), 0);
    part.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
    return part;
  }

  static void send_all(int fd, std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t sent = send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) return;
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
  }

  const std::string url_;
  std::string host_ = "127.0.0.1";
  int server_port_ = 5432;
  int listener_ = -1;
  int port_ = 0;
  Guarded<Rule> rule_;
  std::atomic<bool> silent_{false};
  Guarded<std::vector<int>> open_;
  Guarded<Held> held_;
  std::thread acceptor_;
  std::vector<std::thread> threads_;  // The acceptor's, until that has ended.
};

}  // namespace holdpoint::test
