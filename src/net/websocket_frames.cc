#include "net/websocket_frames.h"

namespace holdpoint {
namespace {

constexpr std::size_t kMostControl = 125;

bool is_control(std::uint8_t kind) { return (kind & 8) != 0; }

bool is_known(std::uint8_t kind) {
  return kind <= WebSocketFrame::binary ||
         (kind >= WebSocketFrame::close && kind <= WebSocketFrame::pong);
}

void apply_mask(std::string& payload, const std::string& mask) {
  for (std::size_t i = 0; i < payload.size(); ++i) {
    payload[i] = static_cast<char>(payload[i] ^ mask[i % 4]);
  }
}

std::string big_endian(std::uint64_t number, int bytes) {
  std::string out;
  while (bytes-- > 0) out += static_cast<char>(number >> (8 * bytes) & 0xff);
  return out;
}

}  // namespace

std::string to_bytes(const WebSocketFrame& frame, std::optional<std::uint32_t> mask) {
  const std::size_t size = frame.payload.size();
  const int wide = size > 0xffff ? 8 : size > kMostControl ? 2 : 0;
  const auto length = static_cast<std::uint8_t>(wide == 8 ? 127 : wide == 2 ? 126 : size);
  std::string out;
  out += static_cast<char>((frame.last ? 0x80 : 0) | frame.kind);
  out += static_cast<char>((mask ? 0x80 : 0) | length);
  out += big_endian(size, wide);
  if (!mask) return out + frame.payload;
  const std::string key = big_endian(*mask, 4);
  std::string payload = frame.payload;
  apply_mask(payload, key);
  return out + key + payload;
}

std::optional<WebSocketFrame> WebSocketFrames::refuse(const char* reason) {
  broken_ = reason;
  bytes_.clear();
  return std::nullopt;
}

std::optional<WebSocketFrame> WebSocketFrames::next() {
  const auto byte = [this](std::size_t i) { return static_cast<std::uint8_t>(bytes_[i]); };
  if (!broken_.empty() || bytes_.size() < 2) return std::nullopt;
  const auto kind = static_cast<std::uint8_t>(byte(0) & 0x0f);
  if ((byte(0) & 0x70) != 0) return refuse("a frame has an extension that was not agreed on");
  if (!is_known(kind)) return refuse("a frame is of no known kind");
  if (((byte(1) & 0x80) != 0) != masked_) return refuse("a frame has the wrong mask");
  const std::uint8_t length = byte(1) & 0x7f;
  if (is_control(kind) && (length > kMostControl || (byte(0) & 0x80) == 0)) {
    return refuse("a control frame is too long or in parts");
  }
  const std::size_t wide = length == 127 ? 8 : length == 126 ? 2 : 0;
  const std::size_t head = 2 + wide + (masked_ ? 4 : 0);
  if (bytes_.size() < head) return std::nullopt;
  std::uint64_t size = wide == 0 ? length : 0;
  for (std::size_t i = 0; i < wide; ++i) size = size << 8 | byte(2 + i);
  if (size > max_payload_) return refuse("a frame is too long");
  if (bytes_.size() - head < size) return std::nullopt;
  WebSocketFrame frame;
  frame.kind = static_cast<WebSocketFrame::Kind>(kind);
  frame.last = (byte(0) & 0x80) != 0;
  frame.payload = bytes_.substr(head, size);
  if (masked_) apply_mask(frame.payload, bytes_.substr(head - 4, 4));
  bytes_.erase(0, head + size);
  return frame;
}

}  // namespace holdpoint
