#pragma once

#include <string>

#include "store/database.h"

// The rows of server_secrets: what this deployment made for itself and keeps.
namespace holdpoint::secret_store {

// The secret of that name; `fresh` becomes it if there is none yet.
std::string find_or_insert(Transaction& tx, const std::string& name, const std::string& fresh);

}  // namespace holdpoint::secret_store
