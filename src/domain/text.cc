#include "domain/text.h"

namespace holdpoint {

std::size_t count_chars(std::string_view text) {
  std::size_t count = 0;
  for (const char c : text) count += (static_cast<unsigned char>(c) & 0xc0) != 0x80;
  return count;
}

bool is_blank(std::string_view text) {
  return text.find_first_not_of(" \t\r\n\f\v") == std::string_view::npos;
}

std::string lower_case(std::string text) {
  for (char& c : text) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return text;
}

std::string shorten(std::string_view text, std::size_t most) {
  if (count_chars(text) <= most) return std::string(text);
  std::size_t chars = 0, end = 0;
  for (; end < text.size(); ++end) {
    if ((static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) continue;
    if (++chars == most) break;
  }
  return std::string(text.substr(0, end)) + "…";
}

}  // namespace holdpoint
