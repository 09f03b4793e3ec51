#pragma once

#include <httplib.h>
#include <poll.h>

#include <array>
#include <atomic>
#include <cstring>
#include <optional>
#include <string>
#include <utility>

#include "http/byte_budget.h"
#include "http/request_guard.h"
#include "http/security_headers.h"
#include "http/server.h"
#include "http/transport.h"

// Included by server.cc alone, so that the parser's header is compiled once.
namespace holdpoint {

inline constexpr Duration kIdle = std::chrono::seconds{30};
inline constexpr Duration kGlance = std::chrono::milliseconds{250};  // At whether the server stops.
inline constexpr Duration kDrain = std::chrono::seconds{1};
inline constexpr Duration kLinger = std::chrono::seconds{2};
inline constexpr std::size_t kMaxLingerBytes = std::size_t{64} << 20;

// How a refusal by the server itself is counted; null if it is none of the client's faults.
inline const char* refusal_reason(int status) {
  switch (status) {
    case 400:
    case 501:
      return "bad_request";
    case 408:
      return "too_slow";
    case 413:
      return "body_too_large";
    case 414:
    case 431:
      return "headers_too_large";
    case 429:
      return "too_many_connections";
    default:
      return nullptr;
  }
}

// For the metrics: an answer that no route gave, and if it was the client's fault, why.
inline void count_refusal(const HttpServer::Options& options, const char* route, int status) {
  if (options.on_request) options.on_request(route, status);
  const char* reason = refusal_reason(status);
  if (reason && options.on_refused) options.on_refused(reason);
}

// A connection as the HTTP parser reads and writes it: every byte passes the guard, every request
// has deadlines, and what was read ahead is kept for the next request.
class Connection final : public httplib::Stream {
 public:
  Connection(int socket, std::unique_ptr<TlsSession> tls, const HttpServer::Options& options,
             ByteBudget& budget)
      : transport_(socket, std::move(tls)), options_(options), share_(budget) {}

  bool is_secure() const { return transport_.is_secure(); }
  bool is_refused() const { return refused_; }

  // TLS's handshake, if there is one. False: the connection is of no use.
  bool open(Duration longest, const std::atomic<bool>& stopping) {
    if (!transport_.is_secure()) return true;
    const auto deadline = Steady::now() + longest;
    while (!stopping) {
      const Progress progress = transport_.tls()->handshake();
      if (progress.bytes > 0) return true;
      if (progress.wants == 0) {
        const bool plain = transport_.tls()->spoke_plain_http();
        transport_.drop_tls();
        if (plain) {
          refuse({400, "tls_required", "this port speaks TLS; use https://", ""});
        } else if (progress.bytes < 0) {
          count_refusal(options_, "refused", 400);
        }
        return false;
      }
      if (Steady::now() >= deadline) {
        count_refusal(options_, "refused", 408);
        return false;
      }
      wait_for(socket(), progress.wants, kGlance);
    }
    return false;
  }

  // False when none came for long, or the server stops. Who says nothing at all has less time than
  // who has been served before.
  bool await_request(const std::atomic<bool>& stopping) const {
    if (has_buffered()) return true;
    const Duration longest = guard_ ? kIdle : std::min(kIdle, options_.head_deadline);
    for (Duration waited{0}; waited < longest; waited += kGlance) {
      if (stopping) return false;
      if (wait_for(socket(), POLLIN, kGlance)) return true;
    }
    return false;
  }

  void begin_request() {
    guard_.emplace(RequestGuard::Limits{options_.max_header_bytes, options_.max_headers});
    started_ = Steady::now();
    held_.clear();
    wrote_ = draining_ = false;
  }
  // All of it was read.
  bool request_complete() const { return guard_->complete(); }
  const RequestGuard& guard() const { return *guard_; }
  // What this request's bodies take of what all may.
  ByteBudget::Share& share() { return share_; }
  // Sends what is held back; false if the connection must be closed.
  bool end_request() {
    const bool sent = flush();
    share_.give_back();
    return sent && !refused_ && !said_close_ && guard_->complete() && !guard_->wants_close();
  }

