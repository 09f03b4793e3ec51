#pragma once

#include <string>

#include "flow/discord_desk.h"
#include "http/router.h"

namespace holdpoint {

// POST /discord/interactions. 401 unless Discord signed it with the application's key: it sends
// wrong signatures on purpose, and drops who takes them.
Response discord_interaction(DiscordDesk& desk, const std::string& public_key_hex,
                             const Request& request, Time now);

}  // namespace holdpoint
