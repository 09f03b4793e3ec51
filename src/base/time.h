#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace holdpoint {

// UTC with millisecond precision: what the database stores and the API prints.
using Duration = std::chrono::milliseconds;
using Time = std::chrono::time_point<std::chrono::system_clock, Duration>;

// `2024-01-01T12:00:00.000Z`. Texts of this form sort as their times do.
std::string to_iso(Time time);

// The inverse of to_iso; nothing if the text has another form.
std::optional<Time> parse_iso(std::string_view text);

}  // namespace holdpoint
