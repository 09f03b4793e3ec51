#pragma once

#include <string>
#include <vector>

#include "domain/limits.h"
#include "domain/target.h"

namespace holdpoint {

// What an agent tells people without asking anything.
struct Card {
  std::string title;  // Empty: none.
  std::string text;
  std::vector<Target> channels;  // Places to tell besides the agent's own.
};

// Throws BadRequest for what nobody can be told.
void check_card(const Card& card, const Limits& limits);

}  // namespace holdpoint
