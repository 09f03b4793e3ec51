#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace holdpoint {

// The fields of an HTML form.
class Form {
 public:
  // Throws Unreadable if the body is not `application/x-www-form-urlencoded`, holds a NUL or
  // broken UTF-8, or has more than 100 fields.
  static Form parse(std::string_view body);
  // The field's value, empty if it is not there; the first if it is there more than once.
  std::string text(const std::string& name) const;
  std::vector<std::string> texts(const std::string& name) const;
  const std::multimap<std::string, std::string>& fields() const { return fields_; }

 private:
  std::multimap<std::string, std::string> fields_;
};

// A part of a path, query or form, escaped; and what it stands for. Throws Unreadable.
std::string escape_url(std::string_view text);
std::string unescape_url(std::string_view text);

}  // namespace holdpoint
