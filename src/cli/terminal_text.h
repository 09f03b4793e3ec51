#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

// Texts of other people on a terminal: nothing in them may steer it, and they must fit.
namespace holdpoint::cli {

// Without what steers a terminal or turns its text around: C0 (a space instead), DEL, C1 and the
// bidi controls. `text` is UTF-8.
std::string printable(std::string_view text);

// JSON with the same value and nothing that steers a terminal: inside strings, where alone such
// characters can be, they become escapes.
std::string printable_json(std::string_view json);

// How many columns a printable text takes.
std::size_t columns_of(std::string_view text);

// At most `most` columns of it, with `…` in place of what was cut.
std::string fit(std::string_view text, std::size_t most);

// Lines of at most `most` columns, broken at spaces where there are any. A new line in the text
// starts a new one; what remains is made printable. Never empty.
std::vector<std::string> wrap(std::string_view text, std::size_t most);

}  // namespace holdpoint::cli
