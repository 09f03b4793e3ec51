#include "cli/terminal_text.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>

namespace holdpoint::cli {
namespace {

struct Char {
  std::uint32_t code = 0;
  std::size_t bytes = 1;
};

// The character that starts at `at`; a byte that starts none stands for itself.
Char char_at(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) -> std::uint32_t {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0;
  };
  const std::uint32_t lead = byte(at);
  const std::size_t bytes = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc0 ? 2 : 1;
  if (bytes == 1 || at + bytes > text.size()) return {lead, 1};
  std::uint32_t code = lead & (0xffu >> (bytes + 1));
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((byte(at + i) & 0xc0) != 0x80) return {lead, 1};
    code = code << 6 | (byte(at + i) & 0x3f);
  }
  return {code, bytes};
}

bool turns_text(std::uint32_t code) {
  return (code >= 0x202a && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
}

bool steers(std::uint32_t code) {
  return code < 0x20 || (code >= 0x7f && code <= 0x9f) || turns_text(code);
}

struct Range {
  std::uint32_t first, last;
};

template <std::size_t N>
bool is_in(const std::array<Range, N>& ranges, std::uint32_t code) {
  const auto it = std::lower_bound(ranges.begin(), ranges.end(), code,
                                   [](const Range& r, std::uint32_t c) { return r.last < c; });
  return it != ranges.end() && it->first <= code;
}

// Marks that sit on the character before them, and what has no shape at all.
constexpr std::array<Range, 22> kNoColumn{
    {{0x300, 0x36f},   {0x483, 0x489},    {0x591, 0x5bd},   {0x610, 0x61a},   {0x64b, 0x65f},
     {0x6d6, 0x6dc},   {0x900, 0x902},    {0x93c, 0x93c},   {0x941, 0x948},   {0x94d, 0x94d},
     {0xe31, 0xe31},   {0xe34, 0xe3a},    {0xe47, 0xe4e},   {0x1ab0, 0x1aff}, {0x1dc0, 0x1dff},
     {0x200b, 0x200f}, {0x2028, 0x202e},  {0x2060, 0x206f}, {0x20d0, 0x20ff}, {0xfe00, 0xfe0f},
     {0xfeff, 0xfeff}, {0xe0000, 0xe0fff}}};

// East Asian characters and emoji.
constexpr std::array<Range, 38> kTwoColumns{
    {{0x1100, 0x115f}, {0x231a, 0x231b},   {0x23e9, 0x23ec},  {0x23f0, 0x23f0}, {0x23f3, 0x23f3},
     {0x25fd, 0x25fe}, {0x2614, 0x2615},   {0x2648, 0x2653},  {0x267f, 0x267f}, {0x2693, 0x2693},
     {0x26a1, 0x26a1}, {0x26aa, 0x26ab},   {0x26bd, 0x26be},  {0x26c4, 0x26c5}, {0x26ce, 0x26ce},
     {0x26d4, 0x26d4}, {0x26ea, 0x26ea},   {0x26f2, 0x26fd},  {0x2705, 0x2705}, {0x270a, 0x270b},
     {0x2728, 0x2728}, {0x274c, 0x274e},   {0x2753, 0x2757},  {0x2795, 0x2797}, {0x27b0, 0x27bf},
     {0x2b1b, 0x2b1c}, {0x2b50, 0x2b55},   {0x2e80, 0x303e},  {0x3041, 0x4dbf}, {0x4e00, 0xa4cf},
     {0xa960, 0xa97c}, {0xac00, 0xd7a3},   {0xf900, 0xfaff},  {0xfe30, 0xfe6f}, {0xff00, 0xff60},
     {0xffe0, 0xffe6}, {0x1f300, 0x1faff}, {0x20000, 0x3fffd}}};

std::size_t columns_of(std::uint32_t code) {
  if (is_in(kNoColumn, code)) return 0;
  return is_in(kTwoColumns, code) ? 2 : 1;
}

// How many bytes of `text` take at most `most` columns.
std::size_t bytes_within(std::string_view text, std::size_t most) {
  std::size_t columns = 0;
  for (std::size_t i = 0; i < text.size();) {
    const Char c = char_at(text, i);
    columns += columns_of(c.code);
    if (columns > most) return i;
    i += c.bytes;
  }
  return text.size();
}

// Breaks one line, which is printable.
void wrap_line(std::string_view line, std::size_t most, std::vector<std::string>& out) {
  while (true) {
    const std::size_t room = bytes_within(line, most);
    if (room == line.size()) break;
    const auto space = line.substr(0, room + 1).rfind(' ');
    std::size_t end = space == std::string_view::npos || space == 0 ? room : space;
    if (end == 0) end = char_at(line, 0).bytes;  // Wider than the screen: cut where it is drawn.
    out.emplace_back(line.substr(0, end));
    line.remove_prefix(end);
    while (line.starts_with(' ')) line.remove_prefix(1);
  }
  out.emplace_back(line);
}

}  // namespace

std::string printable(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    const Char c = char_at(text, i);
    if (c.code < 0x20) {
      out += ' ';
    } else if (!steers(c.code)) {
      out.append(text.substr(i, c.bytes));
    }
    i += c.bytes;
  }
  return out;
}

std::string printable_json(std::string_view json) {
  std::string out;
  for (std::size_t i = 0; i < json.size();) {
    const Char c = char_at(json, i);
    if (steers(c.code) && c.code >= 0x20) {
      char escape[8];
      std::snprintf(escape, sizeof escape, "\\u%04x", c.code & 0xffffu);
      out += escape;
    } else {
      out.append(json.substr(i, c.bytes));
    }
    i += c.bytes;
  }
  return out;
}

std::size_t columns_of(std::string_view text) {
  std::size_t columns = 0;
  for (std::size_t i = 0; i < text.size();) {
    const Char c = char_at(text, i);
    columns += columns_of(c.code);
    i += c.bytes;
  }
  return columns;
}

std::string fit(std::string_view text, std::size_t most) {
  if (bytes_within(text, most) == text.size()) return std::string(text);
  if (most == 0) return "";
  return std::string(text.substr(0, bytes_within(text, most - 1))) + "…";
}

std::vector<std::string> wrap(std::string_view text, std::size_t most) {
  std::vector<std::string> lines;
  most = std::max<std::size_t>(most, 1);
  while (true) {
    const auto end = std::min(text.find('\n'), text.size());
    wrap_line(printable(text.substr(0, end)), most, lines);
    if (end == text.size()) return lines;
    text.remove_prefix(end + 1);
  }
}

}  // namespace holdpoint::cli
