#pragma once

#include <string>

#include "domain/card.h"

namespace holdpoint {

// `{"text":…,"blocks":[…]}` of a card, as chat.postMessage and incoming webhooks take it. Pure.
// `page` is where all of it can be read, for texts that had to be cut.
std::string slack_card(const Card& card, const std::string& agent_name, const std::string& page);

}  // namespace holdpoint
