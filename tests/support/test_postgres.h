#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace holdpoint::test {

// The server that HOLDPOINT_TEST_POSTGRES names: then tests run on PostgreSQL, else on SQLite.
std::optional<std::string> test_postgres();

// A URL for the database that a test on SQLite would keep in `file`: a schema of its own, with
// all tables and no rows. Making one takes far longer than most tests, so each is emptied and
// handed on once the folder of its file is gone; nobody may have it open by then. Nothing: tests
// run on SQLite.
std::optional<std::string> test_postgres_url(const std::filesystem::path& file);

// The same without any tables, for a test that makes them by itself.
std::optional<std::string> bare_test_postgres_url(const std::filesystem::path& file);

// As if nothing had ever been in it; nobody may have it open.
void remove_test_database(const std::filesystem::path& file);

}  // namespace holdpoint::test
