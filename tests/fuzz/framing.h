#pragma once

#include <optional>
#include <string>
#include <string_view>

// A second reading of HTTP's framing, as plain as the grammar, to compare the server's with.
namespace holdpoint {

// What chunks hold, as far as they go; nothing if they are not framed to the letter.
struct Chunks {
  std::string body;
  bool complete = false;  // The last chunk was there; trailers may follow.
};

inline std::optional<Chunks> read_chunks(std::string_view bytes) {
  const auto begins_like = [](std::string_view text, std::string_view start) {
    return start.starts_with(text.substr(0, start.size()));
  };
  Chunks chunks;
  while (true) {
    const std::size_t digits =
        std::min(bytes.find_first_not_of("0123456789abcdefABCDEF"), bytes.size());
    if (digits > 8) return std::nullopt;
    if (digits == bytes.size()) return chunks;
    if (digits == 0 || (bytes[digits] != ';' && bytes[digits] != '\r')) return std::nullopt;
    const std::size_t size = std::stoul(std::string(bytes.substr(0, digits)), nullptr, 16);
    const std::size_t end = bytes.find_first_of("\r\n", digits);
    if (end == std::string_view::npos) return chunks;
    bytes.remove_prefix(end);
    if (!begins_like(bytes, "\r\n")) return std::nullopt;
    if (bytes.size() <= 2) return chunks;
    bytes.remove_prefix(2);
    if (size == 0) {
      chunks.complete = true;
      return chunks;
    }
    chunks.body.append(bytes.substr(0, size));
    if (bytes.size() <= size) return chunks;
    bytes.remove_prefix(size);
    if (!begins_like(bytes, "\r\n")) return std::nullopt;
    if (bytes.size() <= 2) return chunks;
    bytes.remove_prefix(2);
  }
}

}  // namespace holdpoint
