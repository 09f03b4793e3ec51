#include "store/copy.h"

#include <doctest/doctest.h>
#include <sqlite3.h>

#include <fstream>
#include <limits>
#include <map>
#include <set>

#include "store/event_store.h"
#include "store/postgres.h"
#include "store/sqlite.h"
#include "tests/store/fresh_database.h"
#include "tests/support/failing_database.h"
#include "tests/support/test_postgres.h"
#include "wire/digest.h"

using namespace holdpoint;
using namespace holdpoint::test;

namespace {

const std::set<std::string> kNotCopied{"schema_migrations", "commit_marks", "commit_probe",
                                       "nodes"};

std::unique_ptr<Database> open_file(const std::filesystem::path& file) {
  SqliteOptions options;
  options.path = file.string();
  options.on_sync_failure = [](const std::string&) { std::abort(); };
  return open_sqlite(std::move(options), kNow);
}

// The engine that the whole run is on; so a run on PostgreSQL copies both ways.
struct Place {
  explicit Place(const std::string& name, bool may_be_postgres = false)
      : file(dir().path() / (name + ".db")) {
    const auto url = may_be_postgres ? test_postgres_url(file) : std::nullopt;
    if (url) {
      PostgresOptions options;
      options.url = *url;
      postgres = true;
      db = open_postgres(std::move(options));
    } else {
      db = open_file(file);
    }
  }
  // Schemas on PostgreSQL go by the file's name, so that all must differ.
  TempDir& dir() { return *dir_; }

