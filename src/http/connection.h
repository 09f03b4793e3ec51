#pragma once

#include <httplib.h>
#include <poll.h>
#include <sys/uio.h>

#include <array>
#include <chrono>
#include <cstring>
#include <optional>
#include <string>
#include <utility>

#include "http/request_guard.h"
#include "http/server.h"

// Included by server.cc alone, so that the parser's header is compiled once.
namespace holdpoint {

using Steady = std::chrono::steady_clock;

inline constexpr std::size_t kMaxHeadBytes = 32768;
inline constexpr Duration kIdle = std::chrono::seconds{30};
inline constexpr Duration kWriteTimeout = std::chrono::seconds{10};
inline constexpr Duration kDrain = std::chrono::seconds{1};
inline constexpr Duration kLinger = std::chrono::seconds{2};
inline constexpr std::size_t kMaxLingerBytes = std::size_t{64} << 20;

inline bool wait_for(int socket, short events, Duration longest) {
  pollfd fd{socket, events, 0};
  const auto deadline = Steady::now() + longest;
  while (true) {
    const auto left = std::chrono::ceil<Duration>(deadline - Steady::now());
    const int ready = poll(&fd, 1, static_cast<int>(std::max<Duration>(left, Duration{0}).count()));
    if (ready >= 0 || errno != EINTR) return ready > 0;
  }
}

// A connection as the HTTP parser reads and writes it: every byte passes the guard, every request
// has deadlines, and what was read ahead is kept for the next request.
class Connection final : public httplib::Stream {
 public:
  Connection(int socket, const HttpServer::Options& options) : socket_(socket), options_(options) {}

  bool has_buffered() const { return begin_ < end_; }
  void begin_request() {
    guard_.emplace(kMaxHeadBytes);
    started_ = Steady::now();
    held_.clear();
    wrote_ = draining_ = false;
  }
  // Sends what is held back; false if the connection must be closed.
  bool end_request() { return flush() && !refused_ && !said_close_ && guard_->head_complete(); }

  // After a request that was not read to its end: what still comes is dropped for a while. Closing
  // at once would reset the connection, and the client might never read our answer.
  void linger() {
    if (!refused_ && !draining_) return;
    shutdown(socket_, SHUT_WR);
    const auto deadline = Steady::now() + kLinger;
    for (size_t dropped = 0; dropped < kMaxLingerBytes && Steady::now() < deadline;) {
      if (!wait_for(socket_, POLLIN, std::chrono::ceil<Duration>(deadline - Steady::now()))) return;
      const ssize_t got = recv(socket_, buffer_.data(), buffer_.size(), 0);
      if (got <= 0) return;
      dropped += static_cast<size_t>(got);
    }
  }

  ssize_t read(char* out, size_t size) override {
    if (refused_) return -1;
    if (!draining_ && (wrote_ || !held_.empty())) begin_draining();
    if (begin_ == end_ && !fill()) return -1;
    const size_t count = std::min(size, end_ - begin_);
    std::memcpy(out, buffer_.data() + begin_, count);
    begin_ += count;
    switch (guard_->see({out, count})) {
      case RequestGuard::Verdict::fine:
        return static_cast<ssize_t>(count);
      case RequestGuard::Verdict::head_too_large:
        refuse(431, "headers_too_large", "the request's head has more than 32768 bytes");
        return -1;
      case RequestGuard::Verdict::bad_chunk:
        refuse(400, "bad_chunk", "the body's chunks are not framed as HTTP asks");
        return -1;
    }
    return -1;
  }

  ssize_t write(const char* data, size_t size) override {
    if (refused_) return static_cast<ssize_t>(size);
    // "100 Continue" is no answer yet; the parser writes its line and the empty one after it.
    const std::string_view text(data, size);
    if (text.starts_with("HTTP/1.1 100 ") || (interim_ && text == "\r\n")) {
      interim_ = text != "\r\n";
      return send_all(text, {}) ? static_cast<ssize_t>(size) : -1;
    }
    // The head alone waits for the body, so that both leave in one packet.
    if (!wrote_ && held_.empty()) {
      held_.assign(data, size);
      const std::string_view head = text.substr(0, text.find("\r\n\r\n"));
      said_close_ = head.find("\r\nConnection: close") != std::string_view::npos;
      return static_cast<ssize_t>(size);
    }
    const std::string head = std::exchange(held_, {});
    wrote_ = true;
    return send_all(head, {data, size}) ? static_cast<ssize_t>(size) : -1;
  }

