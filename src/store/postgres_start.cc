#include "store/postgres_start.h"

#include <thread>

#include "base/embedded.h"
#include "base/log.h"
#include "base/secret.h"
#include "store/dialect.h"
#include "store/migrations.h"

namespace holdpoint {
namespace {

using namespace std::chrono_literals;
using Kind = PostgresError::Kind;

// Anything but a lock that another program would take, on any database.
constexpr std::int64_t kMigrationLock = 0x686f6c64706f696e;  // "holdpoin"

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

// libpq gives no code for what a server says while connecting, only its words.
std::string advice_for(const std::string& words) {
  if (has(words, "password authentication failed") || has(words, "no password supplied")) {
    return "Check user and password in [database] url; a password can also come from PGPASSWORD or "
           "~/.pgpass";
  }
  if (has(words, "role") && has(words, "does not exist")) {
    return "Create the role: createuser --pwprompt NAME, or name another one in [database] url";
  }
  if (has(words, "database") && has(words, "does not exist")) {
    return "Create it: createdb --encoding=UTF8 --owner=USER NAME, or name another one in "
           "[database] url";
  }
  if (has(words, "pg_hba.conf")) {
    return "Let this user in from here: add a line to the server's pg_hba.conf and reload it";
  }
  if (has(words, "certificate") || has(words, "SSL")) {
    return "Check sslmode and sslrootcert in [database] url";
  }
  if (has(words, "too many") || has(words, "remaining connection slots")) {
    return "Raise the server's max_connections, or lower [database] connections on each node";
  }
  return "Is the server running there, and may this machine reach it? Check host and port in "
         "[database] url";
}

// No use in waiting: it will be refused again.
bool is_final(const std::string& words) {
  return has(words, "authentication failed") || has(words, "does not exist") ||
         has(words, "no password supplied") || has(words, "pg_hba.conf") ||
         has(words, "permission denied for database");
}

std::string setting(PostgresConnection& connection, const std::string& name) {
  std::string value;
  connection.query(
      "SELECT current_setting($1)", [&](const Row& row) { value = row.string(0); }, name);
  return value;
}

void check_server(PostgresConnection& connection) {
  const std::string encoding = setting(connection, "server_encoding");
  if (encoding != "UTF8") {
    throw StoreError("the database's encoding is " + encoding +
                         ", which cannot hold every text\n  Create one with UTF8: createdb "
                         "--encoding=UTF8 --template=template0 NAME",
                     false);
  }
  if (setting(connection, "transaction_read_only") == "on") {
    throw StoreError(
        "the database only reads: it is a standby, or default_transaction_read_only is "
        "on\n  Name the primary in [database] url, or several hosts and "
        "target_session_attrs=read-write; or ALTER DATABASE NAME SET "
        "default_transaction_read_only = off",
        false);
  }
  if (setting(connection, "fsync") == "off") {
    log(Level::warning, "database_not_durable",
        {{"reason", "the server runs with fsync = off"},
         {"what_now", "going on; a crash of its machine loses what was acknowledged"}});
  }
  std::string schema;
  connection.query("SELECT COALESCE(current_schema(), '')",
                   [&](const Row& row) { schema = row.string(0); });
  if (schema.empty()) {
    throw StoreError(
        "no schema of the database's search_path is there, or may be used\n  CREATE "
        "SCHEMA one, or GRANT USAGE, CREATE ON SCHEMA it TO the user of [database] url",
        false);
  }
}

// What is there already needs no right to create anything.
std::int64_t schema_number(PostgresConnection& connection) {
  bool there = false;
  connection.query("SELECT 1 WHERE to_regclass('schema_migrations') IS NOT NULL",
                   [&](const Row&) { there = true; });
  std::int64_t number = 0;
  if (there) {
    connection.query("SELECT COALESCE(MAX(number), 0) FROM schema_migrations",
                     [&](const Row& row) { number = row.integer(0); });
  }
  return number;
}

void migrate_alone(PostgresConnection& connection, Time now) {
  auto migrations = read_migrations(embedded::schema_sql);
  if (schema_number(connection) == static_cast<std::int64_t>(migrations.size())) return;
  for (auto& migration : migrations) {
    for (auto& statement : migration.statements) {
      statement = dialect::schema_for_postgres(statement);
    }
  }
  connection.begin_write();
  connection.query(
      "SELECT pg_advisory_xact_lock($1)", [](const Row&) {}, kMigrationLock);
  const std::int64_t applied = migrate(connection, migrations, now);
  connection.commit();
  if (applied > 0) log(Level::info, "database_migrated", {{"migrations", applied}});
}

void prepare_once(const std::string& url, DatabaseClock& clock) {
  PostgresConnection::Options options;
  options.url = url;
  options.patience = 10min;  // A migration may take its time.
  options.prepare = false;
  PostgresConnection connection(options);
  check_server(connection);
  greet_postgres(connection, clock);
  migrate_alone(connection, clock.now());
}

}  // namespace

void greet_postgres(PostgresConnection& connection, DatabaseClock& clock) {
  const auto before = std::chrono::steady_clock::now();
  std::int64_t millis = 0;
  bool waits_for_disk = true;
  connection.query(
      "SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint, "
      "current_setting('synchronous_commit') <> 'off', "
      "current_setting('default_transaction_isolation') = 'read committed' AND "
      "current_setting('default_transaction_read_only') = 'off'",
      [&](const Row& row) {
        millis = row.integer(0);
        waits_for_disk = row.integer(1) != 0;
        if (row.integer(2) != 0) connection.note_usual_begin();
      });
  clock.note(Time{Duration{millis}}, before, std::chrono::steady_clock::now());
  // A 2xx means that it is on disk, whatever the server's own default.
  if (!waits_for_disk) connection.execute_plainly("SET synchronous_commit = on");
}

void prepare_postgres(const std::string& url, Duration patience,
                      const std::function<bool()>& give_up, DatabaseClock& clock) {
  const auto deadline = std::chrono::steady_clock::now() + patience;
  for (bool told = false;;) {
    try {
      return prepare_once(url, clock);
    } catch (const PostgresError& e) {
      const std::string words = e.what();
      if (e.state() == "42501") {
        throw StoreError("the user of [database] url lacks a right: " + words +
                             "\n  As the database's owner: GRANT USAGE, CREATE ON SCHEMA public TO "
                             "that user; or ALTER DATABASE NAME OWNER TO that user",
                         false);
      }
      const bool away = e.kind() == Kind::lost && !is_final(words);
      if (!away || std::chrono::steady_clock::now() >= deadline || (give_up && give_up())) {
        throw StoreError("cannot use the database " + hide_password(url) + ": " + words + "\n  " +
                             advice_for(words),
                         false);
      }
      if (!std::exchange(told, true)) {
        log(Level::warning, "database_awaited",
            {{"reason", words}, {"for_seconds", patience.count() / 1000}});
      }
    }
    std::this_thread::sleep_for(250ms);
  }
}

}  // namespace holdpoint
