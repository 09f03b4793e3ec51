#pragma once

#include <yaml-cpp/yaml.h>

#include <stdexcept>
#include <string>

namespace holdpoint {

// There is no JSON for it, or too much; `line` counts from the document's first, from 0.
class YamlNotJson : public std::runtime_error {
 public:
  YamlNotJson(int line, const std::string& reason) : std::runtime_error(reason), line_(line) {}
  int line() const { return line_; }

 private:
  int line_;
};

// The same value as JSON, members in their order. Plain scalars that read as JSON numbers, true,
// false, null or nothing are such; everything else, and all that is quoted, is a string.
// Aliases are written out: whoever nests them gets YamlNotJson, not gigabytes.
std::string yaml_to_json(const YAML::Node& node);

}  // namespace holdpoint
