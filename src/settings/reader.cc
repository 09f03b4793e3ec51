#include "settings/reader.h"

#include <charconv>
#include <sstream>

#include "base/embedded.h"

namespace holdpoint {
namespace {

// toml++ recurses as deep as a key has dots: a file of 64 KiB can end the stack.
constexpr std::uintmax_t kMaxFileBytes = 32768;

}  // namespace

Reader::Reader(const std::optional<std::filesystem::path>& file, const Environment& environment)
    : environment_(environment), defaults_(toml::parse(embedded::settings_example_toml)) {
  folder_ = std::filesystem::current_path();
  if (file) read_file(*file);
  find_services();
  refuse_unknown_variables();
  refuse_unknown();
}

void Reader::complain(const std::string& section, const std::string& key, const std::string& what) {
  std::string where;
  if (const auto* node = in(given_, section, key).node(); node && !from_environment(section, key)) {
    where = name_ + ":" + std::to_string(node->source().begin.line) + ": ";
  }
  complaints_.push_back(where + "[" + section + "] " + key + " " + what);
}

std::string Reader::text(const std::string& section, const std::string& key) {
  std::string value = read_text(section, key);
  show(section, key, "\"" + value + "\"");
  return value;
}

bool Reader::flag(const std::string& section, const std::string& key) {
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

std::int64_t Reader::number(const std::string& section, const std::string& key, std::int64_t least,
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
    complain(section, key, "must be from " + std::to_string(least) + " to " + std::to_string(most));
  }
  return value;
}

std::vector<std::string> Reader::texts(const std::string& section, const std::string& key) {
  const auto values = read_texts(section, key);
  std::string all;
  for (const auto& value : values) all += (all.empty() ? "\"" : ", \"") + value + "\"";
  show(section, key, "[" + all + "]");
  return values;
}

std::vector<Secret> Reader::secrets(const std::string& section, const std::string& key) {
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

Secret Reader::secret(const std::string& section, const std::string& key) {
  const std::string given = read_text(section, key);
  show(section, key, given.empty() ? "\"\"" : "***");
  try {
    return given.empty() ? Secret() : read_secret(given, folder_);
  } catch (const std::runtime_error& e) {
    complain(section, key, e.what());
  }
  return Secret();
}

Secret Reader::address(const std::string& section, const std::string& key) {
  const std::string given = read_text(section, key);
  show(section, key, "\"" + hide_password(given) + "\"");
  try {
    return read_secret(given, folder_);
  } catch (const std::runtime_error& e) {
    complain(section, key, e.what());
  }
  return Secret();
}

std::map<std::string, std::string> Reader::texts_by_name(const std::string& section,
                                                         const std::string& key) {
  std::map<std::string, std::string> values;
  std::string all;
  for (const auto& [name, node] : table(section, key)) {
    const auto* text = node.as_string();
    if (!text) {
      complain(section, key, "has a " + std::string(name.str()) + " that is no text");
      continue;
    }
    values.emplace(name.str(), text->get());
    all += (all.empty() ? " " : ", ") + std::string(name.str()) + " = \"" + text->get() + "\"";
  }
  show(section, key, "{" + all + (all.empty() ? "}" : " }"));
  return values;
}

std::map<std::string, Secret> Reader::secrets_by_name(const std::string& section,
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

std::map<std::string, std::vector<double>> Reader::numbers_by_name(const std::string& section,
                                                                   const std::string& key) {
  std::map<std::string, std::vector<double>> values;
  std::ostringstream all;
  for (const auto& [name, node] : table(section, key)) {
    auto& numbers = values[std::string(name.str())];
    all << (values.size() > 1 ? ", " : " ") << name.str() << " = [";
    const auto* list = node.as_array();
    for (std::size_t i = 0; list && i < list->size(); ++i) {
      const auto number = list->get(i)->value<double>();
      if (!number) {
        complain(section, key, "holds what is no number");
        continue;
      }
      numbers.push_back(*number);
      all << (i ? ", " : "") << *number;
    }
    all << "]";
  }
  show(section, key, "{" + all.str() + (values.empty() ? "}" : " }"));
  return values;
}

bool Reader::has(const std::string& section, const std::string& key) const {
  return from_environment(section, key) || find(section, key);
}

void Reader::finish() {
  if (complaints_.empty()) return;
  std::string all;
  for (const auto& line : complaints_) all += (all.empty() ? "" : "\n") + line;
  throw SettingsError(all);
}

void Reader::show(const std::string& section, const std::string& key, const std::string& value) {
  shown_.push_back("[" + section + "] " + key + " = " + value);
}

std::string Reader::read_text(const std::string& section, const std::string& key) {
  if (auto given = from_environment(section, key)) return *given;
  if (const auto* node = find(section, key).as_string()) return node->get();
  complain(section, key, "must be a text");
  return "";
}

std::vector<std::string> Reader::read_texts(const std::string& section, const std::string& key) {
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

std::optional<std::string> Reader::from_environment(const std::string& section,
                                                    const std::string& key) const {
  const auto it = environment_.find(variable(section, key));
  return it == environment_.end() ? std::nullopt : std::optional(it->second);
}

toml::node_view<const toml::node> Reader::in(const toml::table& all, const std::string& section,
                                             const std::string& key) {
  if (section.starts_with(kServices)) return all["llm"][section.substr(kServices.size())][key];
  return all[section][key];
}

toml::node_view<const toml::node> Reader::find(const std::string& section,
                                               const std::string& key) const {
  if (const auto view = in(given_, section, key)) return view;
  if (const auto view = in(defaults_, section, key)) return view;
  // A service of the user's own: as the one that is there for its kind of API.
  if (key == "api" || !section.starts_with(kServices)) return {};
  const auto own = from_environment(section, "api");
  const std::string api = own ? *own : find(section, "api").value_or(std::string());
  return in(defaults_, std::string(kServices) + (api == "anthropic" ? api : "openai"), key);
}

const toml::table& Reader::table(const std::string& section, const std::string& key) {
  static const toml::table none;
  const auto* entries = find(section, key).as_table();
  if (!entries) complain(section, key, "must be a table, like { name = … }");
  return entries ? *entries : none;
}

std::string Reader::variable(std::string_view section, std::string_view key) {
  std::string name = "HOLDPOINT_" + std::string(section) + "_" + std::string(key);
  for (char& c : name) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  std::replace(name.begin(), name.end(), '.', '_');
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

void Reader::read_file(const std::filesystem::path& file) {
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

}  // namespace holdpoint