  std::unique_ptr<TempDir> dir_ = std::make_unique<TempDir>();
  std::filesystem::path file;
  bool postgres = false;
  std::unique_ptr<Database> db;
};

std::vector<CopiedTable> copy(Database& source, Database& target, bool to_postgres = false) {
  CopyOptions options;
  options.hash = sha256_hex;
  options.to_postgres = to_postgres;
  return copy_store(source, target, options);
}
std::vector<CopiedTable> copy(Place& source, Place& target) {
  return copy(*source.db, *target.db, target.postgres);
}

// What went wrong; empty: nothing.
std::string failure(Database& source, Database& target, bool to_postgres = false) {
  try {
    copy(source, target, to_postgres);
  } catch (const CopyError& e) {
    return e.what();
  }
  return "";
}

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

void execute(Database& db, const std::vector<std::string>& statements) {
  db.write([&](Transaction& tx) {
    for (const auto& sql : statements) tx.execute(sql);
  });
}

// Something in every table, with what is easily lost: nulls beside empty texts, numbers of all
// sizes, texts that sort and compare by their bytes alone.
const std::vector<std::string> kRows{
    "INSERT INTO agent_sessions (id, agent_name, status, original_payload, execution_state, "
    "created_at, updated_at, idempotency_key, result, due_at, lease_number, leased_by, spawned_by, "
    "spawn_call, model_steps, input_tokens, output_tokens, cached_tokens, cost_micros) VALUES "
    "('s1', 'poet', 'pending_input', '{\"a\": 1,  \"a\":2}', '', '2026', '2026', 'k', NULL, NULL, "
    "9223372036854775807, NULL, NULL, NULL, 0, 0, 0, 0, NULL), ('S2', 'poet', 'running', "
    "'Grüße\n\t\"x\" 😀 $1 '' \\', NULL, '2026', '2026', NULL, '', '2026', 0, 'node', 3, 'toolu_1', "
    "2, 1200, 300, 100, 4500), ('é', '', 'failed', '', '', '', '', NULL, "
    "NULL, NULL, -9223372036854775807, '', NULL, '', 0, 0, 0, 0, 0)",
    "INSERT INTO agent_questions (id, session_id, agent_name, question, created_at, ask, position, "
    "options, multi_select, allow_other, style, on_timeout, deadline_at, channels) VALUES ('q', "
    "'s1', 'poet', 'What style?', '2026', 1, 0, '[]', 0, 1, 'buttons', 'fail', '2027', 'email "
    "slack')",
    "INSERT INTO agent_messages (id, session_id, body, created_at) VALUES ('m', 's1', '1', '2026')",
    "UPDATE agent_sessions SET dedupe_key = 'same' WHERE id = 's1'",
    "INSERT INTO joined_asks VALUES ('poet', 'k2', 's1')",
    "INSERT INTO agent_events (seq, session_id, type, at, data) VALUES (3, 's1', 'a', '2026', "
    "'{}'), (40000000000, 's1', 'b', '2026', '{}')",
    "INSERT INTO deliveries (id, session_id, question_id, agent_name, channel, event, destination, "
    "host, body, next_attempt_at, created_at, link_for, ask, message_ref, follows) VALUES ('d', "
    "'s1', 'q', 'poet', 'slack', 'question_settled', 'C1', 'h:80#C1', '', '2026', '2026', 'ana', "
    "2, "
    "'C1 7', 'c')",
    "INSERT INTO disabled_destinations VALUES ('http://h/', '2026', 'gone')",
    "INSERT INTO api_keys (id, name, secret_hash, scopes, created_at) VALUES ('k', 'ci', 'h', "
    "'admin', '2026')",
    "INSERT INTO users (name, role, password_hash, created_at) VALUES ('ana', 'admin', 'x', "
    "'2026'), "
    "('Bo', 'viewer', NULL, '2026')",
    "INSERT INTO logins VALUES ('t', 'ana', '2026', '2027')",
    "INSERT INTO answer_links VALUES ('t', 'q', 's1', 'link', 'ana', '2026')",
    "INSERT INTO webhook_receipts VALUES ('a', 'b', 'i', 'h', '2026'), ('a', 'c', 'i', 'h', "
    "'2026'), "
    "('b', 'a', 'i', 'h', '2026')",
    "INSERT INTO mail_receipts VALUES ('m', '2026')",
    "INSERT INTO audit_log VALUES (1, '2026', 'ana', 'c', 'a', 'x', 'y', '{}', 'h1')",
    "UPDATE audit_head SET seq = 1, hash = 'h1'",
    "INSERT INTO audit_pending VALUES ('p', '2026', 'ana', 'c', 'a', 'x', 'y', '{}')",
    "INSERT INTO server_secrets VALUES ('forms', 's')",
};

// More rows than fit into a page, and rows that are pages of their own.
void add_many(Database& db) {
  db.write([](Transaction& tx) {
    for (std::int64_t i = 0; i < 3500; ++i) {
      tx.post(
          "INSERT INTO agent_events (seq, session_id, type, at, data) VALUES ($1, 's', 't', $2, "
          "$3)",
          100 + 3 * i, kNow, std::to_string(i));
      tx.post("INSERT INTO webhook_receipts VALUES ($1, $2, '', '', $3)", std::to_string(i % 7),
              std::to_string(i * 7919 % 3501), kNow);
    }
    for (std::int64_t i = 0; i < 40; ++i) {
      tx.post(
          "INSERT INTO agent_sessions (id, agent_name, original_payload, created_at, updated_at) "
          "VALUES ($1, 'large', $2, $3, $3)",
          "large" + std::to_string(i), std::string(400'000, static_cast<char>('a' + i % 26)), kNow);
    }
  });
}

void fill(Database& db) {
  execute(db, kRows);
  add_many(db);
}

// All rows of all tables as texts, read without the code under test.
std::map<std::string, std::set<std::string>> contents(Database& db) {
  std::map<std::string, std::set<std::string>> all;
  db.read([&](Transaction& tx) {
    for (const auto& table : store_tables()) {
      auto& rows = all[std::string(table.name)];
      std::string columns;
      for (const auto column : table.columns) {
        columns.append(columns.empty() ? "" : ", ").append(column);
      }
      tx.query("SELECT " + columns + " FROM " + std::string(table.name), [&](const Row& row) {
        std::string text;
        for (int i = 0; i < static_cast<int>(table.columns.size()); ++i) {
          text += row.is_null(i) ? "null|" : "'" + row.string(i) + "'|";
        }
        rows.insert(text);
      });
    }
  });
  return all;
}

bool is_empty(Database& db) {
  for (const auto& [table, rows] : contents(db)) {
    if (table == "audit_head" ? rows != std::set<std::string>{"'1'|'0'|''|"} : !rows.empty()) {
      return false;
    }
  }
  return true;
}

using Schema = std::map<std::string, std::pair<std::set<std::string>, std::vector<std::string>>>;

Schema listed() {
  Schema schema;
  for (const auto& table : store_tables()) {
    auto& [columns, key] = schema[std::string(table.name)];
    columns.insert(table.columns.begin(), table.columns.end());
    key.assign(table.key.begin(), table.key.end());
  }
  return schema;
}

// Hands on to another database; a test says what goes wrong there.
class Disturbed final : public Database {
 public:
  using Around = std::function<void(const std::function<void(const Job&)>& run, const Job& job)>;
  Disturbed(Database& real, Around around) : real_(real), around_(std::move(around)) {}
  bool healthy() override { return true; }
  const Clock& clock() const override { return real_.clock(); }

 protected:
  void do_write(const Job& job) override {
    around_([&](const Job& inner) { real_.write([&](Transaction& tx) { inner(tx); }); }, job);
  }
  void do_read(const Job& job) override {
    around_([&](const Job& inner) { real_.read([&](Transaction& tx) { inner(tx); }); }, job);
  }

 private:
  Database& real_;
  const Around around_;
};

// Calls `before` ahead of every statement.
class Watched final : public Transaction {
 public:
  Watched(Transaction& real, std::function<void(std::string_view sql)> before)
      : real_(real), before_(std::move(before)) {}
  std::int64_t run(std::string_view sql, std::span<const Param> params,
                   const RowVisitor* visit) override {
    before_(sql);
    return real_.run(sql, params, visit);
  }

 private:
  Transaction& real_;
  const std::function<void(std::string_view sql)> before_;
};

}  // namespace

TEST_CASE("the list of what is copied names every table, column and key of SQLite") {
  Place place("schema");
  Schema real;
  place.db->read([&](Transaction& tx) {
    tx.query("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'",
             [&](const Row& row) {
               if (!kNotCopied.contains(row.string(0))) real[row.string(0)];
             });
    for (auto& [name, table] : real) {
      tx.query(
          "SELECT name, pk FROM pragma_table_info($1) ORDER BY pk",
          [&, &columns = table.first, &key = table.second](const Row& row) {
            columns.insert(row.string(0));
            if (row.integer(1) > 0) key.push_back(row.string(0));
          },
          name);
    }
  });
  CHECK(listed() == real);
}

TEST_CASE("the list of what is copied names every table, column and key of PostgreSQL") {
  Place place("schema", true);
  if (!place.postgres) return;
  Schema real;
  place.db->read([&](Transaction& tx) {
    tx.query(
        "SELECT table_name, column_name FROM information_schema.columns WHERE table_schema = "
        "current_schema()",
        [&](const Row& row) {
          if (!kNotCopied.contains(row.string(0))) real[row.string(0)].first.insert(row.string(1));
        });
    tx.query(
        "SELECT k.table_name, k.column_name FROM information_schema.key_column_usage k JOIN "
        "information_schema.table_constraints c USING (constraint_schema, constraint_name, "
        "table_name) WHERE c.constraint_schema = current_schema() AND c.constraint_type = 'PRIMARY "
        "KEY' ORDER BY k.table_name, k.ordinal_position",
        [&](const Row& row) {
          if (!kNotCopied.contains(row.string(0))) {
            real[row.string(0)].second.push_back(row.string(1));
          }
        });
  });
  CHECK(listed() == real);
}

TEST_CASE("a copy has every row as it was, and says how many") {
  Place source("source"), target("target", true);
  fill(*source.db);
  const auto before = contents(*source.db);
  const auto copied = copy(source, target);
  CHECK(contents(*target.db) == before);
  CHECK(contents(*source.db) == before);
  REQUIRE(copied.size() == store_tables().size());
  for (const auto& table : copied) {
    CAPTURE(table.name);
    CHECK(table.rows == static_cast<std::int64_t>(before.at(table.name).size()));
    CHECK(table.rows > 0);
    CHECK(table.checksum.size() == 64);
  }
}

TEST_CASE("a copy of a copy is the same, and has the same checksums") {
  Place source("source"), middle("middle", true), end("end");
  fill(*source.db);
  const auto there = copy(source, middle);
  const auto back = copy(middle, end);
  CHECK(there == back);
  CHECK(contents(*end.db) == contents(*source.db));
  Place other("other", true);
  CHECK(copy(middle, other) == there);
}

TEST_CASE("an empty database is copied too") {
  Place source("source"), target("target", true);
  copy(source, target);
  CHECK(is_empty(*target.db));
}

TEST_CASE("the next event after a copy has a higher number than all before") {
  Place source("source"), target("target", true);
  fill(*source.db);
  copy(source, target);
  target.db->write([](Transaction& tx) {
    tx.execute("INSERT INTO agent_events (session_id, type, at, data) VALUES ('s', 't', $1, '{}')",
               kNow);
  });
  target.db->read([](Transaction& tx) { CHECK(event_store::last_seq(tx) == 40'000'000'001); });
}

TEST_CASE("a target with a row in any table is refused, and stays as it was") {
  Place source("source");
  fill(*source.db);
  for (const auto& table : store_tables()) {
    Place target("target", true);
    execute(*target.db, {kRows[0], kRows[1]});  // What others refer to.
    const std::string into = "INSERT INTO " + std::string(table.name) + " ";
    for (const auto& sql : kRows) {
      if (&sql > &kRows[1] && sql.starts_with(into)) execute(*target.db, {sql});
    }
    if (table.name == "audit_head") execute(*target.db, {"UPDATE audit_head SET seq = 7"});
    if (table.name != "agent_sessions" && table.name != "agent_questions") {
      execute(*target.db, {"DELETE FROM agent_questions WHERE id NOT IN (SELECT question_id FROM "
                           "answer_links)"});
    }
    const auto before = contents(*target.db);
    const std::string why = failure(*source.db, *target.db, target.postgres);
    CAPTURE(why);
    CHECK(has(why, "the target is not empty"));
    CHECK(has(why, std::string(table.name) + " has "));
    CHECK(contents(*target.db) == before);
  }
}

TEST_CASE("a large table of the target is not counted to its end") {
  Place source("source"), target("target", true);
  add_many(*target.db);
  CHECK(
      has(failure(*source.db, *target.db, target.postgres), "agent_events has 1000 rows or more"));
}

TEST_CASE("a copy that runs twice because its first commit failed has every row once") {
  Place source("source"), target("target", true);
  fill(*source.db);
  struct Lost {};
  int runs = 0;
  Disturbed twice(*target.db, [&](const auto& run, const auto& job) {
    try {
      run([&](Transaction& tx) {
        job(tx);
        ++runs;
        throw Lost{};
      });
    } catch (const Lost&) {
    }
    CHECK(is_empty(*target.db));
    run(job);
  });
  copy(*source.db, twice, target.postgres);
  CHECK(runs == 1);
  CHECK(contents(*target.db) == contents(*source.db));
}

TEST_CASE("a source that is lost on the way and back is copied from its beginning") {
  Place source("source"), target("target", true);
  fill(*source.db);
  int losses = 0;
  Disturbed lost(*source.db, [&](const auto& run, const auto& job) {
    try {
      run([&](Transaction& tx) {
        Watched watched(tx, [](std::string_view sql) {
          if (has(std::string(sql), "FROM users")) throw StoreError("connection reset", true);
        });
        job(watched);
      });
    } catch (const StoreError&) {
      ++losses;
      run(job);
    }
  });
  copy(lost, *target.db, target.postgres);
  CHECK(losses == 1);
  CHECK(contents(*target.db) == contents(*source.db));
}

TEST_CASE("a source that fails is named with the table") {
  Place source("source"), target("target", true);
  fill(*source.db);
  Disturbed failing(*source.db, [&](const auto& run, const auto& job) {
    run([&](Transaction& tx) {
      Watched watched(tx, [](std::string_view sql) {
        if (has(std::string(sql), "FROM users")) throw StoreError("disk I/O error", true);
      });
      job(watched);
    });
  });
  const std::string why = failure(failing, *target.db, target.postgres);
  CHECK(has(why, "the source failed at users: disk I/O error"));
  CHECK(is_empty(*target.db));
}

TEST_CASE("an error of the target does not look to the source like one of its own") {
  Place source("source"), target("target", true);
  execute(*source.db, kRows);
  int reads = 0;
  Disturbed eager(*source.db, [&](const auto& run, const auto& job) {
    for (int round = 0; round < 2; ++round) {
      try {
        ++reads;
        return run(job);
      } catch (const StoreError&) {
      }
    }
  });
  execute(*target.db, {"ALTER TABLE users RENAME COLUMN role TO rank"});
  Disturbed blind(*target.db, [](const auto& run, const auto& job) {
    run([&](Transaction& tx) {
      Watched watched(tx, [](std::string_view) {});
      job(watched);
    });
  });
  CHECK(has(failure(eager, blind, target.postgres), "the target failed at users"));
  CHECK(reads == 1);
}

TEST_CASE("a target that dies anywhere is left empty or with the whole copy") {
  Place source("source");
  execute(*source.db, kRows);
  const auto whole = contents(*source.db);
  int done = 0;
  for (std::int64_t point = 1; done == 0; ++point) {
    const TempDir dir;
    const auto file = dir.path() / "target.db";
    {
      FailingDatabase target(open_file(file), point);
      if (failure(*source.db, target).empty()) ++done;
    }
    const auto db = open_file(file);
    const bool empty = is_empty(*db);
    CAPTURE(point);
    if (!empty) CHECK(contents(*db) == whole);
    if (done > 0) CHECK_FALSE(empty);
    REQUIRE(point < 1000);
  }
}

TEST_CASE("a row that changes on its way is found, and nothing is kept") {
  const std::map<std::string, std::string> changes{
      {"agent_events",
       "AFTER INSERT ON agent_events WHEN new.seq = 3 BEGIN UPDATE agent_events SET data = '{ }' "
       "WHERE seq = 3; END"},
      {"api_keys",
       "AFTER INSERT ON api_keys BEGIN UPDATE api_keys SET expires_at = '' WHERE id = new.id; END"},
      {"agent_messages", "BEFORE INSERT ON agent_messages BEGIN SELECT RAISE(IGNORE); END"},
      {"logins",
       "AFTER INSERT ON logins BEGIN INSERT INTO logins SELECT 'more', user_name, created_at, "
       "expires_at FROM logins; END"},
  };
  Place source("source");
  fill(*source.db);
  for (const auto& [table, trigger] : changes) {
    Place target("target");
    execute(*target.db, {"CREATE TRIGGER change " + trigger});
    const std::string why = failure(*source.db, *target.db);
    CAPTURE(why);
    CHECK(has(why, table + " is not the same on both sides"));
    CHECK(is_empty(*target.db));
  }
}

TEST_CASE("what PostgreSQL cannot hold is found, and nothing is kept") {
  Place source("source"), target("target", true);
  if (!target.postgres) return;
  const std::string zero("a\0b", 3), broken("a\xff");
  for (const auto& value : {zero, broken}) {
    source.db->write([&](Transaction& tx) {
      tx.execute(
          "INSERT INTO server_secrets (name, value) VALUES ('x', $1) ON CONFLICT (name) DO "
          "UPDATE SET value = excluded.value",
          value);
    });
    const std::string why = failure(*source.db, *target.db, true);
    CAPTURE(why);
    CHECK(has(why, "server_secrets"));
    CHECK(is_empty(*target.db));
  }
}

TEST_CASE("checksums tell null from empty, and one column's end from the next one's beginning") {
  std::set<std::string> sums;
  for (const char* values : {"'ab', 'c', NULL", "'a', 'bc', NULL", "'ab', 'c', ''",
                             "'ab', 'c', '-'", "'ab', '1:c', NULL"}) {
    Place source("source"), target("target", true);
    execute(*source.db,
            {std::string("INSERT INTO api_keys (id, name, secret_hash, scopes, "
                         "created_at, expires_at) VALUES ('k', ") +
             std::string(values).insert(std::string(values).rfind(','), ", '', ''") + ")"});
    for (const auto& table : copy(source, target)) {
      if (table.name == "api_keys") sums.insert(table.checksum);
    }
  }
  CHECK(sums.size() == 5);
}

TEST_CASE("a row without a key, which SQLite allows, is refused rather than lost") {
  Place source("source"), target("target");
  execute(*source.db, {"INSERT INTO server_secrets (name, value) VALUES (NULL, 'x')"});
  CHECK(has(failure(*source.db, *target.db), "a row of server_secrets has no name"));
  CHECK(is_empty(*target.db));
}

TEST_CASE("progress names every table that has rows") {
  Place source("source"), target("target", true);
  fill(*source.db);
  std::map<std::string, std::int64_t> seen;
  CopyOptions options;
  options.hash = sha256_hex;
  options.to_postgres = target.postgres;
  options.on_progress = [&](std::string_view doing, std::string_view table, std::int64_t rows) {
    seen[std::string(doing) + " " + std::string(table)] = rows;
  };
  for (const auto& table : copy_store(*source.db, *target.db, options)) {
    CAPTURE(table.name);
    CHECK(seen["copying " + table.name] == table.rows);
    CHECK(seen["checking " + table.name] == table.rows);
  }
}

TEST_CASE("only a file that this program made is taken for one") {
  Place ours("ours");
  CHECK(is_store_file(ours.file.string()));
  ours.db.reset();
  CHECK(is_store_file(ours.file.string()));
  TempDir dir;
  const auto other = (dir.path() / "other.db").string();
  sqlite3* db = nullptr;
  REQUIRE(sqlite3_open(other.c_str(), &db) == SQLITE_OK);
  CHECK(sqlite3_exec(db, "CREATE TABLE t (x)", nullptr, nullptr, nullptr) == SQLITE_OK);
  sqlite3_close(db);
  CHECK_FALSE(is_store_file(other));
  CHECK_THROWS_AS(is_store_file((dir.path() / "none.db").string()), StoreError);
  std::ofstream(dir.path() / "text.db") << "this is a text, and longer than a header of SQLite's "
                                           "own, which has a hundred bytes at the very beginning";
  CHECK_THROWS_AS(is_store_file((dir.path() / "text.db").string()), StoreError);
}

TEST_CASE("two URLs of one PostgreSQL database are known to be the same, and who is connected") {
  const Place one("one", true), two("two", true);
  if (!one.postgres) return;
  PostgresOptions options;
  options.url = *test_postgres_url(one.file) + "&connect_timeout=7";
  const auto same = open_postgres(std::move(options));
  CHECK(postgres_identity(*same) == postgres_identity(*one.db));
  CHECK(postgres_identity(*two.db) != postgres_identity(*one.db));
  // Other tests may be connected as well.
  const auto first = connected_nodes(*one.db, 0);
  CHECK(first.self > 0);
  CHECK(first.others >= 2);
  CHECK_FALSE(first.addresses.empty());
}
