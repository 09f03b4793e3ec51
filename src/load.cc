#include "load.h"

#include <unistd.h>

namespace holdpoint {

Settings read_settings(const std::optional<std::filesystem::path>& file) {
  Environment environment;
  for (char** entry = environ; *entry; ++entry) {
    const std::string_view text = *entry;
    const auto equals = text.find('=');
    if (equals == std::string_view::npos) continue;
    environment.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  return load_settings(file, environment);
}

}  // namespace holdpoint
