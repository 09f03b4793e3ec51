#pragma once

#include <filesystem>
#include <string>

namespace holdpoint {

// The value of a secret setting: `env:NAME` and `file:path` (relative to `folder`) are looked up,
// anything else is itself. Throws std::runtime_error when it is not there.
std::string read_secret(const std::string& text, const std::filesystem::path& folder);

}  // namespace holdpoint
