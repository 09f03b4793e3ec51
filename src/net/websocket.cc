#include "net/websocket.h"

#include <curl/curl.h>
#include <openssl/rand.h>
#include <poll.h>

#include <algorithm>
#include <optional>
#include <stdexcept>

#include "net/websocket_handshake.h"

namespace holdpoint {
namespace {

using namespace std::chrono_literals;
using SteadyClock = std::chrono::steady_clock;

constexpr std::size_t kMostMessage = std::size_t{4} << 20;
constexpr std::size_t kMostHead = 16384;
constexpr Duration kSlice{200};  // How often a wait asks whether it is cancelled.
constexpr Duration kLongestWrite{10'000};

std::uint32_t new_mask() {
  std::uint32_t mask = 0;
  if (RAND_bytes(reinterpret_cast<unsigned char*>(&mask), sizeof mask) != 1) {
    throw std::runtime_error("no random bytes");
  }
  return mask;
}

}  // namespace

// A connection, in the clear or under TLS.
class WebSocket::Line {
 public:
  Line(const AddressGuard& guard, const std::function<bool()>& cancelled)
      : guard_(guard), cancelled_(cancelled), handle_(curl_easy_init(), curl_easy_cleanup) {
    if (!handle_) throw std::runtime_error("libcurl has no handle to give");
  }

