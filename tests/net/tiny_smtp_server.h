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

namespace holdpoint::test {

// A mail server on 127.0.0.1, in the clear, that says what the test tells it to.
class TinySmtpServer {
 public:
  // What to say to a line: of a command, or `.` at the end of a message. None: the usual. Empty:
  // nothing, ever. `hang up` closes.
  using Say = std::function<std::optional<std::string>(const std::string& line)>;
  struct Mail {
    std::string from, to, data;
  };

  explicit TinySmtpServer(Say say = nullptr, std::string extensions = "")
      : say_(std::move(say)), extensions_(std::move(extensions)) {
    listener_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    if (bind(listener_, reinterpret_cast<sockaddr*>(&address), size) != 0 ||
        listen(listener_, 16) != 0 ||
        getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size) != 0) {
      close(listener_);
      throw std::runtime_error("no port to listen on");
    }
    port_ = ntohs(address.sin_port);
    acceptor_ = std::thread([this] { accept_all(); });
  }
  ~TinySmtpServer() {
    shutdown(listener_, SHUT_RDWR);
    acceptor_.join();
    close(listener_);
    for (const int connection : sockets_) shutdown(connection, SHUT_RDWR);
    for (auto& thread : threads_) thread.join();
    for (const int connection : sockets_) close(connection);
  }
  TinySmtpServer(const TinySmtpServer&) = delete;

  std::string url(const std::string& scheme = "smtp") const {
    return scheme + "://127.0.0.1:" + std::to_string(port_);
  }
  int connections() const { return connections_; }
  std::vector<std::string> lines() {
    return lines_.with([](auto& all) { return all; });
  }
  std::vector<Mail> mails() {
    return mails_.with([](auto& all) { return all; });
  }

 private:
  void accept_all() {
    while (true) {
      const int connection = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
      if (connection < 0) return;
      ++connections_;
      sockets_.push_back(connection);
      threads_.emplace_back([this, connection] {
        serve(connection);
        shutdown(connection, SHUT_RDWR);
      });
    }
  }

  // False: the connection is over.
  bool reply(int connection, const std::string& line, const std::string& usual) {
    const auto special = say_ ? say_(line) : std::nullopt;
    const std::string text = special.value_or(usual);
    if (text == "hang up") return false;
    if (text.empty()) return true;
    const std::string out = text + "\r\n";
    return send(connection, out.data(), out.size(), MSG_NOSIGNAL) > 0;
  }

  void serve(int connection) {
    std::string rest;
    const auto next = [&]() -> std::optional<std::string> {
      auto end = rest.find("\r\n");
      while (end == std::string::npos) {
        char buffer[65536];
        const ssize_t got = recv(connection, buffer, sizeof buffer, 0);
        if (got <= 0) return std::nullopt;
        rest.append(buffer, static_cast<std::size_t>(got));
        end = rest.find("\r\n");
      }
      const std::string line = rest.substr(0, end);
      rest.erase(0, end + 2);
      return line;
    };
    Mail mail;
    bool asked_for_login = false;
    if (!reply(connection, "", "220 tiny ESMTP")) return;
    while (const auto line = next()) {
      lines_.with([&](auto& all) { all.push_back(*line); });
      std::string usual = "250 OK";
      if (line->starts_with("EHLO")) usual = "250-tiny\r\n" + extensions_ + "250 SIZE 1000000";
      if (line->starts_with("AUTH")) usual = "334 ";
      if (asked_for_login) usual = "235 2.7.0 Welcome";
      asked_for_login = line->starts_with("AUTH");
      if (line->starts_with("MAIL")) mail.from = *line;
      if (line->starts_with("RCPT")) mail.to = *line;
      if (*line == "DATA") usual = "354 Go on";
      if (*line == "QUIT") usual = "221 2.0.0 Bye";
      const bool goes_on = reply(connection, *line, usual);
      if (!goes_on || (*line == "QUIT" && !(say_ && say_(*line)))) return;
      if (*line == "DATA" && !(say_ && say_(*line))) {
        mail.data.clear();
        for (auto text = next(); text && *text != "."; text = next()) {
          mail.data += (text->starts_with('.') ? text->substr(1) : *text) + "\r\n";
        }
        const bool kept = !say_ || !say_(".");
        if (kept) mails_.with([&](auto& all) { all.push_back(mail); });
        if (!reply(connection, ".", "250 2.0.0 Queued")) return;
      }
    }
  }

  const Say say_;
  const std::string extensions_;
  int listener_ = -1;
  int port_ = 0;
  std::thread acceptor_;
  // Touched by the acceptor alone, and by the destructor after it.
  std::vector<int> sockets_;
  std::vector<std::thread> threads_;
  std::atomic<int> connections_ = 0;
  Guarded<std::vector<std::string>> lines_;
  Guarded<std::vector<Mail>> mails_;
};

}  // namespace holdpoint::test
