#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace holdpoint::test {

// The server that HOLDPOINT_TEST_POSTGRES names: then tests run on PostgreSQL, else on SQLite.
std::optional<std::string> test_postgres();

// A URL for the database that a test on SQLite would keep in `file`: a schema of its own, made when
// the file is first named. Nothing: tests run on SQLite.
std::optional<std::string> test_postgres_url(const std::filesystem::path& file);

// As if nothing had ever been in it; nobody may have it open.
void remove_test_database(const std::filesystem::path& file);

}  // namespace holdpoint::test
