#pragma once

#include <string>

#include "channels/letter.h"

namespace holdpoint {

// The letter as plain text, which says all that its HTML does.
std::string letter_text(const Letter& letter);

}  // namespace holdpoint
