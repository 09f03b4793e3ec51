#include "database.h"

#include <cstdlib>

#include "base/log.h"
#include "store/postgres.h"
#include "store/sqlite.h"

namespace holdpoint {
namespace {

std::unique_ptr<Database> open_file(const Settings& settings, OpenHooks hooks) {
  SqliteOptions options;
  options.path = settings.database.sqlite_path.string();
  options.on_commit = std::move(hooks.on_commit);
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

std::unique_ptr<Database> open_database(const Settings& settings, OpenHooks hooks) {
  if (settings.database.postgres_url.empty()) return open_file(settings, std::move(hooks));
  check_database(settings);
  PostgresOptions options;
  options.url = settings.database.postgres_url.reveal();
  options.connections = static_cast<std::size_t>(settings.database.connections);
  if (hooks.on_commit) options.on_commit = [told = hooks.on_commit] { told(1); };
  options.give_up = std::move(hooks.give_up);
  return open_postgres(std::move(options));
}

}  // namespace holdpoint
