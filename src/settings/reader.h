#pragma once

#include <toml++/toml.h>

#include <algorithm>
#include <charconv>
#include <set>
#include <sstream>

#include "base/embedded.h"
#include "base/secret.h"
#include "settings/settings.h"

namespace holdpoint {

// toml++ recurses as deep as a key has dots: a file of 64 KiB can end the stack.
inline constexpr std::uintmax_t kMaxFileBytes = 32768;

// Looks every value up in the environment, the file and the defaults, and gathers what is wrong.
class Reader {
 public:
  Reader(const std::optional<std::filesystem::path>& file, const Environment& environment)
      : environment_(environment), defaults_(toml::parse(embedded::settings_example_toml)) {
    folder_ = std::filesystem::current_path();
    if (file) read_file(*file);
    find_services();
    refuse_unknown_variables();
    refuse_unknown();
  }

  const std::filesystem::path& folder() const { return folder_; }
  void complain(const std::string& what) { complaints_.push_back(what); }

  // Says which key of which file is wrong, and the line if it has one.
  void complain(const std::string& section, const std::string& key, const std::string& what) {
    std::string where;
    if (const auto* node = in(given_, section, key).node();
        node && !from_environment(section, key)) {
      where = name_ + ":" + std::to_string(node->source().begin.line) + ": ";
    }
    complaints_.push_back(where + "[" + section + "] " + key + " " + what);
  }

  std::string text(const std::string& section, const std::string& key) {
    std::string value = read_text(section, key);
    show(section, key, "\"" + value + "\"");
    return value;
  }

  bool flag(const std::string& section, const std::string& key) {
    bool value = false;
    if (const auto given = from_environment(section, key)) {
      value = *given == "true";
      if (!value && *given != "false") complain(section, key, "must be true or false");
    } else if (const auto* node = find(section, key).as_boolean()) {
      value = node->get();
    } else {
      complain(section, key, "must be true or false");
    }
    show(section, key, value ? "true" : "false");
    return value;
  }

  std::int64_t number(const std::string& section, const std::string& key, std::int64_t least,
                      std::int64_t most) {
    std::int64_t value = least;
    if (const auto given = from_environment(section, key)) {
      const char* end = given->data() + given->size();
      const auto [stop, error] = std::from_chars(given->data(), end, value);
      if (error != std::errc{} || stop != end) complain(section, key, "must be a whole number");
    } else if (const auto* node = find(section, key).as_integer()) {
      value = node->get();
    } else {
      complain(section, key, "must be a whole number");
      return least;
    }
    show(section, key, std::to_string(value));
    if (value < least || value > most) {
      complain(section, key,
               "must be from " + std::to_string(least) + " to " + std::to_string(most));
    }
    return value;
  }

  // A list of texts, or one text; from the environment separated by commas.
  std::vector<std::string> texts(const std::string& section, const std::string& key) {
    const auto values = read_texts(section, key);
    std::string all;
    for (const auto& value : values) all += (all.empty() ? "\"" : ", \"") + value + "\"";
    show(section, key, "[" + all + "]");
    return values;
  }
  std::vector<Secret> secrets(const std::string& section, const std::string& key) {
    std::vector<Secret> values;
    std::string all;
    for (const auto& text : read_texts(section, key)) {
      try {
        values.push_back(read_secret(text, folder_));
      } catch (const std::runtime_error& e) {
        complain(section, key, e.what());
      }
      all += all.empty() ? "***" : ", ***";
    }
    show(section, key, "[" + all + "]");
    return values;
  }

  Secret secret(const std::string& section, const std::string& key) {
    const std::string given = read_text(section, key);
    show(section, key, given.empty() ? "\"\"" : "***");
    try {
      return given.empty() ? Secret() : read_secret(given, folder_);
    } catch (const std::runtime_error& e) {
      complain(section, key, e.what());
    }
    return Secret();
  }

  // A URL that may hold a password, and may stand elsewhere because of it.
  Secret address(const std::string& section, const std::string& key) {
    const std::string given = read_text(section, key);
    show(section, key, "\"" + hide_password(given) + "\"");
    try {
      return read_secret(given, folder_);
    } catch (const std::runtime_error& e) {
      complain(section, key, e.what());
    }
    return Secret();
  }

