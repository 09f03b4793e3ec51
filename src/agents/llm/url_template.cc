#include "agents/llm/url_template.h"

namespace holdpoint {

std::vector<std::string> UrlTemplate::names() const {
  std::vector<std::string> names;
  for (const auto& part : parts_) {
    if (!part.name.empty()) names.push_back(part.name);
  }
  return names;
}

bool UrlTemplate::only_after_host() const {
  std::string before;
  for (const auto& part : parts_) {
    before += part.text;
    if (part.name.empty()) break;
    const auto scheme = before.find("://");
    if (scheme == std::string::npos ||
        before.find_first_of("/?", scheme + 3) == std::string::npos ||
        before.find('#') != std::string::npos) {
      return false;
    }
  }
  return true;
}

std::string UrlTemplate::fill(
    const std::function<std::string(const std::string& name)>& value_of) const {
  std::string url;
  for (const auto& part : parts_) {
    url += part.text;
    if (!part.name.empty()) url += value_of(part.name);
  }
  return url;
}

std::optional<UrlTemplate> parse_url_template(const std::string& url) {
  UrlTemplate parsed;
  std::size_t at = 0;
  while (true) {
    const auto open = url.find_first_of("{}", at);
    if (open == std::string::npos) break;
    const auto close = url.find_first_of("{}", open + 1);
    if (url[open] != '{' || close == std::string::npos || url[close] != '}' || close == open + 1) {
      return std::nullopt;
    }
    parsed.parts_.push_back({url.substr(at, open - at), url.substr(open + 1, close - open - 1)});
    at = close + 1;
  }
  parsed.parts_.push_back({url.substr(at), ""});
  return parsed;
}

}  // namespace holdpoint
