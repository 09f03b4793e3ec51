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
    refuse_unknown_variables();
    if (!file) return;
    name_ = file->string();
    folder_ = std::filesystem::absolute(*file).parent_path();
    std::error_code unknown;  // The parser complains of a file that is not there.
    const auto size = std::filesystem::file_size(*file, unknown);
    if (!unknown && size > kMaxFileBytes) {
      throw SettingsError(name_ + ": has more than " + std::to_string(kMaxFileBytes) + " bytes");
    }
    try {
      given_ = toml::parse_file(file->string());
    } catch (const toml::parse_error& e) {
      std::ostringstream where;
      where << name_ << ":" << e.source().begin.line << ": " << e.description();
      throw SettingsError(where.str());
    }
    refuse_unknown();
  }

  const std::filesystem::path& folder() const { return folder_; }
  void complain(const std::string& what) { complaints_.push_back(what); }

  // Says which key of which file is wrong, and the line if it has one.
  void complain(const char* section, const char* key, const std::string& what) {
    std::string where;
    if (const auto* node = given_[section][key].node(); node && !from_environment(section, key)) {
      where = name_ + ":" + std::to_string(node->source().begin.line) + ": ";
    }
    complaints_.push_back(where + "[" + section + "] " + key + " " + what);
  }

  std::string text(const char* section, const char* key) {
    std::string value = read_text(section, key);
    show(section, key, "\"" + value + "\"");
    return value;
  }

  bool flag(const char* section, const char* key) {
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

  std::int64_t number(const char* section, const char* key, std::int64_t least, std::int64_t most) {
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
  std::vector<std::string> texts(const char* section, const char* key) {
    const auto values = read_texts(section, key);
    std::string all;
    for (const auto& value : values) all += (all.empty() ? "\"" : ", \"") + value + "\"";
    show(section, key, "[" + all + "]");
    return values;
  }
  std::vector<Secret> secrets(const char* section, const char* key) {
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

  Secret secret(const char* section, const char* key) {
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
  Secret address(const char* section, const char* key) {
    const std::string given = read_text(section, key);
    show(section, key, "\"" + hide_password(given) + "\"");
    try {
      return read_secret(given, folder_);
    } catch (const std::runtime_error& e) {
      complain(section, key, e.what());
    }
    return Secret();
  }

  std::vector<std::string> take_shown() { return std::move(shown_); }

  void finish() {
    if (complaints_.empty()) return;
    std::string all;
    for (const auto& line : complaints_) all += (all.empty() ? "" : "\n") + line;
    throw SettingsError(all);
  }

 private:
  void show(const char* section, const char* key, const std::string& value) {
    shown_.push_back(std::string("[") + section + "] " + key + " = " + value);
  }

  std::string read_text(const char* section, const char* key) {
    if (auto given = from_environment(section, key)) return *given;
    if (const auto* node = find(section, key).as_string()) return node->get();
    complain(section, key, "must be a text");
    return "";
  }

  std::vector<std::string> read_texts(const char* section, const char* key) {
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

  std::optional<std::string> from_environment(const char* section, const char* key) const {
    const auto it = environment_.find(variable(section, key));
    return it == environment_.end() ? std::nullopt : std::optional(it->second);
  }

  toml::node_view<const toml::node> find(const char* section, const char* key) const {
    const toml::table& given = given_;
    if (const auto view = given[section][key]) return view;
    const toml::table& defaults = defaults_;
    return defaults[section][key];
  }

  static std::string variable(std::string_view section, std::string_view key) {
    std::string name = "HOLDPOINT_" + std::string(section) + "_" + std::string(key);
    for (char& c : name) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    return name;
  }

  // A variable that begins like one of ours and is none is a typing error, not noise.
  void refuse_unknown_variables() {
    std::set<std::string> known;
    std::vector<std::string> prefixes;
    for (const auto& [section, content] : defaults_) {
      prefixes.push_back(variable(section.str(), ""));
      for (const auto& [key, value] : *content.as_table()) {
        known.insert(variable(section.str(), key.str()));
      }
    }
    for (const auto& entry : environment_) {
      const std::string& name = entry.first;
      const bool ours = std::any_of(prefixes.begin(), prefixes.end(),
                                    [&](const auto& prefix) { return name.starts_with(prefix); });
      if (ours && !known.count(name)) complain("the environment's " + name + " is no setting");
    }
  }

  void refuse_unknown() {
    for (const auto& [section, content] : given_) {
      const std::string at = name_ + ":" + std::to_string(content.source().begin.line) + ": ";
      const auto* known = defaults_.get(section) ? defaults_.get(section)->as_table() : nullptr;
      if (!known) {
        complain(at + "there is no section [" + std::string(section.str()) + "]");
        continue;
      }
      const auto* keys = content.as_table();
      if (!keys) {
        complain(at + std::string(section.str()) + " must be a section");
        continue;
      }
      for (const auto& [key, value] : *keys) {
        if (known->contains(key)) continue;
        complain(name_ + ":" + std::to_string(value.source().begin.line) + ": [" +
                 std::string(section.str()) + "] has no key \"" + std::string(key.str()) + "\"");
      }
    }
  }

  const Environment& environment_;
  const toml::table defaults_;
  toml::table given_;
  std::string name_;
  std::filesystem::path folder_;
  std::vector<std::string> complaints_;
  std::vector<std::string> shown_;
};

// The sections of the platforms, and what [questions] says of them.
void read_slack(Reader& in, Settings& s);
void read_discord(Reader& in, Settings& s);
void read_email(Reader& in, Settings& s);

}  // namespace holdpoint
