#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace holdpoint {

enum class Level { info, warning, error, silent };

// One named fact of a log line or of an event. Facts never hold payloads, answers or secrets.
struct Fact {
  std::string name;
  std::variant<std::string, std::int64_t> value;

  Fact(std::string n, std::string v) : name(std::move(n)), value(std::move(v)) {}
  Fact(std::string n, std::string_view v) : name(std::move(n)), value(std::string(v)) {}
  Fact(std::string n, const char* v) : name(std::move(n)), value(std::string(v)) {}
  Fact(std::string n, std::int64_t v) : name(std::move(n)), value(v) {}
};
using Facts = std::vector<Fact>;

// `"name":"value"` pairs of a JSON object, without the braces; invalid UTF-8 is replaced.
std::string to_json_members(const Facts& facts);

// Text as a JSON string, quotes included; control characters escaped, invalid UTF-8 replaced.
void append_json_string(std::string& out, std::string_view text);

// One line on standard error: for people on a terminal, JSON otherwise. From any thread.
void log(Level level, std::string_view event, const Facts& facts = {});

// Nothing below this level is written; nothing at all is with `silent`.
void set_log_level(Level least);

}  // namespace holdpoint
