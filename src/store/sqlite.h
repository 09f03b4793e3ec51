#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "store/database.h"

namespace holdpoint {

struct SqliteOptions {
  std::string path;
  std::size_t readers = 4;
  // The log grows to this many pages before its content moves into the database file.
  int checkpoint_pages = 2000;
  // After every commit: how many writes it carried. Called by the writer thread.
  std::function<void(std::size_t batch)> on_commit;
  // An fsync failed: what the disk holds is unknown, and asking again would get a false yes. Must
  // not return.
  std::function<void(const std::string& what)> on_sync_failure;
};

// One writer thread with one connection does all writes and all checkpoints; readers are a pool of
// read-only connections. Throws StoreError if the file cannot be opened, is newer than this
// program, or belongs to another live process.
std::unique_ptr<Database> open_sqlite(SqliteOptions options, Time now);

}  // namespace holdpoint
