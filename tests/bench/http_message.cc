#include "http_message.h"

#include <charconv>

namespace holdpoint::bench {
namespace {

constexpr std::string_view kHeadEnd = "\r\n\r\n";

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool same_ignoring_case(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i)
    if (lower(a[i]) != lower(b[i])) return false;
  return true;
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

std::string_view take_line(std::string_view* head) {
  const auto end = head->find("\r\n");
  const auto line = head->substr(0, end);
  head->remove_prefix(end == std::string_view::npos ? head->size() : end + 2);
  return line;
}

std::size_t read_length(std::string_view value) {
  std::size_t length = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), length);
  if (error != std::errc() || end != value.data() + value.size())
    throw WireError("bad Content-Length: " + std::string(value));
  return length;
}

}  // namespace

std::optional<Message> read_message(std::string_view bytes) {
  const auto head_size = bytes.find(kHeadEnd);
  if (head_size == std::string_view::npos) return std::nullopt;
  auto head = bytes.substr(0, head_size);

  Message message;
  message.start_line = take_line(&head);
  std::optional<std::size_t> length;
  while (!head.empty()) {
    const auto line = take_line(&head);
    const auto colon = line.find(':');
    if (colon == std::string_view::npos) throw WireError("bad header: " + std::string(line));
    const auto name = line.substr(0, colon);
    const auto value = trimmed(line.substr(colon + 1));
    if (same_ignoring_case(name, "content-length")) {
      length = read_length(value);
    } else if (same_ignoring_case(name, "transfer-encoding")) {
      throw WireError("Transfer-Encoding is not understood: " + std::string(value));
    } else if (same_ignoring_case(name, "connection")) {
      message.close = same_ignoring_case(value, "close");
    }
  }
  if (!length && message.start_line.starts_with("HTTP/"))
    throw WireError("a response without Content-Length: " + std::string(message.start_line));

  const auto body_at = head_size + kHeadEnd.size();
  message.size = body_at + length.value_or(0);
  if (bytes.size() < message.size) return std::nullopt;
  message.body = bytes.substr(body_at, length.value_or(0));
  return message;
}

int read_status(std::string_view start_line) {
  const auto space = start_line.find(' ');
  int status = 0;
  if (start_line.starts_with("HTTP/1.") && space != std::string_view::npos)
    std::from_chars(start_line.data() + space + 1, start_line.data() + start_line.size(), status);
  if (status < 100) throw WireError("bad status line: " + std::string(start_line));
  return status;
}

std::string get_request(const std::string& host, const std::string& target) {
  return "GET " + target + " HTTP/1.1\r\nHost: " + host + "\r\n\r\n";
}

std::string post_request(const std::string& host, const std::string& target,
                         const std::string& body) {
  return "POST " + target + " HTTP/1.1\r\nHost: " + host +
         "\r\nContent-Type: application/json\r\nContent-Length: " + std::to_string(body.size()) +
         "\r\n\r\n" + body;
}

}  // namespace holdpoint::bench
