#include "channels/slack_text.h"

#include <algorithm>

#include "domain/text.h"

namespace holdpoint {
namespace {

bool is_continuation(char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; }

// What the character that begins with this byte counts as; later bytes of it count nothing.
std::size_t cost_of(char c) {
  if (is_continuation(c)) return 0;
  if (c == '&') return 5;
  if (c == '<' || c == '>') return 4;
  return static_cast<unsigned char>(c) >= 0xf0 ? 2 : 1;
}

// Whether `@` and what follows would call everybody.
bool calls_everybody(std::string_view after_at) {
  for (const std::string_view word : {"here", "channel", "everyone", "group"}) {
    if (lower_case(std::string(after_at.substr(0, word.size()))) == word) return true;
  }
  return false;
}

}  // namespace

std::string escape_slack(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    switch (text[i]) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '@':
        out += '@';
        // A word joiner, which nobody sees: Slack's old way of reading mentions may be on.
        if (calls_everybody(text.substr(i + 1))) out += "\u2060";
        break;
      default:
        out += text[i];
    }
  }
  return out;
}

std::size_t slack_length(std::string_view text) {
  std::size_t length = 0;
  for (const char c : text) length += cost_of(c);
  return length;
}

std::string on_one_line(std::string_view text) {
  std::string out(text);
  std::replace_if(
      out.begin(), out.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20; }, ' ');
  return out;
}

std::string SlackCutter::operator()(std::string_view text, std::size_t most) {
  if (slack_length(text) <= most) return std::string(text);
  has_cut_ = true;
  std::size_t length = 1, end = 0;  // The `…`.
  for (; end < text.size(); ++end) {
    length += cost_of(text[end]);
    if (length > most) break;
  }
  return std::string(text.substr(0, end)) + "…";
}

}  // namespace holdpoint
