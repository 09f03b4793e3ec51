#include "wire/form.h"

#include <cctype>

#include "domain/bad_request.h"
#include "domain/text.h"

namespace holdpoint {
namespace {

constexpr std::size_t kMaxFields = 100;

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  const char lower = static_cast<char>(c | 0x20);
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

std::string decode(std::string_view text, bool plus_is_space) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out += plus_is_space && text[i] == '+' ? ' ' : text[i];
      continue;
    }
    const int high = i + 1 < text.size() ? hex_digit(text[i + 1]) : -1;
    const int low = i + 2 < text.size() ? hex_digit(text[i + 2]) : -1;
    if (high < 0 || low < 0) throw Unreadable("body", "is not a form: a % without two hex digits");
    out += static_cast<char>(high * 16 + low);
    i += 2;
  }
  if (!is_clean_utf8(out)) throw Unreadable("body", "is not a form in UTF-8");
  return out;
}

}  // namespace

Form Form::parse(std::string_view body) {
  Form form;
  while (!body.empty()) {
    const auto end = body.find('&');
    const std::string_view pair = body.substr(0, end);
    body.remove_prefix(end == std::string_view::npos ? body.size() : end + 1);
    if (pair.empty()) continue;
    if (form.fields_.size() == kMaxFields) throw Unreadable("body", "has more than 100 fields");
    const auto equals = pair.find('=');
    form.fields_.emplace(
        decode(pair.substr(0, equals), true),
        equals == std::string_view::npos ? "" : decode(pair.substr(equals + 1), true));
  }
  return form;
}

std::string Form::text(const std::string& name) const {
  const auto it = fields_.lower_bound(name);
  return it == fields_.end() || it->first != name ? "" : it->second;
}

std::vector<std::string> Form::texts(const std::string& name) const {
  std::vector<std::string> values;
  const auto [begin, end] = fields_.equal_range(name);
  for (auto it = begin; it != end; ++it) values.push_back(it->second);
  return values;
}

std::string escape_url(std::string_view text) {
  constexpr char hex[] = "0123456789ABCDEF";
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) || c == '-' || c == '_' || c == '.' || c == '~') {
      out += c;
    } else {
      out += '%';
      out += hex[byte >> 4];
      out += hex[byte & 15];
    }
  }
  return out;
}

std::string unescape_url(std::string_view text) { return decode(text, false); }

}  // namespace holdpoint
