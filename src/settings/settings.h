#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace holdpoint {

// All that is wrong with the settings, a line each.
class SettingsError : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

// What settings.example.toml, the user's file and the environment say, in that order. Paths are
// absolute, secrets looked up.
struct Settings {
  struct {
    std::string listen;
    std::string public_url;  // Empty: from `listen`.
    std::int64_t http_threads;
  } server;
  struct {
    std::filesystem::path sqlite_path;
  } database;
  struct {
    std::filesystem::path dir;
    std::int64_t workers;
    std::int64_t turn_timeout_seconds;
    std::int64_t max_attempts;
  } agents;
  struct {
    std::int64_t timeout_seconds;
    std::int64_t max_timeout_seconds;
    std::string on_timeout;
    std::string callback_url;  // Empty: none.
    std::vector<std::string> callback_secret;
    std::vector<std::string> callback_events;
  } questions;
  struct {
    std::int64_t retention_days;
  } sessions;
  struct {
    std::int64_t max_questions;
    std::int64_t max_options;
    std::int64_t max_body_bytes;
    std::int64_t max_state_bytes;
    std::int64_t max_result_bytes;
    std::int64_t max_context_bytes;
    std::int64_t max_reply_bytes;
    std::int64_t max_messages;
  } limits;
  struct {
    std::vector<std::string> allow_private;
  } outgoing;
};

// The environment's variables by name.
using Environment = std::map<std::string, std::string>;

// Throws SettingsError.
Settings load_settings(const std::optional<std::filesystem::path>& file,
                       const Environment& environment);

}  // namespace holdpoint
