#include "database.h"

#include <cstdlib>

#include "base/log.h"
#include "flow/metrics.h"
#include "store/postgres.h"
#include "store/sqlite.h"

namespace holdpoint {
namespace {

std::unique_ptr<Database> open_file(const Settings& settings, Metrics* metrics) {
  SqliteOptions options;
  options.path = settings.database.sqlite_path.string();
  if (metrics) options.on_commit = [metrics](std::size_t batch) { metrics->commit(batch); };
  options.on_sync_failure = [](const std::string& what) {
    // What is on the disk is not known any more. A fresh start reads it back; going on would guess.
    log(Level::error, "sync_failed", {{"reason", what}, {"what_now", "exiting; start again"}});
    std::_Exit(74);
  };
  return open_sqlite(std::move(options), SystemClock().now());
}

}  // namespace

void check_database(const Settings& settings) {
  if (settings.database.postgres_url.empty()) return;
  const std::string wrong = check_postgres_url(settings.database.postgres_url.reveal());
  if (!wrong.empty()) throw SettingsError("[database] url cannot be read: " + wrong);
}

std::unique_ptr<Database> open_database(const Settings& settings, Metrics* metrics) {
  if (settings.database.postgres_url.empty()) return open_file(settings, metrics);
  check_database(settings);
  PostgresOptions options;
  options.url = settings.database.postgres_url.reveal();
  options.connections = static_cast<std::size_t>(settings.database.connections);
  if (metrics) options.on_commit = [metrics] { metrics->commit(1); };
  return open_postgres(std::move(options));
}

}  // namespace holdpoint
