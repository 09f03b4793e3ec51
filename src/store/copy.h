#pragma once

#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "store/database.h"

// All of a deployment from one database into another, whichever engines they are.
namespace holdpoint {

struct StoreTable {
  std::string_view name;
  std::vector<std::string_view> columns;
  std::vector<std::string_view> key;
};

// What a copy takes along, in an order that foreign keys allow: every table but those that are
// about the database itself or who serves it now (schema_migrations, commit_marks, commit_probe,
// nodes).
const std::vector<StoreTable>& store_tables();

struct CopyOptions {
  bool to_postgres = false;
  // Of 64 hex digits, and such that nobody finds two texts with the same.
  std::function<std::string(std::string_view)> hash;
  // After every page: what is done, with which table, and how many rows of it are behind. From the
  // start again when the target's transaction runs again.
  std::function<void(std::string_view doing, std::string_view table, std::int64_t rows)>
      on_progress;
};

struct CopiedTable {
  std::string name;
  std::int64_t rows = 0;
  std::string checksum;  // Chained over all rows in the order of their keys.

  bool operator==(const CopiedTable&) const = default;
};

// Why there is no copy, and what to do about it. The target is as it was, unless `in_doubt`.
class CopyError : public std::runtime_error {
 public:
  explicit CopyError(const std::string& what, bool in_doubt = false)
      : std::runtime_error(what), in_doubt_(in_doubt) {}
  bool in_doubt() const { return in_doubt_; }

 private:
  bool in_doubt_;
};

// Copies all rows in one transaction of the target from one snapshot of the source, and commits
// only once both, read again, have the same rows and checksums. The target must be empty, and
// nobody may write to either meanwhile. Throws CopyError.
std::vector<CopiedTable> copy_store(Database& source, Database& target, const CopyOptions& options);

// Whether an SQLite file is one of ours; looks without changing it. Throws StoreError if it cannot.
bool is_store_file(const std::string& path);

// Which database of which PostgreSQL this is, however its URL is written.
std::string postgres_identity(Database& postgres);

// Connections to a PostgreSQL database as nodes make them, as far as its user may see them.
struct ConnectedNodes {
  std::int64_t self = 0;  // The one that asked.
  std::int64_t others = 0;
  std::string addresses;
};
// `known` is none of the others.
ConnectedNodes connected_nodes(Database& postgres, std::int64_t known);

}  // namespace holdpoint
