#pragma once

#include <doctest/doctest.h>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "store/postgres.h"
#include "store/postgres_connection.h"
#include "tests/support/temp_dir.h"
#include "tests/support/test_postgres.h"

namespace holdpoint::test {

using namespace std::chrono_literals;

// TEST_CASE("…" * on_postgres()) is skipped where no server is given.
inline doctest::skip on_postgres() { return doctest::skip(!test_postgres()); }

inline const Time kNow = parse_iso("2026-11-16T09:00:00.000Z").value();

// A schema of its own, and connections of the test's own to it.
struct PostgresSchema {
  std::unique_ptr<Database> open(std::size_t connections = 2) const {
    return open_at(url, connections);
  }
  static std::unique_ptr<Database> open_at(const std::string& url, std::size_t connections = 2) {
    PostgresOptions options;
    options.url = url;
    options.connections = connections;
    options.start_patience = Duration{0};
    return open_postgres(std::move(options));
  }
  std::unique_ptr<PostgresConnection> connect() const {
    PostgresConnection::Options options;
    options.url = url;
    return std::make_unique<PostgresConnection>(std::move(options));
  }
  void run(const std::string& sql) const { connect()->execute_plainly(sql); }
  std::int64_t number(const std::string& sql) const {
    std::int64_t value = 0;
    connect()->query(sql, [&](const Row& row) { value = row.integer(0); });
    return value;
  }
  std::int64_t count(const std::string& table = "disabled_destinations") const {
    return number("SELECT COUNT(*) FROM " + table);
  }
  // Ends the server's side of a connection, and waits until it is gone.
  void end_backend(std::int64_t pid) const {
    const std::string which = " FROM pg_stat_activity WHERE pid = " + std::to_string(pid);
    run("SELECT pg_terminate_backend(pid, 10000)" + which);
    REQUIRE(number("SELECT COUNT(*)" + which) == 0);
  }

  TempDir dir;
  std::string url = test_postgres_url(dir.path() / "test.db").value();
};

inline void put(Transaction& tx, const std::string& destination) {
  tx.execute(
      "INSERT INTO disabled_destinations (destination, disabled_at, reason) VALUES ($1, $2, $3)",
      destination, kNow, "test");
}
inline void post(Transaction& tx, const std::string& destination) {
  tx.post(
      "INSERT INTO disabled_destinations (destination, disabled_at, reason) VALUES ($1, $2, $3)",
      destination, kNow, "test");
}

inline std::int64_t number(Transaction& tx, std::string_view sql) {
  std::int64_t value = 0;
  tx.query(sql, [&](const Row& row) { value = row.integer(0); });
  return value;
}
// The server's process behind the connection.
inline std::int64_t backend(Transaction& tx) { return number(tx, "SELECT pg_backend_pid()"); }
inline std::int64_t backend(Database& db) {
  return db.read([](Transaction& tx) { return backend(tx); });
}

}  // namespace holdpoint::test
