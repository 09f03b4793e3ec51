#pragma once

#include <memory>

#include "cli/client.h"
#include "settings/settings.h"

namespace holdpoint {

// Keys, users and the audit log of a database that no server has, behind the same routes that a
// server has for them. Throws DatabaseInUse if one has it.
std::unique_ptr<cli::Server> open_offline(const Settings& settings);

// Where the server with these settings answers.
std::string address_of(const Settings& settings);

}  // namespace holdpoint
