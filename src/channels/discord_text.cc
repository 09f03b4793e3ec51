#include "channels/discord_text.h"

#include <algorithm>

namespace holdpoint {
namespace {

constexpr std::string_view kEllipsis = "…";
constexpr std::size_t kLongestAddress = 500;

// One character of UTF-8; a byte that begins none counts as one, since it will be mended into one.
struct Character {
  std::string_view bytes;
  char32_t code = 0xfffd;
  std::size_t units() const { return bytes.size() == 4 ? 2 : 1; }
};

Character character_at(std::string_view text, std::size_t at) {
  const auto lead = static_cast<unsigned char>(text[at]);
  if (lead < 0x80) return {text.substr(at, 1), lead};
  const std::size_t size = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc0 ? 2 : 1;
  if (size == 1 || at + size > text.size()) return {text.substr(at, 1)};
  char32_t code = lead & (0xffU >> (size + 1));
  for (std::size_t i = 1; i < size; ++i) {
    const auto more = static_cast<unsigned char>(text[at + i]);
    if ((more & 0xc0) != 0x80) return {text.substr(at, 1)};
    code = code << 6 | (more & 0x3f);
  }
  return {text.substr(at, size), code};
}

bool is_within(std::string_view set, char c) { return set.find(c) != std::string_view::npos; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) || c == '_';
}
bool ends_line(char32_t c) {
  return (c >= 0x0a && c <= 0x0d) || c == 0x85 || c == 0x2028 || c == 0x2029;
}
bool is_control(char32_t c) { return c < 0x20 || (c >= 0x7f && c < 0xa0); }
bool is_seen(char32_t c) {
  const bool space = c <= 0x20 || (c >= 0x7f && c <= 0xa0) || c == 0xad || c == 0x034f ||
                     c == 0x061c || c == 0x115f || c == 0x1160 || c == 0x1680 || c == 0x17b4 ||
                     c == 0x17b5 || (c >= 0x180b && c <= 0x180f) || (c >= 0x2000 && c <= 0x200f) ||
                     (c >= 0x2028 && c <= 0x202f) || (c >= 0x205f && c <= 0x206f) || c == 0x2800 ||
                     c == 0x3000 || c == 0x3164 || (c >= 0xfe00 && c <= 0xfe0f) || c == 0xfeff ||
                     c == 0xffa0 || (c >= 0xe0000 && c <= 0xe0fff);
  return !space;
}

// The address of the web that begins here; empty if none does, or if a character of it could be
// taken for markdown: then it is a text like any other.
std::string_view address_at(std::string_view text, std::size_t at) {
  const std::string_view rest = text.substr(at);
  if (at > 0 && is_word(text[at - 1])) return {};
  if (!rest.starts_with("http://") && !rest.starts_with("https://")) return {};
  const auto address = rest.substr(0, rest.find_first_of(" \t\r\n<"));
  const bool plain = std::all_of(address.begin(), address.end(), [](char c) {
    return is_word(c) || is_within("-./:?#@!$&'()+,;=%", c);
  });
  return plain && address.size() <= kLongestAddress && address.size() > 8 ? address
                                                                          : std::string_view{};
}

// `:name:` becomes a picture.
bool is_shortcode(std::string_view rest) {
  std::size_t end = 1;
  while (end < rest.size() && (is_word(rest[end]) || is_within("+-~", rest[end]))) ++end;
  return end > 1 && end < rest.size() && rest[end] == ':';
}

// What a line has had so far; some characters mean something only there.
enum class Begun { nothing, number, text };

bool needs_escape(std::string_view text, std::size_t at, Begun begun) {
  const char c = text[at];
  const std::string_view rest = text.substr(at);
  const bool then_space = rest.size() == 1 || is_within(" \t\r\n", rest[1]);
  if (is_within("\\*_~`|<>[]#", c)) return true;
  if (c == '@') return rest.starts_with("@everyone") || rest.starts_with("@here");
  if (c == ':') return rest.starts_with("://") || is_shortcode(rest);
  if (c == '-' || c == '+') {
    return begun == Begun::nothing && (then_space || rest[1] == '#');
  }
  if (c == '.' || c == ')') return begun == Begun::number && then_space;
  return false;
}

}  // namespace

std::size_t discord_length(std::string_view text) {
  std::size_t units = 0;
  for (std::size_t at = 0; at < text.size();) {
    const Character c = character_at(text, at);
    units += c.units();
    at += c.bytes.size();
  }
  return units;
}

DiscordText discord_escape(std::string_view text, std::size_t most) {
  DiscordText out;
  std::size_t length = 0;
  std::size_t room_for_mark = 0;  // Bytes of `out` after which `…` still fits.
  Begun begun = Begun::nothing;
  for (std::size_t at = 0; at < text.size();) {
    const Character c = character_at(text, at);
    std::string piece(c.bytes);
    std::size_t taken = c.bytes.size(), units = c.units();
    if (const auto address = address_at(text, at); !address.empty()) {
      piece = address;
      taken = units = address.size();
      begun = Begun::text;
    } else if (ends_line(c.code)) {
      if (text.substr(at).starts_with("\r\n")) taken = 2;
      piece = "\n";
      begun = Begun::nothing;
    } else if (is_control(c.code)) {
      piece = " ";
    } else {
      if (c.bytes.size() == 1 && needs_escape(text, at, begun)) {
        piece.insert(0, "\\");
        ++units;
      }
      const bool digit = c.bytes.size() == 1 && is_digit(text[at]);
      if (is_seen(c.code)) begun = digit && begun != Begun::text ? Begun::number : Begun::text;
    }
    if (length + units > most) {
      out.text.resize(room_for_mark);
      if (most > 0) out.text += kEllipsis;
      out.cut = true;
      return out;
    }
    out.text += piece;
    length += units;
    at += taken;
    if (length < most) room_for_mark = out.text.size();
  }
  return out;
}

std::string discord_line(std::string_view text) {
  std::string line;
  for (std::size_t at = 0; at < text.size();) {
    const Character c = character_at(text, at);
    at += c.bytes.size();
    if (c.code == ' ' || is_control(c.code) || ends_line(c.code)) {
      if (!line.empty() && line.back() != ' ') line += ' ';
    } else {
      line += c.bytes;
    }
  }
  if (line.ends_with(' ')) line.pop_back();
  return line;
}

DiscordText discord_label(std::string_view text, std::size_t most, std::string_view otherwise) {
  const std::string line = discord_line(text);
  DiscordText out;
  bool seen = false;
  std::size_t length = 0, room_for_mark = 0;
  for (std::size_t at = 0; at < line.size();) {
    const Character c = character_at(line, at);
    if (length + c.units() > most) {
      out.text.resize(room_for_mark);
      out.text += kEllipsis;
      out.cut = true;
      return out;
    }
    seen = seen || is_seen(c.code);
    out.text += c.bytes;
    length += c.units();
    at += c.bytes.size();
    if (length < most) room_for_mark = out.text.size();
  }
  if (!seen) out.text = otherwise;
  return out;
}

}  // namespace holdpoint