  // A table of texts.
  std::map<std::string, std::string> texts_by_name(const std::string& section,
                                                   const std::string& key) {
    std::map<std::string, std::string> values;
    std::string all;
    for (const auto& [name, node] : table(section, key)) {
      const auto* text = node.as_string();
      if (!text) complain(section, key, "has a " + std::string(name.str()) + " that is no text");
      if (text) values.emplace(name.str(), text->get());
      if (text)
        all += (all.empty() ? " " : ", ") + std::string(name.str()) + " = \"" + text->get() + "\"";
    }
    show(section, key, "{" + all + (all.empty() ? "}" : " }"));
    return values;
  }

  // A table of texts that are secrets.
  std::map<std::string, Secret> secrets_by_name(const std::string& section,
                                                const std::string& key) {
    std::map<std::string, Secret> values;
    std::string all;
    for (const auto& [name, node] : table(section, key)) {
      try {
        const auto* text = node.as_string();
        if (!text) throw std::runtime_error("is no text");
        values.emplace(name.str(), read_secret(text->get(), folder_));
      } catch (const std::runtime_error& e) {
        complain(section, key, "has a " + std::string(name.str()) + ": " + e.what());
      }
      all += (all.empty() ? " " : ", ") + std::string(name.str()) + " = ***";
    }
    show(section, key, "{" + all + (all.empty() ? "}" : " }"));
    return values;
  }

  // A table of lists of numbers.
  std::map<std::string, std::vector<double>> numbers_by_name(const std::string& section,
                                                             const std::string& key) {
    std::map<std::string, std::vector<double>> values;
    std::ostringstream all;
    for (const auto& [name, node] : table(section, key)) {
      auto& numbers = values[std::string(name.str())];
      all << (values.size() > 1 ? ", " : " ") << name.str() << " = [";
      const auto* list = node.as_array();
      for (std::size_t i = 0; list && i < list->size(); ++i) {
        const auto number = list->get(i)->value<double>();
        if (!number) complain(section, key, "holds what is no number");
        if (number) numbers.push_back(*number);
        if (number) all << (i ? ", " : "") << *number;
      }
      all << "]";
    }
    show(section, key, "{" + all.str() + (values.empty() ? "}" : " }"));
    return values;
  }

  bool has(const std::string& section, const std::string& key) const {
    return from_environment(section, key) || find(section, key);
  }

  // The names of all [llm.<name>], in the defaults or in the file.
  const std::set<std::string>& services() const { return services_; }

  std::vector<std::string> take_shown() { return std::move(shown_); }

  void finish() {
    if (complaints_.empty()) return;
    std::string all;
    for (const auto& line : complaints_) all += (all.empty() ? "" : "\n") + line;
    throw SettingsError(all);
  }

 private:
  void show(const std::string& section, const std::string& key, const std::string& value) {
    shown_.push_back("[" + section + "] " + key + " = " + value);
  }

  std::string read_text(const std::string& section, const std::string& key) {
    if (auto given = from_environment(section, key)) return *given;
    if (const auto* node = find(section, key).as_string()) return node->get();
    complain(section, key, "must be a text");
    return "";
  }

  std::vector<std::string> read_texts(const std::string& section, const std::string& key) {
    std::vector<std::string> values;
    if (const auto given = from_environment(section, key)) {
      std::istringstream in(*given);
      for (std::string part; std::getline(in, part, ',');) {
        if (!part.empty()) values.push_back(part);
      }
      return values;
    }
    const auto view = find(section, key);
    if (const auto* one = view.as_string()) {
      if (!one->get().empty()) values.push_back(one->get());
      return values;
    }
    const auto* list = view.as_array();
    if (!list) complain(section, key, "must be a list of texts");
    for (std::size_t i = 0; list && i < list->size(); ++i) {
      if (const auto* item = list->get(i)->as_string()) {
        values.push_back(item->get());
      } else {
        complain(section, key, "must be a list of texts");
      }
    }
    return values;
  }

  std::optional<std::string> from_environment(const std::string& section,
                                              const std::string& key) const {
    const auto it = environment_.find(variable(section, key));
    return it == environment_.end() ? std::nullopt : std::optional(it->second);
  }