  bool is_readable() const override { return has_buffered(); }
  bool wait_readable() const override { return has_buffered() || wait_for(socket_, POLLIN, kIdle); }
  bool wait_writable() const override { return wait_for(socket_, POLLOUT, kWriteTimeout); }
  bool is_peer_alive() const override {
    char byte = 0;
    const ssize_t got = recv(socket_, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    return got > 0 || (got < 0 && (errno == EAGAIN || errno == EINTR));
  }
  void get_remote_ip_and_port(std::string& ip, int& port) const override {
    httplib::detail::get_remote_ip_and_port(socket_, ip, port);
  }
  void get_local_ip_and_port(std::string& ip, int& port) const override {
    httplib::detail::get_local_ip_and_port(socket_, ip, port);
  }
  socket_t socket() const override { return socket_; }
  time_t duration() const override {
    return std::chrono::duration_cast<std::chrono::milliseconds>(Steady::now() - started_).count();
  }

 private:
  // The answer is ready before all of the request is read: it goes out now, and what is left of the
  // body gets a moment to arrive, so that the client reads the answer instead of an error.
  void begin_draining() {
    flush();
    draining_ = true;
    started_ = Steady::now();
  }

  bool fill() {
    const Duration limit = draining_                 ? kDrain
                           : guard_->head_complete() ? options_.body_deadline
                                                     : options_.head_deadline;
    const auto left = std::chrono::ceil<Duration>(started_ + limit - Steady::now());
    if (left <= Duration{0} || !wait_for(socket_, POLLIN, left)) {
      if (!draining_) refuse(408, "too_slow", "the request took too long to arrive");
      return false;
    }
    const ssize_t got = recv(socket_, buffer_.data(), buffer_.size(), 0);
    if (got <= 0) return false;
    begin_ = 0;
    end_ = static_cast<size_t>(got);
    return true;
  }

  bool flush() {
    if (held_.empty()) return true;
    wrote_ = true;
    return send_all(std::exchange(held_, {}), {});
  }

  bool send_all(std::string_view first, std::string_view second) {
    while (!first.empty() || !second.empty()) {
      std::array<iovec, 2> parts{{{const_cast<char*>(first.data()), first.size()},
                                  {const_cast<char*>(second.data()), second.size()}}};
      msghdr message{};
      message.msg_iov = parts.data();
      message.msg_iovlen = parts.size();
      const ssize_t sent = sendmsg(socket_, &message, MSG_NOSIGNAL);
      if (sent < 0) {
        if (errno == EINTR) continue;
        if (errno == EAGAIN && wait_for(socket_, POLLOUT, kWriteTimeout)) continue;
        return false;
      }
      const auto count = static_cast<size_t>(sent);
      const size_t of_first = std::min(count, first.size());
      first.remove_prefix(of_first);
      second.remove_prefix(count - of_first);
    }
    return true;
  }

  // Answers in the parser's place, and lets nothing more in or out.
  void refuse(int status, const char* code, const char* message) {
    const Response response = error_response(status, code, message);
    std::string text = "HTTP/1.1 " + std::to_string(status) + " " + httplib::status_message(status);
    text += "\r\nContent-Type: application/json\r\nConnection: close\r\nContent-Length: ";
    text += std::to_string(response.body.size()) + "\r\n\r\n" + response.body;
    if (!wrote_) send_all(text, {});
    refused_ = true;
    if (options_.on_request) options_.on_request("refused", status);
  }

  const int socket_;
  const HttpServer::Options& options_;
  std::optional<RequestGuard> guard_;
  Steady::time_point started_;
  std::array<char, 8192> buffer_;
  size_t begin_ = 0;
  size_t end_ = 0;
  std::string held_;
  bool wrote_ = false;
  bool draining_ = false;
  bool interim_ = false;
  bool said_close_ = false;
  bool refused_ = false;
};

}  // namespace holdpoint
