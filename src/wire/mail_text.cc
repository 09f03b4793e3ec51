#include "wire/mail_text.h"

#include <gmime/gmime.h>

#include <algorithm>
#include <array>
#include <memory>

#include "domain/text.h"
#include "wire/gmime.h"

namespace holdpoint {
namespace {

std::string from_latin1(std::string_view bytes) {
  std::string out;
  out.reserve(bytes.size());
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x80) {
      out += c;
    } else {
      out += static_cast<char>(0xc0 | byte >> 6);
      out += static_cast<char>(0x80 | (byte & 0x3f));
    }
  }
  return out;
}

std::string without(std::string text, std::string_view unwanted) {
  std::erase_if(text, [&](char c) { return unwanted.find(c) != std::string_view::npos; });
  return text;
}

std::string convert(std::string_view bytes, const std::string& charset) {
  use_gmime();
  const char* name = g_mime_charset_iconv_name(charset.c_str());
  const std::unique_ptr<char, void (*)(void*)> text(
      g_convert(bytes.data(), static_cast<gssize>(bytes.size()), "UTF-8", name ? name : "", nullptr,
                nullptr, nullptr),
      g_free);
  return text ? std::string(text.get()) : from_latin1(bytes);
}

}  // namespace

std::string to_utf8(std::string_view bytes, const std::string& charset) {
  const std::string plain = without(std::string(bytes), std::string_view("\0\r", 2));
  const std::string name = lower_case(charset);
  // Many say one of these and mean the other, or say nothing; UTF-8 is hardly ever anything else.
  const bool ascii = name.empty() || name == "us-ascii" || name == "utf-8" || name == "utf8" ||
                     name == "unknown-8bit" || name == "ascii";
  if (ascii) return is_clean_utf8(plain) ? plain : from_latin1(plain);
  // As browsers do: who says Latin-1 means Windows' more of the same.
  const bool latin = name == "iso-8859-1" || name == "latin1";
  // UTF-16 is full of NULs.
  return mend_utf8(without(convert(bytes, latin ? "windows-1252" : name), "\r"));
}

std::string cut_utf8(std::string text, std::size_t most) {
  if (text.size() <= most) return text;
  while (most > 0 && (static_cast<unsigned char>(text[most]) & 0xc0) == 0x80) --most;
  text.resize(most);
  return text;
}

std::string mend_utf8(std::string_view text) {
  const std::string plain = without(std::string(text), std::string_view("\0", 1));
  if (is_clean_utf8(plain)) return plain;
  const std::unique_ptr<char, void (*)(void*)> valid(
      g_utf8_make_valid(plain.data(), static_cast<gssize>(plain.size())), g_free);
  return valid.get();
}

std::string join_flowed(std::string_view text, bool delete_space) {
  std::string out;
  std::size_t open_depth = 0;
  bool open = false;  // The last line goes on in the next.
  while (!text.empty()) {
    const auto end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    const auto depth = std::min(line.find_first_not_of('>'), line.size());
    line.remove_prefix(depth);
    if (line.starts_with(' ')) line.remove_prefix(1);
    const bool signature = line == "-- ";
    const bool joins = open && depth == open_depth && !signature;
    if (!joins && !out.empty()) out += '\n';
    if (!joins && depth > 0) out.append(depth, '>').append(" ");
    open = line.ends_with(' ') && !signature;
    open_depth = depth;
    if (open && delete_space) line.remove_suffix(1);
    out.append(line);
  }
  return out;
}

