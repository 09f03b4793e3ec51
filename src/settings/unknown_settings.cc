// What the reader refuses: settings that are none.
#include "settings/reader.h"

namespace holdpoint {

void Reader::refuse_unknown_variables() {
  std::set<std::string> known;
  std::vector<std::string> prefixes;
  const auto know = [&](const std::string& section, const toml::table& keys) {
    for (const auto& [key, value] : keys) {
      if (!value.is_table()) known.insert(variable(section, key.str()));
    }
  };
  for (const auto& [section, content] : defaults_) {
    prefixes.push_back(variable(section.str(), ""));
    if (section.str() != "llm") know(std::string(section.str()), *content.as_table());
  }
  for (const auto& service : services_) know(std::string(kServices) + service, service_keys());
  for (const auto& entry : environment_) {
    const std::string& name = entry.first;
    const bool ours = std::any_of(prefixes.begin(), prefixes.end(),
                                  [&](const auto& prefix) { return name.starts_with(prefix); });
    if (ours && !known.count(name)) complain("the environment's " + name + " is no setting");
  }
}

void Reader::refuse_unknown() {
  for (const auto& [section, content] : given_) {
    const std::string name(section.str());
    const auto* known = defaults_.get(section) ? defaults_.get(section)->as_table() : nullptr;
    const auto* keys = content.as_table();
    if (!known) {
      complain(at(content) + "there is no section [" + name + "]");
    } else if (!keys) {
      complain(at(content) + name + " must be a section");
    } else if (name == "llm") {
      refuse_unknown_services(*keys);
    } else {
      refuse_unknown_keys(name, *keys, *known);
    }
  }
}

void Reader::refuse_unknown_services(const toml::table& services) {
  for (const auto& [name, content] : services) {
    const std::string section = std::string(kServices) + std::string(name.str());
    if (const auto* keys = content.as_table()) {
      refuse_unknown_keys(section, *keys, service_keys());
    } else {
      complain(at(content) + section + " must be a section");
    }
  }
}

void Reader::refuse_unknown_keys(const std::string& section, const toml::table& keys,
                                 const toml::table& known) {
  for (const auto& [key, value] : keys) {
    if (known.contains(key)) continue;
    complain(at(value) + "[" + section + "] has no key \"" + std::string(key.str()) + "\"");
  }
}

std::string Reader::at(const toml::node& node) const {
  return name_ + ":" + std::to_string(node.source().begin.line) + ": ";
}

const toml::table& Reader::service_keys() const {
  return *defaults_.get("llm")->as_table()->get("openai")->as_table();
}

void Reader::find_services() {
  for (const toml::table& all : {std::cref(defaults_), std::cref(given_)}) {
    const auto* services = all["llm"].as_table();
    if (!services) continue;
    for (const auto& [name, content] : *services) {
      if (content.is_table()) services_.emplace(name.str());
    }
  }
}

}  // namespace holdpoint
