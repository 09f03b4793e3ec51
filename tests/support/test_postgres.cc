#include "tests/support/test_postgres.h"

#include <unistd.h>

#include <cstdlib>
#include <map>

#include "base/guarded.h"
#include "store/postgres_connection.h"

namespace holdpoint::test {

std::optional<std::string> test_postgres() {
  const char* url = std::getenv("HOLDPOINT_TEST_POSTGRES");
  return url && *url ? std::optional<std::string>(url) : std::nullopt;
}

namespace {

void renew_schema(const std::string& server, const std::string& name) {
  PostgresConnection::Options options;
  options.url = server;
  PostgresConnection connection(options);
  connection.execute_plainly("DROP SCHEMA IF EXISTS " + name + " CASCADE");
  connection.execute_plainly("CREATE SCHEMA " + name);
}

Guarded<std::map<std::string, std::string>>& schemas() {
  static Guarded<std::map<std::string, std::string>> all;
  return all;
}

}  // namespace

void remove_test_database(const std::filesystem::path& file) {
  if (const auto server = test_postgres()) {
    schemas().with([&](auto& known) { renew_schema(*server, known.at(file.string())); });
    return;
  }
  for (const char* suffix : {"", "-wal", "-shm"}) std::filesystem::remove(file.string() + suffix);
}

std::optional<std::string> test_postgres_url(const std::filesystem::path& file) {
  const auto server = test_postgres();
  if (!server) return std::nullopt;
  const std::string schema = schemas().with([&](auto& known) {
    const auto [it, is_new] = known.try_emplace(file.string());
    if (is_new) {
      it->second = "t" + std::to_string(getpid()) + "_" + std::to_string(known.size());
      renew_schema(*server, it->second);  // A process of the same number may have been here before.
    }
    return it->second;
  });
  return *server + "?options=-csearch_path%3D" + schema;
}

}  // namespace holdpoint::test
