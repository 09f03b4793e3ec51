#pragma once

#include <yaml-cpp/yaml.h>

#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "agents/definition.h"
#include "base/secret.h"

namespace holdpoint {

// Reads the keys of an agent's front matter, or of a map inside it; every complaint is a
// DefinitionError that names the file and the line.
class FrontMatter {
 public:
  // `root` is a map, and its text begins at `first_line` of the file.
  FrontMatter(std::filesystem::path file, const YAML::Node& root, int first_line)
      : FrontMatter(std::move(file), root, first_line, "") {}

  [[noreturn]] void fail(const YAML::Node& at, const std::string& reason) const;
  // The line counts from the front matter's first.
  [[noreturn]] void fail_at(int line, const std::string& reason) const;

  // The value as it is; its key is known from now on.
  YAML::Node get(const std::string& key);
  std::optional<std::string> text(const std::string& key);
  std::vector<std::string> texts(const std::string& key, bool one_allowed);
  template <class T>
  std::optional<T> value(const std::string& key, const char* what) {
    const YAML::Node node = get(key);
    if (!node) return std::nullopt;
    try {
      return node.as<T>();
    } catch (const YAML::Exception&) {
      fail(node, path(key) + " must be " + what);
    }
  }
  std::optional<std::int64_t> number(const std::string& key, std::int64_t least, std::int64_t most);
  // The map that the key holds, and those of a list of maps: to be read like this one.
  std::optional<FrontMatter> section(const std::string& key);
  std::vector<FrontMatter> sections(const std::string& key);
  // Names of HTTP headers, and what may be `env:NAME` or `file:path` of `folder`.
  std::map<std::string, Secret> headers(const std::string& key,
                                        const std::filesystem::path& folder);
  // The value as JSON text, in the order it is written; nothing if it is not there.
  std::optional<std::string> json(const std::string& key);
  void refuse_unknown() const;

  // How complaints name the key: `tools[0].http.url`.
  std::string path(const std::string& key) const { return at_.empty() ? key : at_ + "." + key; }
  const std::string& at() const { return at_; }
  const YAML::Node& root() const { return root_; }

 private:
  FrontMatter(std::filesystem::path file, const YAML::Node& root, int first_line, std::string at)
      : file_(std::move(file)), root_(root), first_line_(first_line), at_(std::move(at)) {}
  // Escapes can bring in what the file itself may not hold; a command would be cut at a NUL.
  std::string scalar(const YAML::Node& node, const std::string& key) const;

  std::filesystem::path file_;
  YAML::Node root_;
  int first_line_;
  std::string at_;
  std::set<std::string> used_;
};

}  // namespace holdpoint