  // What went wrong; empty if it is there.
  std::string open(const std::string& http_url, Duration longest) {
    CURL* handle = handle_.get();
    char reason[CURL_ERROR_SIZE] = "";
    curl_easy_setopt(handle, CURLOPT_URL, http_url.c_str());
    curl_easy_setopt(handle, CURLOPT_CONNECT_ONLY, 1L);
    curl_easy_setopt(handle, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(handle, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(handle, CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_1_1);
    curl_easy_setopt(handle, CURLOPT_PROXY, "");
    curl_easy_setopt(handle, CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(longest.count()));
    curl_easy_setopt(handle, CURLOPT_OPENSOCKETDATA, this);
    curl_easy_setopt(handle, CURLOPT_OPENSOCKETFUNCTION, &Line::open_socket);
    curl_easy_setopt(handle, CURLOPT_NOPROGRESS, 0L);
    curl_easy_setopt(handle, CURLOPT_XFERINFODATA, this);
    curl_easy_setopt(handle, CURLOPT_XFERINFOFUNCTION, &Line::should_stop);
    curl_easy_setopt(handle, CURLOPT_ERRORBUFFER, reason);
    const CURLcode code = curl_easy_perform(handle);
    curl_easy_setopt(handle, CURLOPT_ERRORBUFFER, nullptr);
    if (code == CURLE_OK) {
      curl_easy_getinfo(handle, CURLINFO_ACTIVESOCKET, &socket_);
      return socket_ == CURL_SOCKET_BAD ? "the connection was lost" : "";
    }
    if (refused_ && !opened_) {
      return "the address is private; [outgoing] allow_private does not list it";
    }
    return *reason ? reason : curl_easy_strerror(code);
  }

  // Bytes that are there by `deadline`; empty if there are none; nothing once it is closed.
  std::optional<std::string> receive(SteadyClock::time_point deadline) {
    char buffer[16384];
    while (true) {
      std::size_t got = 0;
      const CURLcode code = curl_easy_recv(handle_.get(), buffer, sizeof buffer, &got);
      if (code == CURLE_OK && got > 0) return std::string(buffer, got);
      if (code != CURLE_AGAIN) return std::nullopt;
      if (!wait(POLLIN, deadline)) return "";
    }
  }

  bool transmit(std::string_view bytes) {
    const auto deadline = SteadyClock::now() + kLongestWrite;
    while (!bytes.empty()) {
      std::size_t sent = 0;
      const CURLcode code = curl_easy_send(handle_.get(), bytes.data(), bytes.size(), &sent);
      if (code == CURLE_OK) {
        bytes.remove_prefix(sent);
      } else if (code != CURLE_AGAIN || !wait(POLLOUT, deadline)) {
        return false;
      }
    }
    return true;
  }

 private:
  // False if nothing can be done by the deadline, or it is cancelled.
  bool wait(short what, SteadyClock::time_point deadline) const {
    while (!cancelled_()) {
      const auto left = std::chrono::ceil<Duration>(deadline - SteadyClock::now());
      if (left <= 0ms) return false;
      pollfd one{socket_, what, 0};
      if (poll(&one, 1, static_cast<int>(std::min(left, kSlice).count())) > 0) return true;
    }
    return false;
  }

  static curl_socket_t open_socket(void* self, curlsocktype, curl_sockaddr* address) {
    auto& line = *static_cast<Line*>(self);
    if (!line.guard_.allows(address->addr)) {
      line.refused_ = true;
      return CURL_SOCKET_BAD;
    }
    line.opened_ = true;
    return ::socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
  }

  static int should_stop(void* self, curl_off_t, curl_off_t, curl_off_t, curl_off_t) {
    return static_cast<Line*>(self)->cancelled_() ? 1 : 0;
  }

  const AddressGuard& guard_;
  const std::function<bool()>& cancelled_;
  const std::unique_ptr<CURL, void (*)(CURL*)> handle_;
  curl_socket_t socket_ = CURL_SOCKET_BAD;
  bool refused_ = false;
  bool opened_ = false;
};

WebSocket::WebSocket(const AddressGuard& guard, std::function<bool()> cancelled)
    : guard_(guard), cancelled_(std::move(cancelled)), frames_(false, kMostMessage) {}

WebSocket::~WebSocket() { close(); }

std::string WebSocket::connect(const std::string& url, Duration longest) {
  const auto deadline = SteadyClock::now() + longest;
  const auto address = read_websocket_url(url);
  if (!address) return "the URL is no ws or wss URL";
  auto line = std::make_unique<Line>(guard_, cancelled_);
  if (auto error = line->open(address->http_url, longest); !error.empty()) return error;
  const std::string key = new_websocket_key();
  if (!line->transmit(websocket_request(*address, key))) {
    return "the connection was lost";
  }
  std::string head;
  auto end = std::string::npos;
  while ((end = head.find("\r\n\r\n")) == std::string::npos) {
    const auto bytes = line->receive(deadline);
    if (!bytes) return "the connection was lost";
    if (bytes->empty()) return "the other side did not answer in time";
    head += *bytes;
    if (head.size() > kMostHead) return "the other side answered too much";
  }
  if (auto error = judge_websocket_answer(head.substr(0, end + 2), key); !error.empty())
    return error;
  frames_ = WebSocketFrames(false, kMostMessage);
  frames_.add(std::string_view(head).substr(end + 4));
  partial_.clear();
  in_parts_ = false;
  heard_ = SteadyClock::now();
  line_ = std::move(line);
  return "";
}

WebSocket::Message WebSocket::closed(std::string reason) {
  line_.reset();
  return {Message::Kind::closed, std::move(reason)};
}

std::optional<WebSocket::Message> WebSocket::next_message() {
  using Frame = WebSocketFrame;
  while (auto frame = frames_.next()) {
    if (frame->kind == Frame::ping) {
      if (!write(Frame::pong, frame->payload)) return closed("the connection was lost");
    } else if (frame->kind == Frame::close) {
      (void)write(Frame::close, frame->payload);
      return closed("the other side closed it");
    } else if (frame->kind != Frame::pong) {
      if ((frame->kind == Frame::more) != in_parts_) return closed("parts are in disorder");
      if (!in_parts_) partial_kind_ = frame->kind;
      in_parts_ = !frame->last;
      partial_ += frame->payload;
      if (partial_.size() > kMostMessage) return closed("a message is too long");
      if (in_parts_) continue;
      std::string whole = std::move(partial_);
      partial_.clear();
      if (partial_kind_ == Frame::text) return Message{Message::Kind::text, std::move(whole)};
    }
  }
  if (!frames_.broken().empty()) return closed(frames_.broken());
  return std::nullopt;
}

WebSocket::Message WebSocket::read(Duration longest) {
  if (!line_) return closed("it is not open");
  const auto deadline = SteadyClock::now() + longest;
  for (bool looked = false;; looked = true) {
    if (auto message = next_message()) return std::move(*message);
    // No flood of pings keeps it here.
    if (looked && SteadyClock::now() >= deadline) return {Message::Kind::timeout, ""};
    const auto bytes = line_->receive(deadline);
    if (!bytes) return closed("the connection was lost");
    if (bytes->empty()) return {Message::Kind::timeout, ""};
    heard_ = SteadyClock::now();
    frames_.add(*bytes);
  }
}

bool WebSocket::write(WebSocketFrame::Kind kind, std::string_view payload) {
  if (!line_) return false;
  const bool sent = line_->transmit(to_bytes({kind, true, std::string(payload)}, new_mask()));
  if (!sent) line_.reset();  // Half a frame may be out: nothing can follow it.
  return sent;
}

bool WebSocket::send(std::string_view text) { return write(WebSocketFrame::text, text); }

bool WebSocket::ping() { return write(WebSocketFrame::ping, ""); }

void WebSocket::close() {
  constexpr std::string_view kNormal("\x03\xe8", 2);
  if (line_) (void)write(WebSocketFrame::close, kNormal);
  line_.reset();
}

Duration WebSocket::silence() const {
  return std::chrono::floor<Duration>(SteadyClock::now() - heard_);
}

}  // namespace holdpoint
