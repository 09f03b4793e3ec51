#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "domain/limits.h"
#include "domain/question.h"

namespace holdpoint {

// What the sender of a reply wrote now: without quoted text, the line or header block that
// introduces it, and signatures. May be blank.
std::string newest_text(std::string_view text);

// What a reply says, as values to answer with; or why that is not certain, as a clause without a
// full stop that its sender is told. Never a guess.
struct ReplyReading {
  std::vector<std::string> values;
  std::string unclear;  // Empty: `values` are meant.
};

// `newest` is what newest_text gives. The first line decides: an option's number or label, several
// where the question takes several; else all of the text is an own answer where that is allowed,
// also if it begins with a label and a colon.
ReplyReading read_reply(const QuestionSpec& spec, std::string_view newest, const Limits& limits);

}  // namespace holdpoint
