#pragma once

#include <string>

#include "domain/card.h"

namespace holdpoint {

// A new message with a card, of the Components V2 kind, within Discord's limits. Pure. `page` is
// where all of it can be read; `nonce` as discord_new_message has it.
std::string discord_card(const Card& card, const std::string& agent_name, const std::string& page,
                         const std::string& nonce);

}  // namespace holdpoint
