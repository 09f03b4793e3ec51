#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"

namespace holdpoint {

class Transaction;

struct Migration {
  std::int64_t number;
  std::string name;
  std::vector<std::string> statements;
};

// The sections of schema.sql.
std::vector<Migration> read_migrations(std::string_view schema);

// Brings the database up to the last migration, inside the caller's transaction. Returns how many
// were applied. Throws StoreError if the database is newer than this program.
std::int64_t migrate(Transaction& tx, const std::vector<Migration>& migrations, Time now);

}  // namespace holdpoint
