#include "json_scan.h"

#include <cstddef>

namespace holdpoint::bench {
namespace {

constexpr std::string_view kSpace = " \t\r\n";

std::size_t skip_space(std::string_view json, std::size_t at) {
  const auto next = json.find_first_not_of(kSpace, at);
  return next == std::string_view::npos ? json.size() : next;
}

std::size_t skip_string(std::string_view json, std::size_t at) {
  for (++at; at < json.size(); ++at) {
    if (json[at] == '\\') {
      ++at;
    } else if (json[at] == '"') {
      return at + 1;
    }
  }
  return json.size();
}

std::size_t skip_nested(std::string_view json, std::size_t at) {
  int depth = 0;
  while (at < json.size()) {
    const char c = json[at];
    if (c == '"') {
      at = skip_string(json, at);
      continue;
    }
    if (c == '{' || c == '[') ++depth;
    if (c == '}' || c == ']') --depth;
    ++at;
    if (depth == 0) break;
  }
  return at;
}

std::size_t skip_value(std::string_view json, std::size_t at) {
  if (at >= json.size()) return json.size();
  if (json[at] == '"') return skip_string(json, at);
  if (json[at] == '{' || json[at] == '[') return skip_nested(json, at);
  const auto end = json.find_first_of(",]} \t\r\n", at);
  return end == std::string_view::npos ? json.size() : end;
}

}  // namespace

std::string_view member(std::string_view json, std::string_view key) {
  auto at = skip_space(json, 0);
  if (at >= json.size() || json[at] != '{') return {};
  at = skip_space(json, at + 1);
  while (at < json.size() && json[at] == '"') {
    const auto name_end = skip_string(json, at);
    const auto name = text_of(json.substr(at, name_end - at));
    at = skip_space(json, name_end);
    if (at >= json.size() || json[at] != ':') return {};
    at = skip_space(json, at + 1);
    const auto value_end = skip_value(json, at);
    if (name == key) return json.substr(at, value_end - at);
    at = skip_space(json, value_end);
    if (at >= json.size() || json[at] != ',') return {};
    at = skip_space(json, at + 1);
  }
  return {};
}

std::string_view first_element(std::string_view json) {
  auto at = skip_space(json, 0);
  if (at >= json.size() || json[at] != '[') return {};
  at = skip_space(json, at + 1);
  if (at >= json.size() || json[at] == ']') return {};
  return json.substr(at, skip_value(json, at) - at);
}

std::string_view text_of(std::string_view raw) {
  if (raw.size() < 2 || raw.front() != '"' || raw.back() != '"') return {};
  return raw.substr(1, raw.size() - 2);
}

}  // namespace holdpoint::bench
