#include <doctest/doctest.h>
#include <sqlite3.h>

#include <fstream>
#include <thread>

#include "base/embedded.h"
#include "domain/transitions.h"
#include "store/migrations.h"
#include "tests/support/world.h"

using namespace holdpoint;
using namespace holdpoint::test;

namespace {

const Time kNow = parse_iso("2026-11-16T09:00:00.000Z").value();

struct Fixture {
  TempDir dir;
  std::string path = (dir.path() / "test.db").string();
  std::atomic<std::size_t> commits{0}, writes{0};

  std::unique_ptr<Database> open() {
    SqliteOptions options;
    options.path = path;
    options.on_commit = [this](std::size_t batch) {
      ++commits;
      writes += batch;
    };
    options.on_sync_failure = [](const std::string&) { std::abort(); };
    return open_sqlite(std::move(options), kNow);
  }
};

void put(Transaction& tx, const std::string& destination) {
  tx.execute(
      "INSERT INTO disabled_destinations (destination, disabled_at, reason) VALUES ($1, $2, $3)",
      destination, kNow, "test");
}

std::int64_t count(Database& db) {
  return db.read([](Transaction& tx) {
    std::int64_t n = 0;
    tx.query("SELECT COUNT(*) FROM disabled_destinations",
             [&](const Row& row) { n = row.integer(0); });
    return n;
  });
}

}  // namespace

TEST_CASE("what was written is there after the database was closed and opened again") {
  Fixture fixture;
  fixture.open()->write([](Transaction& tx) { put(tx, "a"); });
  CHECK(count(*fixture.open()) == 1);
}

TEST_CASE("a write that throws leaves nothing, and its exception comes out") {
  Fixture fixture;
  const auto db = fixture.open();
  CHECK_THROWS_WITH(db->write([](Transaction& tx) {
    put(tx, "a");
    throw std::runtime_error("changed my mind");
  }),
                    "changed my mind");
  CHECK(count(*db) == 0);
  CHECK(db->healthy());
}

TEST_CASE(
    "writes that wait for each other share one commit, and one that fails does not hurt the "
    "others") {
  Fixture fixture;
  const auto db = fixture.open();
  std::atomic<int> started{0}, failed{0};
  std::atomic<bool> first{true};
  std::vector<std::thread> threads;
  for (int i = 0; i < 32; ++i) {
    threads.emplace_back([&, i] {
      ++started;
      try {
        db->write([&](Transaction& tx) {
          // The first writer holds the writer thread until all the others are under way.
          if (first.exchange(false)) {
            const auto deadline = std::chrono::steady_clock::now() + 10s;
            while (started < 32 && std::chrono::steady_clock::now() < deadline) {
              std::this_thread::yield();
            }
          }
          put(tx, std::to_string(i));
          if (i % 4 == 0) put(tx, std::to_string(i));  // Against the primary key.
        });
      } catch (const StoreError& e) {
        CHECK_FALSE(e.retryable());
        ++failed;
      }
    });
  }
  for (auto& thread : threads) thread.join();
  CHECK(failed == 8);
  CHECK(count(*db) == 24);
  CHECK(fixture.writes == 32);
  CHECK(fixture.commits < 32);
}

TEST_CASE("readers see a snapshot, and nothing that is not committed") {
  Fixture fixture;
  const auto db = fixture.open();
  db->read([&](Transaction& tx) {
    const auto seen = [&] {
      std::int64_t n = 0;
      tx.query("SELECT COUNT(*) FROM disabled_destinations",
               [&](const Row& row) { n = row.integer(0); });
      return n;
    };
    CHECK(seen() == 0);
    db->write([](Transaction& other) { put(other, "a"); });
    CHECK(seen() == 0);
  });
  CHECK(count(*db) == 1);
}

TEST_CASE("a reader cannot write") {
  Fixture fixture;
  const auto db = fixture.open();
  CHECK_THROWS_AS(db->read([](Transaction& tx) { put(tx, "a"); }), StoreError);
  CHECK(count(*db) == 0);
}

