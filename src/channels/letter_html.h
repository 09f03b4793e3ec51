#pragma once

#include <string>

#include "channels/letter.h"

namespace holdpoint {

// The letter as a page of its own, with every style inside: mail programs fetch nothing.
std::string letter_html(const Letter& letter);

}  // namespace holdpoint