  // After a request that was not read to its end: what still comes is dropped for a while. Closing
  // at once would reset the connection, and the client might never read our answer.
  void linger() {
    if (!refused_ && !draining_ && !said_close_ && !(guard_ && guard_->wants_close())) return;
    transport_.end_sending();
    transport_.drop_incoming(kLinger, kMaxLingerBytes);
  }

  // Answers in the parser's place, and lets nothing more in or out.
  void refuse(const Refusal& refusal, std::string_view extra_header = {}) {
    const Response response =
        error_response(refusal.status, refusal.code, refusal.message, refusal.field);
    std::string text = "HTTP/1.1 " + std::to_string(refusal.status) + " " +
                       httplib::status_message(refusal.status);
    text += "\r\nContent-Type: application/json\r\nConnection: close\r\n";
    append_security_headers(text, is_secure(), [](const std::string&) { return false; });
    text.append(extra_header);
    text += "Content-Length: " + std::to_string(response.body.size()) + "\r\n\r\n" + response.body;
    refused_ = true;
    count_refusal(options_, "refused", refusal.status);
    if (!wrote_) transport_.send(text, {});
  }

  ssize_t read(char* out, size_t size) override {
    if (refused_) return -1;
    if (!draining_ && (wrote_ || !held_.empty())) begin_draining();
    if (begin_ == end_ && !fill()) return -1;
    const size_t count = std::min(size, end_ - begin_);
    std::memcpy(out, buffer_.data() + begin_, count);
    begin_ += count;
    const auto verdict = guard_->see({out, count});
    if (verdict == RequestGuard::Verdict::fine) return static_cast<ssize_t>(count);
    refuse(refusal_for(verdict));
    return -1;
  }

  ssize_t write(const char* data, size_t size) override {
    if (refused_) return static_cast<ssize_t>(size);
    // "100 Continue" is no answer yet; the parser writes its line and the empty one after it.
    const std::string_view text(data, size);
    if (text.starts_with("HTTP/1.1 100 ") || (interim_ && text == "\r\n")) {
      interim_ = text != "\r\n";
      return transport_.send(text, {}) ? static_cast<ssize_t>(size) : -1;
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
    return transport_.send(head, text) ? static_cast<ssize_t>(size) : -1;
  }

  bool is_readable() const override { return has_buffered(); }
  bool wait_readable() const override {
    return has_buffered() || wait_for(socket(), POLLIN, kIdle);
  }
  bool wait_writable() const override { return wait_for(socket(), POLLOUT, kWriteTimeout); }
  bool is_peer_alive() const override { return transport_.is_peer_alive(); }
  void get_remote_ip_and_port(std::string& ip, int& port) const override {
    httplib::detail::get_remote_ip_and_port(socket(), ip, port);
  }
  void get_local_ip_and_port(std::string& ip, int& port) const override {
    httplib::detail::get_local_ip_and_port(socket(), ip, port);
  }
  socket_t socket() const override { return transport_.socket(); }
  time_t duration() const override {
    return std::chrono::duration_cast<std::chrono::milliseconds>(Steady::now() - started_).count();
  }

 private:
  bool has_buffered() const { return begin_ < end_ || transport_.has_pending(); }

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
    const ssize_t got = transport_.receive(buffer_.data(), buffer_.size(), started_ + limit);
    if (got < 0 && !draining_) {
      refuse({408, "too_slow", "the request took too long to arrive", ""});
    }
    if (got <= 0) return false;
    begin_ = 0;
    end_ = static_cast<size_t>(got);
    return true;
  }

  bool flush() {
    if (held_.empty()) return true;
    wrote_ = true;
    return transport_.send(std::exchange(held_, {}), {});
  }

  Transport transport_;
  const HttpServer::Options& options_;
  ByteBudget::Share share_;
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
