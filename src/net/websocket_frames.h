#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace holdpoint {

// The frames of WebSocket (RFC 6455) as bytes. Pure.
struct WebSocketFrame {
  enum Kind : std::uint8_t { more = 0, text = 1, binary = 2, close = 8, ping = 9, pong = 10 };
  Kind kind = text;
  bool last = true;  // Of its message.
  std::string payload;
};

// A frame from a client, whose bytes are XORed with four that are not to be foreseen; from a server
// without a mask.
std::string to_bytes(const WebSocketFrame& frame, std::optional<std::uint32_t> mask);

// Takes bytes as they come, and gives frames.
class WebSocketFrames {
 public:
  // `masked`: they come from a client.
  WebSocketFrames(bool masked, std::size_t max_payload)
      : masked_(masked), max_payload_(max_payload) {}

  void add(std::string_view bytes) { bytes_.append(bytes); }
  // Nothing while the next one is not all there, or once the other side broke the rules.
  std::optional<WebSocketFrame> next();
  // Why nothing more will come; empty while all is well.
  const std::string& broken() const { return broken_; }

 private:
  std::optional<WebSocketFrame> refuse(const char* reason);

  bool masked_;
  std::size_t max_payload_;
  std::string bytes_;
  std::string broken_;
};

}  // namespace holdpoint
