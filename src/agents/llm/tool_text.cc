#include "agents/llm/tool_text.h"

#include "domain/text.h"

namespace holdpoint {
namespace {

// How many bytes the character at the front has if it is whole and no NUL; else 0.
std::size_t clean_length(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text[0]);
  const std::size_t length = lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
  return is_clean_utf8(text.substr(0, length)) ? length : 0;
}

}  // namespace

std::string tool_text(std::string_view text, bool is_cut) {
  std::string out;
  std::size_t chars = 0;
  while (!text.empty() && chars < kMaxToolChars) {
    const std::size_t length = clean_length(text);
    out += length ? text.substr(0, length) : "\uFFFD";
    text.remove_prefix(length ? length : 1);
    ++chars;
  }
  if (!text.empty() || is_cut) {
    out += "\n[cut: the tool said more than " + std::to_string(chars) + " characters]";
  }
  return out;
}

}  // namespace holdpoint
