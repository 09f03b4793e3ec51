#pragma once

#include <toml++/toml.h>

#include <algorithm>
#include <set>

#include "base/secret.h"
#include "settings/settings.h"

namespace holdpoint {

// Looks every value up in the environment, the file and the defaults, and gathers what is wrong.
class Reader {
 public:
  Reader(const std::optional<std::filesystem::path>& file, const Environment& environment);

  const std::filesystem::path& folder() const { return folder_; }
  void complain(const std::string& what) { complaints_.push_back(what); }

  // Says which key of which file is wrong, and the line if it has one.
  void complain(const std::string& section, const std::string& key, const std::string& what);

  std::string text(const std::string& section, const std::string& key);

  bool flag(const std::string& section, const std::string& key);

  std::int64_t number(const std::string& section, const std::string& key, std::int64_t least,
                      std::int64_t most);

  // A list of texts, or one text; from the environment separated by commas.
  std::vector<std::string> texts(const std::string& section, const std::string& key);
  std::vector<Secret> secrets(const std::string& section, const std::string& key);

  Secret secret(const std::string& section, const std::string& key);

  // A URL that may hold a password, and may stand elsewhere because of it.
  Secret address(const std::string& section, const std::string& key);

  // A table of texts.
  std::map<std::string, std::string> texts_by_name(const std::string& section,
                                                   const std::string& key);

  // A table of texts that are secrets.
  std::map<std::string, Secret> secrets_by_name(const std::string& section, const std::string& key);

  // A table of lists of numbers.
  std::map<std::string, std::vector<double>> numbers_by_name(const std::string& section,
                                                             const std::string& key);

  bool has(const std::string& section, const std::string& key) const;

  // The names of all [llm.<name>], in the defaults or in the file.
  const std::set<std::string>& services() const { return services_; }

  std::vector<std::string> take_shown() { return std::move(shown_); }

  void finish();

 private:
  void show(const std::string& section, const std::string& key, const std::string& value);
  std::string read_text(const std::string& section, const std::string& key);
  std::vector<std::string> read_texts(const std::string& section, const std::string& key);
  std::optional<std::string> from_environment(const std::string& section,
                                              const std::string& key) const;
  // `llm.<name>` is a section within a section.
  static toml::node_view<const toml::node> in(const toml::table& all, const std::string& section,
                                              const std::string& key);
  // In the file, else in the defaults.
  toml::node_view<const toml::node> find(const std::string& section, const std::string& key) const;
  // The entries of an inline table.
  const toml::table& table(const std::string& section, const std::string& key);
  static std::string variable(std::string_view section, std::string_view key);
  void read_file(const std::filesystem::path& file);

  // A variable that begins like one of ours and is none is a typing error, not noise.
  void refuse_unknown_variables();
  void refuse_unknown();
  void refuse_unknown_services(const toml::table& services);
  void refuse_unknown_keys(const std::string& section, const toml::table& keys,
                           const toml::table& known);
  // `file:line: `
  std::string at(const toml::node& node) const;
  const toml::table& service_keys() const;
  void find_services();

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