namespace {

struct Entity {
  std::string_view name;
  std::string_view text;
};
constexpr std::array<Entity, 14> kEntities{{{"amp", "&"},
                                            {"lt", "<"},
                                            {"gt", ">"},
                                            {"quot", "\""},
                                            {"apos", "'"},
                                            {"nbsp", " "},
                                            {"rsquo", "’"},
                                            {"lsquo", "‘"},
                                            {"ldquo", "“"},
                                            {"rdquo", "”"},
                                            {"hellip", "…"},
                                            {"ndash", "–"},
                                            {"mdash", "—"},
                                            {"zwnj", ""}}};

std::string utf8_of(unsigned long code) {
  if (code == 0 || code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) return "\xef\xbf\xbd";
  if (code == 0xa0) return " ";
  std::array<char, 6> bytes{};
  const int size = g_unichar_to_utf8(static_cast<gunichar>(code), bytes.data());
  return {bytes.data(), static_cast<std::size_t>(size)};
}

// The text of `name` between & and ;. Nothing known: as it was written.
std::string entity_text(std::string_view name) {
  if (name.starts_with('#') && name.size() > 1) {
    const bool hex = name[1] == 'x' || name[1] == 'X';
    const std::string digits(name.substr(hex ? 2 : 1));
    char* end = nullptr;
    const unsigned long code = std::strtoul(digits.c_str(), &end, hex ? 16 : 10);
    if (!digits.empty() && *end == '\0') return utf8_of(code);
  }
  for (const auto& entity : kEntities) {
    if (entity.name == name) return std::string(entity.text);
  }
  return "&" + std::string(name) + ";";
}

bool is_one_of(std::string_view name, std::string_view names) {
  const auto at = (" " + std::string(names) + " ").find(" " + std::string(name) + " ");
  return !name.empty() && at != std::string::npos;
}

// Writes text as a browser lays it out: white space counts once, blocks stand on lines of their
// own.
class Lines {
 public:
  void add(std::string_view text) {
    for (const char c : text) {
      const bool space = c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f';
      if (!space) out_ += c;
      if (space && !out_.empty() && out_.back() != ' ' && out_.back() != '\n') out_ += ' ';
    }
  }
  void add_raw(std::string_view text) { out_.append(text); }
  void end_line() {
    while (out_.ends_with(' ')) out_.pop_back();
    if (!out_.empty() && !out_.ends_with('\n')) out_ += '\n';
  }
  void break_line() {
    while (out_.ends_with(' ')) out_.pop_back();
    out_ += '\n';
  }
  std::string take() { return std::move(out_); }

 private:
  std::string out_;
};

constexpr std::string_view kHidden = "script style head title template noscript";
constexpr std::string_view kBlocks =
    "p div tr table ul ol li h1 h2 h3 h4 h5 h6 section article header footer pre center address";

// The end of the tag that begins at `at`, past its `>`; quoted attributes may hold one.
std::size_t end_of_tag(std::string_view html, std::size_t at) {
  char quote = 0;
  for (std::size_t i = at + 1; i < html.size(); ++i) {
    const char c = html[i];
    if (quote) {
      if (c == quote) quote = 0;
    } else if ((c == '"' || c == '\'') && html[i - 1] == '=') {
      quote = c;
    } else if (c == '>') {
      return i + 1;
    }
  }
  return html.size();
}

}  // namespace

std::string text_of_html(std::string_view html) {
  Lines lines;
  std::size_t quoted = 0;  // How deep in blockquotes.
  std::size_t at = 0;
  while (at < html.size()) {
    if (html[at] == '<') {
      if (html.substr(at).starts_with("<!--")) {
        const auto end = html.find("-->", at + 4);
        at = end == std::string_view::npos ? html.size() : end + 3;
        continue;
      }
      const auto end = end_of_tag(html, at);
      const bool closes = at + 1 < html.size() && html[at + 1] == '/';
      const auto from = at + (closes ? 2 : 1);
      const auto to = std::min(html.find_first_of(" \t\r\n/>", from), end);
      const std::string name = lower_case(std::string(html.substr(from, to - std::min(from, to))));
      at = end;
      if (is_one_of(name, kHidden)) {
        if (closes) continue;
        // Up to its own end, whatever looks like tags in between.
        while (at < html.size()) {
          const auto close = html.find("</", at);
          if (close == std::string_view::npos) return lines.take();
          at = close + 2;
          if (lower_case(std::string(html.substr(at, name.size()))) == name) break;
        }
        at = end_of_tag(html, at);
      } else if (name == "blockquote") {
        lines.end_line();
        if (closes) {
          if (quoted > 0) --quoted;
        } else if (quoted++ == 0) {
          lines.add_raw(">\n");
        }
      } else if (quoted == 0 && name == "br") {
        lines.break_line();
      } else if (quoted == 0 && name == "hr") {
        lines.end_line();
        lines.add_raw("________________________________\n");
      } else if (quoted == 0 && is_one_of(name, kBlocks)) {
        lines.end_line();
      }
      continue;
    }
    if (html[at] == '&') {
      const auto end = html.find_first_of("; <&\n", at + 1);
      if (end != std::string_view::npos && html[end] == ';' && end - at <= 12) {
        if (quoted == 0) lines.add(entity_text(html.substr(at + 1, end - at - 1)));
        at = end + 1;
        continue;
      }
    }
    const auto end = std::min(html.find_first_of("<&", at + 1), html.size());
    if (quoted == 0) lines.add(html.substr(at, end - at));
    at = end;
  }
  return lines.take();
}

}  // namespace holdpoint
