#pragma once

#include <string_view>

// Looks into JSON without building it: the load generator shares the machine with the server that
// it measures, and must stay cheap. The text is taken to be valid JSON.
namespace holdpoint::bench {

// The raw value under `key` of the object `json`; empty when it has none.
std::string_view member(std::string_view json, std::string_view key);

// The raw first element of the array `json`; empty when it has none.
std::string_view first_element(std::string_view json);

// A raw string without its quotes, escapes left as they are; empty when it is no string.
std::string_view text_of(std::string_view raw);

}  // namespace holdpoint::bench
