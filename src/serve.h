#pragma once

#include <filesystem>
#include <optional>

namespace holdpoint {

// Runs the server until SIGTERM or SIGINT. Returns the exit code.
int serve(const std::optional<std::filesystem::path>& settings_file);

// Reads settings and agents, and says what they come to. Returns the exit code.
int check(const std::optional<std::filesystem::path>& settings_file);

}  // namespace holdpoint
