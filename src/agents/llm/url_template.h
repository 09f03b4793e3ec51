#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace holdpoint {

// A URL in which `{name}` stands for a value.
class UrlTemplate {
 public:
  std::vector<std::string> names() const;
  // Whether no placeholder may change where the call goes, or stand behind a `#`.
  bool only_after_host() const;
  // Each value goes in as `value_of` gives it.
  std::string fill(const std::function<std::string(const std::string& name)>& value_of) const;

 private:
  friend std::optional<UrlTemplate> parse_url_template(const std::string& url);
  struct Part {
    std::string text;  // What stands before the placeholder.
    std::string name;  // Empty in the last.
  };
  std::vector<Part> parts_;
};

// Nothing if a brace is no part of a placeholder.
std::optional<UrlTemplate> parse_url_template(const std::string& url);

}  // namespace holdpoint
