#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace holdpoint {

// Letters in lower case as far as one of them stands for one (Latin, Greek, Cyrillic), typographic
// quotes and dashes as plain ones, every run of white space as one space, none at the ends.
std::string folded(std::string_view text);

// The lines of a text, without white space at their ends.
std::vector<std::string> lines_of(std::string_view text);

// What the lines from `at` on are to one who looks for what is new in a mail.
struct QuoteMark {
  enum class Kind {
    none,
    quoted,       // One line of quoted text.
    attribution,  // `lines` that introduce quoted text: "On Monday … wrote:".
    signature,    // One line that a mail program puts under everything: "Sent from my …".
    rest,         // From here on nothing is new.
  };
  Kind kind = Kind::none;
  std::size_t lines = 1;
};
QuoteMark quote_mark(const std::vector<std::string>& lines, std::size_t at);

}  // namespace holdpoint
