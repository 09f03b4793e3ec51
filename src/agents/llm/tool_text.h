#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace holdpoint {

inline constexpr std::size_t kMaxToolChars = 100'000;
// A text with more bytes than this has more characters than a model is given.
inline constexpr std::size_t kMaxToolBytes = 4 * kMaxToolChars + 4;

// What a tool said, as a model may read it and a state may hold it: UTF-8 without NUL, mended where
// it is not, and cut to kMaxToolChars characters with a note that says so. `is_cut`: it was cut
// before it came here.
std::string tool_text(std::string_view text, bool is_cut = false);

}  // namespace holdpoint