  // `llm.<name>` is a section within a section.
  static toml::node_view<const toml::node> in(const toml::table& all, const std::string& section,
                                              const std::string& key) {
    if (section.starts_with(kServices)) return all["llm"][section.substr(kServices.size())][key];
    return all[section][key];
  }

  toml::node_view<const toml::node> find(const std::string& section, const std::string& key) const {
    if (const auto view = in(given_, section, key)) return view;
    if (const auto view = in(defaults_, section, key)) return view;
    // A service of the user's own: as the one that is there for its kind of API.
    if (key == "api" || !section.starts_with(kServices)) return {};
    const auto own = from_environment(section, "api");
    const std::string api = own ? *own : find(section, "api").value_or(std::string());
    return in(defaults_, std::string(kServices) + (api == "anthropic" ? api : "openai"), key);
  }

  // The entries of an inline table.
  const toml::table& table(const std::string& section, const std::string& key) {
    static const toml::table none;
    const auto* entries = find(section, key).as_table();
    if (!entries) complain(section, key, "must be a table, like { name = … }");
    return entries ? *entries : none;
  }

  static std::string variable(std::string_view section, std::string_view key) {
    std::string name = "HOLDPOINT_" + std::string(section) + "_" + std::string(key);
    for (char& c : name) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    std::replace(name.begin(), name.end(), '.', '_');
    std::replace(name.begin(), name.end(), '-', '_');
    return name;
  }

  void read_file(const std::filesystem::path& file) {
    name_ = file.string();
    folder_ = std::filesystem::absolute(file).parent_path();
    std::error_code unknown;  // The parser complains of a file that is not there.
    const auto size = std::filesystem::file_size(file, unknown);
    if (!unknown && size > kMaxFileBytes) {
      throw SettingsError(name_ + ": has more than " + std::to_string(kMaxFileBytes) + " bytes");
    }
    try {
      given_ = toml::parse_file(file.string());
    } catch (const toml::parse_error& e) {
      std::ostringstream where;
      where << name_ << ":" << e.source().begin.line << ": " << e.description();
      throw SettingsError(where.str());
    }
  }

  // A variable that begins like one of ours and is none is a typing error, not noise.
  void refuse_unknown_variables() {
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

  void refuse_unknown() {
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

  void refuse_unknown_services(const toml::table& services) {
    for (const auto& [name, content] : services) {
      const std::string section = std::string(kServices) + std::string(name.str());
      if (const auto* keys = content.as_table()) {
        refuse_unknown_keys(section, *keys, service_keys());
      } else {
        complain(at(content) + section + " must be a section");
      }
    }
  }

  void refuse_unknown_keys(const std::string& section, const toml::table& keys,
                           const toml::table& known) {
    for (const auto& [key, value] : keys) {
      if (known.contains(key)) continue;
      complain(at(value) + "[" + section + "] has no key \"" + std::string(key.str()) + "\"");
    }
  }

  std::string at(const toml::node& node) const {
    return name_ + ":" + std::to_string(node.source().begin.line) + ": ";
  }

  const toml::table& service_keys() const {
    return *defaults_.get("llm")->as_table()->get("openai")->as_table();
  }

  void find_services() {
    for (const toml::table& all : {std::cref(defaults_), std::cref(given_)}) {
      const auto* services = all["llm"].as_table();
      if (!services) continue;
      for (const auto& [name, content] : *services) {
        if (content.is_table()) services_.emplace(name.str());
      }
    }
  }

  static constexpr std::string_view kServices = "llm.";

  const Environment& environment_;
  const toml::table defaults_;
  toml::table given_;
  std::set<std::string> services_;
  std::string name_;
  std::filesystem::path folder_;
  std::vector<std::string> complaints_;
  std::vector<std::string> shown_;
};

// The sections of the platforms, and what [questions] says of them.
void read_slack(Reader& in, Settings& s);
void read_discord(Reader& in, Settings& s);
void read_email(Reader& in, Settings& s);

// [budgets] and every [llm.<name>].
void read_models(Reader& in, Settings& s);

}  // namespace holdpoint
