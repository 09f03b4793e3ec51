#include "tests/support/test_postgres.h"

#include <unistd.h>

#include <cstdlib>
#include <map>
#include <memory>

#include "base/guarded.h"
#include "store/postgres.h"
#include "store/postgres_connection.h"

namespace holdpoint::test {

std::optional<std::string> test_postgres() {
  const char* url = std::getenv("HOLDPOINT_TEST_POSTGRES");
  return url && *url ? std::optional<std::string>(url) : std::nullopt;
}

namespace {

std::string url_of(const std::string& schema) {
  return *test_postgres() + "?options=-csearch_path%3D" + schema;
}

// What a schema holds besides rows, as one text; one that a test added something to has another.
std::string shape_of(const std::string& schema) {
  const std::string its = "'" + schema + "'::regnamespace";
  return "(SELECT concat_ws(' ', (SELECT sum(relnatts) FROM pg_class WHERE relnamespace = " + its +
         "), (SELECT sum(hashtext(attname::text)) FROM pg_attribute a JOIN pg_class c ON c.oid = "
         "attrelid WHERE attnum > 0 AND relnamespace = " +
         its + "), (SELECT count(*) FROM pg_proc WHERE pronamespace = " + its +
         "), (SELECT count(*) FROM pg_constraint WHERE connamespace = " + its +
         "), (SELECT count(*) FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid WHERE NOT "
         "tgisinternal AND relnamespace = " +
         its + "), (SELECT string_agg(number::text, ',') FROM " + schema + ".schema_migrations)))";
}

// The schemas of this process's tests, each under the file it stands for.
class Schemas {
 public:
  std::string of(const std::filesystem::path& file) {
    const auto [it, is_new] = names_.try_emplace(file.string());
    if (is_new) {
      const auto left = take_over();
      it->second = left ? *left : make_with_tables();
    }
    return it->second;
  }

  std::string bare(const std::filesystem::path& file) {
    auto& name = names_[file.string()];
    if (name.empty()) {
      name = make();
    } else {
      renew(name);
    }
    return name;
  }

 private:
  std::string make() {
    const std::string name = "t" + std::to_string(getpid()) + "_" + std::to_string(++made_);
    renew(name);  // A process of the same number may have been here before.
    return name;
  }

  std::string make_with_tables() {
    const std::string name = make();
    PostgresOptions options;
    options.url = url_of(name);
    open_postgres(std::move(options));
    if (shape_.empty()) {
      connection().query("SELECT " + shape_of(name),
                         [&](const Row& row) { shape_ = row.string(0); });
    }
    return name;
  }

  void renew(const std::string& name) {
    run("DROP SCHEMA IF EXISTS " + name + " CASCADE");
    run("CREATE SCHEMA " + name);
  }

  // One whose test is over.
  std::optional<std::string> take_over() {
    for (auto it = names_.begin(); it != names_.end();) {
      const bool over = !it->second.empty() &&
                        !std::filesystem::exists(std::filesystem::path(it->first).parent_path());
      if (!over) {
        ++it;
        continue;
      }
      const std::string name = it->second;
      it = names_.erase(it);
      if (empty_out(name)) return name;
      run("DROP SCHEMA " + name + " CASCADE");
    }
    return std::nullopt;
  }

  // False for one that is not as the migrations leave it: it cannot be handed on.
  bool empty_out(const std::string& name) {
    try {
      // Every table goes, so references are not looked up: for each row that would be a walk over
      // all that the tests before have left dead in the tables that refer to it.
      run("DO $$ DECLARE deletes text; BEGIN "
          "PERFORM set_config('session_replication_role', 'replica', true); "
          "IF " +
          shape_of(name) + " <> '" + shape_ +
          "' THEN RAISE 'not as new'; END IF; "
          "SELECT string_agg(format('%I AS (DELETE FROM " +
          name +
          ".%I)', tablename, tablename), "
          "', ') INTO deletes FROM pg_tables WHERE schemaname = '" +
          name +
          "' AND tablename <> "
          "'schema_migrations'; "
          "EXECUTE 'WITH ' || deletes || ' SELECT 1'; "
          "INSERT INTO " +
          name +
          ".audit_head VALUES (1, 0, ''); "
          "PERFORM setval('" +
          name + ".agent_events_seq_seq', 1, false); END $$");
      return true;
    } catch (const PostgresError& e) {
      if (e.kind() != PostgresError::Kind::refused) throw;
      return false;
    }
  }

  void run(const std::string& sql) { connection().execute_plainly(sql); }

  PostgresConnection& connection() {
    if (!connection_) {
      PostgresConnection::Options options;
      options.url = *test_postgres();
      options.prepare = false;
      options.patience = std::chrono::minutes{1};  // It only tidies up; nothing is judged by it.
      connection_ = std::make_unique<PostgresConnection>(std::move(options));
    }
    return *connection_;
  }

  std::map<std::string, std::string> names_;
  int made_ = 0;
  std::string shape_;  // Of a schema that nobody has used.
  std::unique_ptr<PostgresConnection> connection_;
};

Guarded<Schemas>& schemas() {
  static Guarded<Schemas> all;
  return all;
}

}  // namespace

void remove_test_database(const std::filesystem::path& file) {
  if (bare_test_postgres_url(file)) return;
  for (const char* suffix : {"", "-wal", "-shm"}) std::filesystem::remove(file.string() + suffix);
}

std::optional<std::string> test_postgres_url(const std::filesystem::path& file) {
  if (!test_postgres()) return std::nullopt;
  return url_of(schemas().with([&](Schemas& all) { return all.of(file); }));
}

std::optional<std::string> bare_test_postgres_url(const std::filesystem::path& file) {
  if (!test_postgres()) return std::nullopt;
  return url_of(schemas().with([&](Schemas& all) { return all.bare(file); }));
}

}  // namespace holdpoint::test
