#pragma once

#include "tests/support/world.h"

namespace holdpoint::test {

inline const Time kNow = parse_iso("2026-11-16T09:00:00.000Z").value();

// A new database on disk, gone with the test.
struct FreshDatabase {
  template <class F>
  auto write(F&& use) {
    return db->write(std::forward<F>(use));
  }
  template <class F>
  auto read(F&& use) {
    return db->read(std::forward<F>(use));
  }
  std::int64_t count(const std::string& table) {
    std::int64_t rows = 0;
    read([&](Transaction& tx) {
      tx.query("SELECT COUNT(*) FROM " + table, [&](const Row& row) { rows = row.integer(0); });
    });
    return rows;
  }

  TempDir dir;
  std::unique_ptr<Database> db = open_test_database(dir.path() / "test.db", kNow);
};

}  // namespace holdpoint::test
