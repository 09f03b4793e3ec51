#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace holdpoint {

// Characters (code points) of valid UTF-8.
std::size_t count_chars(std::string_view text);

// Well-formed UTF-8 without NUL: what every database and channel can hold.
bool is_clean_utf8(std::string_view text);

// True if there is nothing but white space.
bool is_blank(std::string_view text);

// With A to Z as a to z.
std::string lower_case(std::string text);

// At most `most` characters, with `…` in place of what was cut.
std::string shorten(std::string_view text, std::size_t most);

}  // namespace holdpoint
