#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace holdpoint::cli {

// What was typed after `holdpoint ask`.
struct AskLine {
  std::string question;
  std::optional<std::string> header, agent, context, key, timeout;
  std::vector<std::string> options, defaults, channels;
  bool multi = false, no_other = false, dedupe = false;
};

// `90`, `90s`, `30m`, `2h` or `1d`. Throws BadRequest naming `field`.
std::chrono::seconds parse_span(std::string_view text, const std::string& field);

// A JSON object: `text` itself; what the file after `@` or, for `-`, standard input holds. What
// they hold may be any text too, which becomes an object under the file's name. Throws BadRequest.
std::string read_context(const std::string& text);

// The body of POST /agent/ask, under the idempotency key `key`. Throws BadRequest that names the
// option.
std::string ask_body(const AskLine& line, const std::string& key);

// The option that a member of that body comes from: `--header` for `questions[0].header`.
std::string option_of(std::string_view field);

}  // namespace holdpoint::cli
