#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace holdpoint {

// Bytes in any charset as clean UTF-8 without NUL and carriage returns. What is not in that
// charset, or in none that is known here, is read as Latin-1: every text comes out as something.
std::string to_utf8(std::string_view bytes, const std::string& charset);

// UTF-8 as it may be kept: what is broken replaced, NUL left out.
std::string mend_utf8(std::string_view text);

// At most so many bytes, and no half characters.
std::string cut_utf8(std::string text, std::size_t most);

// The lines of `format=flowed` (RFC 3676) joined to those that were written. With `delete_space`
// the space that marks a soft break goes too.
std::string join_flowed(std::string_view text, bool delete_space);

// What a person reads of an HTML mail. For a quoted part stands a line with `>` alone, so that what
// was written below it is still told apart from its head line.
std::string text_of_html(std::string_view html);

}  // namespace holdpoint
