#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/time.h"
#include "net/address_guard.h"
#include "net/websocket_frames.h"

namespace holdpoint {

// A client's end of a WebSocket. Used by one thread at a time.
//
// On libcurl, which makes the connection with the guard, the TLS and the certificates of our other
// calls. cpp-httplib's client takes a silence for an end, and writes to a TLS session it has freed.
class WebSocket {
 public:
  // `cancelled` is asked a few times a second while anything waits; true ends the wait.
  WebSocket(const AddressGuard& guard, std::function<bool()> cancelled);
  ~WebSocket();
  WebSocket(const WebSocket&) = delete;

  // To a ws:// or wss:// URL, within `longest`. What went wrong, without the URL; empty once it is
  // open.
  std::string connect(const std::string& url, Duration longest);

  struct Message {
    enum class Kind { text, timeout, closed };
    Kind kind = Kind::timeout;
    std::string text;  // The message, or why it is closed.
  };
  // The next text; with no time to wait, one that is there. Answers pings meanwhile. What is binary
  // is passed over. Once cancelled, a timeout.
  Message read(Duration longest);

  // False: it is closed.
  bool send(std::string_view text);
  bool ping();
  // Says goodbye and hangs up, without waiting for the other side's.
  void close();

  // For how long nothing at all has come from the other side, not even a ping.
  Duration silence() const;

 private:
  class Line;
  bool write(WebSocketFrame::Kind kind, std::string_view payload);
  Message closed(std::string reason);
  // What has come makes, if it makes one.
  std::optional<Message> next_message();

  const AddressGuard& guard_;
  const std::function<bool()> cancelled_;
  std::unique_ptr<Line> line_;
  WebSocketFrames frames_;
  std::string partial_;  // The parts so far of a message in parts.
  WebSocketFrame::Kind partial_kind_ = WebSocketFrame::text;
  bool in_parts_ = false;
  std::chrono::steady_clock::time_point heard_;
};

}  // namespace holdpoint
