#include "agents/front_matter.h"

#include "agents/yaml_json.h"
#include "domain/bad_request.h"
#include "domain/text.h"
#include "wire/json.h"

namespace holdpoint {
namespace {

bool is_header_name(const std::string& text) {
  return !text.empty() && text.size() <= 100 &&
         text.find_first_not_of(
             "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
             "!#$%&'*+-.^_`|~") == std::string::npos;
}

// Those that belong to the call itself.
bool is_our_header(const std::string& lower) {
  static const std::set<std::string> ours{"host",
                                          "connection",
                                          "content-length",
                                          "transfer-encoding",
                                          "idempotency-key",
                                          "mcp-session-id",
                                          "mcp-protocol-version"};
  return ours.count(lower) != 0;
}

bool is_header_value(const std::string& text) {
  if (text.empty()) return false;
  for (const char c : text) {
    if ((static_cast<unsigned char>(c) < 0x20 && c != '\t') || c == 0x7f) return false;
  }
  return true;
}

}  // namespace

void FrontMatter::fail(const YAML::Node& at, const std::string& reason) const {
  // A value that is not there has the mark of what follows it; its key knows better.
  for (const auto& item : root_) {
    if (item.second && item.second.is(at)) fail_at(item.first.Mark().line, reason);
  }
  fail_at(at.Mark().line, reason);
}

void FrontMatter::fail_at(int line, const std::string& reason) const {
  throw DefinitionError(file_.string() + ":" + std::to_string(first_line_ + line) + ": " + reason);
}

YAML::Node FrontMatter::get(const std::string& key) {
  used_.insert(key);
  return root_[key];
}

std::optional<std::string> FrontMatter::text(const std::string& key) {
  const YAML::Node node = get(key);
  if (!node) return std::nullopt;
  if (!node.IsScalar() || node.Scalar().empty()) fail(node, path(key) + " must be a text");
  return scalar(node, key);
}

std::vector<std::string> FrontMatter::texts(const std::string& key, bool one_allowed) {
  const YAML::Node node = get(key);
  std::vector<std::string> values;
  if (!node) return values;
  if (one_allowed && node.IsScalar()) return {scalar(node, key)};
  if (!node.IsSequence()) fail(node, path(key) + " must be a list");
  for (const auto& item : node) {
    if (!item.IsScalar()) fail(item, path(key) + " must be a list of texts");
    values.push_back(scalar(item, key));
  }
  return values;
}

std::optional<std::int64_t> FrontMatter::number(const std::string& key, std::int64_t least,
                                                std::int64_t most) {
  const auto found = value<std::int64_t>(key, "a whole number");
  if (found && (*found < least || *found > most)) {
    fail(get(key), path(key) + " must be " + std::to_string(least) + " to " + std::to_string(most));
  }
  return found;
}

std::optional<FrontMatter> FrontMatter::section(const std::string& key) {
  const YAML::Node node = get(key);
  if (!node) return std::nullopt;
  if (!node.IsMap()) fail(node, path(key) + " must be keys and values");
  return FrontMatter(file_, node, first_line_, path(key));
}

std::vector<FrontMatter> FrontMatter::sections(const std::string& key) {
  const YAML::Node node = get(key);
  std::vector<FrontMatter> found;
  if (!node) return found;
  if (!node.IsSequence()) fail(node, path(key) + " must be a list");
  for (const auto& item : node) {
    const std::string at = path(key) + "[" + std::to_string(found.size()) + "]";
    if (!item.IsMap()) fail(item, at + " must be keys and values");
    found.push_back(FrontMatter(file_, item, first_line_, at));
  }
  return found;
}

std::map<std::string, Secret> FrontMatter::headers(const std::string& key,
                                                   const std::filesystem::path& folder) {
  std::map<std::string, Secret> headers;
  auto values = section(key);
  if (!values) return headers;
  std::set<std::string> seen;
  for (const auto& item : values->root_) {
    const std::string name = item.first.Scalar();
    if (!is_header_name(name)) {
      fail(item.first, path(key) + ": a header's name has letters, digits and - _ only");
    }
    if (!seen.insert(lower_case(name)).second) {
      fail(item.first, path(key) + ": the header " + name + " is there twice");
    }
    if (is_our_header(lower_case(name))) {
      fail(item.first, path(key) + ": the header " + name + " is set by us: leave it out");
    }
    if (!item.second.IsScalar()) fail(item.first, values->path(name) + " must be a text");
    try {
      Secret value = read_secret(values->scalar(item.second, name), folder);
      if (!is_header_value(value.reveal())) {
        throw std::runtime_error("must be a text of one line without control characters");
      }
      headers.emplace(name, std::move(value));
    } catch (const DefinitionError&) {
      throw;
    } catch (const std::runtime_error& e) {
      fail(item.first, values->path(name) + ": " + e.what());
    }
  }
  return headers;
}

std::optional<std::string> FrontMatter::json(const std::string& key) {
  const YAML::Node node = get(key);
  if (!node) return std::nullopt;
  try {
    std::string text = yaml_to_json(node);
    check_json(text, path(key));
    return text;
  } catch (const YamlNotJson& e) {
    fail_at(e.line(), path(key) + " " + e.what());
  } catch (const BadRequest& e) {
    fail(node, e.field() + " " + e.what());
  }
}

void FrontMatter::refuse_unknown() const {
  std::set<std::string> seen;
  for (const auto& item : root_) {
    const std::string key = item.first.Scalar();
    if (!seen.insert(key).second) fail(item.first, "the key \"" + path(key) + "\" is there twice");
    if (used_.count(key)) continue;
    fail(item.first, "unknown key \"" + path(key) + "\"");
  }
}

std::string FrontMatter::scalar(const YAML::Node& node, const std::string& key) const {
  if (!is_clean_utf8(node.Scalar())) fail(node, path(key) + " must be UTF-8 without NUL");
  return node.Scalar();
}

}  // namespace holdpoint
