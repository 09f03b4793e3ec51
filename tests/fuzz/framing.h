#pragma once

#include <algorithm>
#include <string>
#include <string_view>

// A second reading of HTTP's framing, as plain as the grammar, to compare the server's with.
namespace holdpoint {

enum class Reading { complete, incomplete, broken };

// The line at `at`, which moves past its CRLF; of one that is not complete, what is there.
inline Reading read_line(std::string_view bytes, std::size_t& at, std::string_view& line) {
  const auto ends_line = [](char c) { return (c >= 0 && c < ' ' && c != '\t') || c == 0x7f; };
  const auto end =
      std::find_if(bytes.begin() + static_cast<std::ptrdiff_t>(at), bytes.end(), ends_line);
  line = bytes.substr(at, static_cast<std::size_t>(end - bytes.begin()) - at);
  const std::string_view rest = bytes.substr(at + line.size());
  if (rest.empty() || rest == "\r") return Reading::incomplete;
  if (!rest.starts_with("\r\n")) return Reading::broken;
  at += line.size() + 2;
  return Reading::complete;
}

struct Chunks {
  Reading reading = Reading::incomplete;
  std::string body;
  std::size_t end = 0;  // Where the next request begins, once complete.
};

inline Chunks read_chunks(std::string_view bytes) {
  Chunks chunks;
  const auto stop = [&](Reading reading) {
    chunks.reading = reading;
    return chunks;
  };
  std::size_t at = 0, size = 0;
  std::string_view line;
  do {
    const std::size_t start = at;
    const Reading reading = read_line(bytes, at, line);
    const auto digits = std::min(line.find_first_not_of("0123456789abcdefABCDEF"), line.size());
    if (digits > 8 || (digits == 0 && start < bytes.size())) return stop(Reading::broken);
    if (digits < line.size() && line[digits] != ';') return stop(Reading::broken);
    if (reading != Reading::complete) return stop(reading);
    size = std::stoul(std::string(line.substr(0, digits)), nullptr, 16);
    if (size == 0) break;
    chunks.body.append(bytes.substr(at, size));
    at += std::min(size, bytes.size() - at);
    const std::string_view rest = bytes.substr(at, 2);
    if (rest != "\r\n") {
      return stop(rest.empty() || rest == "\r" ? Reading::incomplete : Reading::broken);
    }
    at += 2;
  } while (true);
  do {
    const Reading reading = read_line(bytes, at, line);
    if (reading != Reading::complete) return stop(reading);
  } while (!line.empty());
  chunks.end = at;
  return stop(Reading::complete);
}

}  // namespace holdpoint