TEST_CASE("values of every kind come back as they went in") {
  Fixture fixture;
  const auto db = fixture.open();
  const std::string odd = "ünïcode 🦜 \"quotes\" and\nlines";
  db->read([&](Transaction& tx) {
    tx.query(
        "SELECT $2, $1, $3, $4, $5",
        [&](const Row& row) {
          CHECK(row.string(0) == odd);
          CHECK(row.integer(1) == -9'000'000'000);
          CHECK(row.is_null(2));
          CHECK(row.time(3) == kNow);
          CHECK(row.integer(4) == 1);
        },
        std::int64_t{-9'000'000'000}, odd, std::optional<std::string>(), kNow, true);
  });
  CHECK_THROWS_AS(db->read([](Transaction& tx) { tx.execute("SELECT $1, $2", 1); }),
                  std::logic_error);
}

TEST_CASE("a second process is refused for as long as the first lives") {
  Fixture fixture;
  auto first = fixture.open();
  CHECK_THROWS_AS(fixture.open(), StoreError);
  first.reset();
  CHECK_NOTHROW(fixture.open());
}

TEST_CASE("a database newer than the program is left alone") {
  Fixture fixture;
  fixture.open()->write([](Transaction& tx) {
    tx.execute(
        "INSERT INTO schema_migrations (number, name, applied_at) VALUES (999, 'later', 'x')");
  });
  CHECK_THROWS_WITH_AS(fixture.open(), doctest::Contains("newer than this program"), StoreError);
}

TEST_CASE("a file that is no database is refused with its name") {
  Fixture fixture;
  std::ofstream(fixture.path)
      << "this is a shopping list, and a long one at that: milk, bread, eggs …";
  CHECK_THROWS_AS(fixture.open(), StoreError);
  fixture.path = "/nonexistent/folder/x.db";
  CHECK_THROWS_AS(fixture.open(), StoreError);
}

TEST_CASE("the log is moved into the database as it grows, and starts over") {
  Fixture fixture;
  const auto db = fixture.open();
  const std::string filler(100'000, 'x');
  for (int i = 0; i < 400; ++i) {
    db->write([&](Transaction& tx) {
      tx.execute(
          "INSERT INTO disabled_destinations (destination, disabled_at, reason) VALUES ($1, $2, "
          "$3)",
          std::to_string(i), kNow, filler);
    });
  }
  CHECK(std::filesystem::file_size(fixture.path) > 30'000'000);
  CHECK(std::filesystem::file_size(fixture.path + "-wal") < 25'000'000);
}

TEST_CASE("migrations are numbered sections, each applied once") {
  const auto migrations = read_migrations(embedded::schema_sql);
  REQUIRE(migrations.size() >= 1);
  CHECK(migrations[0].name == "the spine");
  CHECK_THROWS_AS(read_migrations("-- migration 2: no first\nSELECT 1;\n"), StoreError);
  CHECK_THROWS_AS(read_migrations("-- migration 1: open\nSELECT 1\n"), StoreError);

  Fixture fixture;
  fixture.open();
  const auto db = fixture.open();
  db->read([&](Transaction& tx) {
    tx.query("SELECT COUNT(*) FROM schema_migrations", [&](const Row& row) {
      CHECK(row.integer(0) == static_cast<std::int64_t>(migrations.size()));
    });
  });
}

TEST_CASE("the schema's lists of states are those of the table of moves") {
  Fixture fixture;
  const auto db = fixture.open();
  std::map<std::string, std::string> tables;
  db->read([&](Transaction& tx) {
    tx.query("SELECT name, sql FROM sqlite_master WHERE type = 'table'",
             [&](const Row& row) { tables[row.string(0)] = row.string(1); });
  });
  const auto list = [](const auto& statuses) {
    std::string text = "CHECK (status IN (";
    for (const auto status : statuses) {
      if (text.back() == '\'') text += ", ";
      text += "'" + std::string(to_text(status)) + "'";
    }
    return text + "))";
  };
  CHECK(tables.at("agent_sessions").find(list(kSessionStatuses)) != std::string::npos);
  CHECK(tables.at("agent_questions").find(list(kQuestionStatuses)) != std::string::npos);
  for (const char* column : {"id", "agent_name", "status", "original_payload", "execution_state",
                             "created_at", "updated_at"}) {
    CHECK(tables.at("agent_sessions").find(column) != std::string::npos);
  }
  for (const char* column :
       {"id", "session_id", "question", "context", "answer", "answered_at", "created_at"}) {
    CHECK(tables.at("agent_questions").find(column) != std::string::npos);
  }
}
