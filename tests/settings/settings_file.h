#pragma once

#include <fstream>
#include <string>

#include "settings/settings.h"
#include "tests/support/temp_dir.h"

namespace holdpoint::test {

// A settings file in a folder of its own.
class SettingsFile {
 public:
  explicit SettingsFile(const std::string& text) { std::ofstream(path()) << text; }
  std::filesystem::path path() const { return dir.path() / "holdpoint.toml"; }
  Settings load(const Environment& environment = {}) const {
    return load_settings(path(), environment);
  }
  // What is wrong with it, with FILE in the place of its path; empty if nothing is.
  std::string complaint(const Environment& environment = {}) const {
    try {
      load(environment);
    } catch (const SettingsError& e) {
      std::string text = e.what();
      const std::string name = path().string();
      for (auto at = text.find(name); at != std::string::npos; at = text.find(name)) {
        text.replace(at, name.size(), "FILE");
      }
      return text;
    }
    return "";
  }
  const TempDir dir;
};

}  // namespace holdpoint::test
