#pragma once

#include <filesystem>
#include <optional>

#include "settings/settings.h"

namespace holdpoint {

// The settings as the file, if any, and this process' environment have them. Throws SettingsError.
Settings read_settings(const std::optional<std::filesystem::path>& file);

}  // namespace holdpoint
