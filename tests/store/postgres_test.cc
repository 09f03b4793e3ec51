#include <doctest/doctest.h>

#include <atomic>
#include <limits>

#include "tests/support/beside.h"
#include "tests/support/eventually.h"
#include "tests/support/on_postgres.h"

using namespace holdpoint;
using namespace holdpoint::test;

namespace {

// A schema with one database open on one connection, so that what happens to it shows.
struct One : PostgresSchema {
  std::unique_ptr<Database> db = open(1);
  const std::int64_t pid = backend(*db);

  bool same_connection() { return backend(*db) == pid; }
};

// Makes `SELECT lose_first(n)` fail the first n times as a transaction does that lost against
// another.
void make_lose_first(const PostgresSchema& schema) {
  schema.run("CREATE SEQUENCE tries");
  schema.run(
      "CREATE FUNCTION lose_first(n bigint) RETURNS bigint LANGUAGE plpgsql AS $$ BEGIN IF "
      "nextval('tries') <= n THEN RAISE 'lost' USING ERRCODE = '40001'; END IF; RETURN n; END $$");
}

}  // namespace

TEST_CASE("an error of a posted statement comes out of the write, and nothing is kept" *
          on_postgres()) {
  One one;
  CHECK_THROWS_AS(one.db->write([](Transaction& tx) {
    put(tx, "a");
    post(tx, "b");
    post(tx, "a");  // Against the primary key.
    post(tx, "c");
  }),
                  StoreError);
  CHECK(one.count() == 0);
  one.db->write([](Transaction& tx) { post(tx, "a"); });
  CHECK(one.count() == 1);
  CHECK(one.same_connection());
}

TEST_CASE("an error of a posted statement comes out of the next one that is awaited" *
          on_postgres()) {
  One one;
  bool got_past = false;
  CHECK_THROWS_AS(one.db->write([&](Transaction& tx) {
    tx.post("SELECT 1 / 0");
    (void)backend(tx);
    got_past = true;
  }),
                  StoreError);
  CHECK_FALSE(got_past);
  CHECK(one.same_connection());
}

TEST_CASE("an error that the job swallows still undoes all of it, and comes out of the write" *
          on_postgres()) {
  One one;
  CHECK_THROWS_AS(one.db->write([](Transaction& tx) {
    put(tx, "a");
    try {
      put(tx, "a");
    } catch (const StoreError&) {
    }
  }),
                  StoreError);
  CHECK(one.count() == 0);
  CHECK(one.same_connection());
}

TEST_CASE("a job that throws leaves nothing, of what it posted neither" * on_postgres()) {
  One one;
  CHECK_THROWS_WITH(one.db->write([](Transaction& tx) {
    put(tx, "a");
    post(tx, "b");
    throw std::runtime_error("changed my mind");
  }),
                    "changed my mind");
  CHECK_THROWS_WITH(one.db->write([](Transaction& tx) {
    post(tx, "a");
    post(tx, "a");  // Would fail, if somebody asked.
    throw std::runtime_error("changed my mind");
  }),
                    "changed my mind");
  CHECK(one.count() == 0);
  CHECK(one.same_connection());
}

TEST_CASE("one that is wrong is told so, one that lost against others may be tried again" *
          on_postgres()) {
  One one;
  try {
    one.db->write([](Transaction& tx) { tx.execute("SELECT nothing FROM nowhere"); });
    FAIL("there is no such table");
  } catch (const StoreError& e) {
    CHECK_FALSE(e.retryable());
    CHECK_FALSE(e.in_doubt());
    CHECK(std::string(e.what()).find("nowhere") != std::string::npos);
  }
  CHECK(one.db->healthy());
  CHECK(one.same_connection());
}

TEST_CASE("a write that lost against another runs again, and happens once" * on_postgres()) {
  One one;
  make_lose_first(one);
  int runs = 0;
  const auto result = one.db->write([&](Transaction& tx) {
    ++runs;
    put(tx, "a");
    return number(tx, "SELECT lose_first(6)");
  });
  CHECK(result == 6);
  CHECK(runs == 7);
  CHECK(one.count() == 1);
  CHECK(one.same_connection());
}

TEST_CASE("a write whose posted statement lost, or its commit, runs again, too" * on_postgres()) {
  One one;
  make_lose_first(one);
  one.db->write([&](Transaction& tx) {
    post(tx, "a");
    tx.post("SELECT lose_first(2)");
  });
  CHECK(one.count() == 1);
  one.run("SELECT setval('tries', 1, false)");
  one.run(
      "CREATE FUNCTION late() RETURNS trigger LANGUAGE plpgsql AS "
      "$$ BEGIN PERFORM lose_first(2); RETURN NULL; END $$");
  one.run(
      "CREATE CONSTRAINT TRIGGER late AFTER INSERT ON disabled_destinations "
      "DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION late()");
  int runs = 0;
  one.db->write([&](Transaction& tx) {
    ++runs;
    put(tx, "b");
  });
  CHECK(runs == 3);
  CHECK(one.count() == 2);
  CHECK(one.same_connection());
}

TEST_CASE("a read that lost against another runs again" * on_postgres()) {
  One one;
  make_lose_first(one);
  CHECK(one.db->read([](Transaction& tx) { return number(tx, "SELECT lose_first(2)"); }) == 2);
  CHECK(one.same_connection());
}

TEST_CASE("a write that loses for ever fails soon, and may be tried again later" * on_postgres()) {
  One one;
  make_lose_first(one);
  const auto start = std::chrono::steady_clock::now();
  try {
    one.db->write([](Transaction& tx) { return number(tx, "SELECT lose_first(1000000)"); });
    FAIL("it cannot have won");
  } catch (const StoreError& e) {
    CHECK(e.retryable());
    CHECK_FALSE(e.in_doubt());
  }
  CHECK(std::chrono::steady_clock::now() - start < 15s);
  CHECK(one.same_connection());
}

TEST_CASE("two writes that wait for each other's rows both happen, once each" * on_postgres()) {
  PostgresSchema schema;
  schema.run("INSERT INTO commit_probe VALUES (1, ''), (2, '')");
  // Found out after a moment instead of a second.
  const auto db = schema.open_at(schema.url + "%20-cdeadlock_timeout%3D20ms", 2);
  std::atomic<int> at_second_row{0}, runs{0};
  const auto write = [&](int first, int second) {
    db->write([&](Transaction& tx) {
      ++runs;
      const char* sql = "UPDATE commit_probe SET filler = filler || 'x' WHERE id = $1";
      tx.execute(sql, first);
      ++at_second_row;
      CHECK(eventually([&] { return at_second_row >= 2; }));
      tx.execute(sql, second);
    });
  };
  Beside other([&] { write(2, 1); });
  write(1, 2);
  other.join();
  CHECK(runs >= 3);
  CHECK(schema.number("SELECT SUM(LENGTH(filler)) FROM commit_probe") == 4);
}

TEST_CASE("a write that waits long for another's row steps back and runs again" * on_postgres()) {
  One one;
  one.run("INSERT INTO commit_probe VALUES (1, '')");
  const auto holder = one.connect();
  holder->begin_write();
  holder->execute("UPDATE commit_probe SET filler = 'y'");
  int runs = 0;
  one.db->write([&](Transaction& tx) {
    if (++runs == 2) holder->commit();
    tx.execute("UPDATE commit_probe SET filler = filler || 'x' WHERE id = 1");
  });
  CHECK(runs == 2);
  CHECK(one.number("SELECT COUNT(*) FROM commit_probe WHERE filler = 'yx'") == 1);
}

TEST_CASE("a write whose connection is ended in its middle runs again on another" * on_postgres()) {
  PostgresSchema schema;
  const auto db = schema.open(2);
  for (const bool posted : {false, true}) {
    CAPTURE(posted);
    int runs = 0;
    std::int64_t ended = 0;
    db->write([&](Transaction& tx) {
      put(tx, posted ? "b" : "a");
      if (++runs == 1) schema.end_backend(ended = backend(tx));
      if (posted) {
        post(tx, "c");
      } else {
        put(tx, "d");
      }
    });
    CHECK(runs == 2);
    CHECK(backend(*db) != ended);
  }
  CHECK(schema.count() == 4);
}

TEST_CASE("a read whose connection is ended in its middle runs again on another" * on_postgres()) {
  One one;
  int runs = 0;
  const auto read = [&] {
    return one.db->read([&](Transaction& tx) {
      const auto pid = backend(tx);
      if (++runs == 2) one.end_backend(pid);  // The first is the one that finds out it has two.
      return number(tx, "SELECT 42");
    });
  };
  CHECK(read() == 42);
  CHECK(runs == 3);
}

TEST_CASE("after all connections were ended nobody notices" * on_postgres()) {
  PostgresSchema schema;
  const auto db = schema.open(4);
  std::atomic<int> inside{0};
  std::vector<std::int64_t> pids(4);
  side_by_side(4, [&](int i) {
    db->write([&](Transaction& tx) {
      pids[static_cast<std::size_t>(i)] = backend(tx);
      ++inside;
      CHECK(eventually([&] { return inside >= 4; }));
    });
  });
  for (const auto pid : pids) schema.end_backend(pid);
  for (int i = 0; i < 4; ++i) {
    db->write([&](Transaction& tx) { put(tx, std::to_string(i)); });
    CHECK(db->read([](Transaction& tx) {
      return number(tx, "SELECT COUNT(*) FROM disabled_destinations");
    }) == i + 1);
  }
  CHECK(db->healthy());
}

TEST_CASE("a read of several statements sees one snapshot" * on_postgres()) {
  PostgresSchema schema;
  const auto db = schema.open(2);
  const auto other = schema.open(1);
  int written = 0;
  for (int round = 0; round < 3; ++round) {
    db->read([&](Transaction& tx) {
      const auto rows = [&] { return number(tx, "SELECT COUNT(*) FROM disabled_destinations"); };
      const auto write = [&] {
        other->write([&](Transaction& theirs) { put(theirs, std::to_string(++written)); });
      };
      std::vector<std::int64_t> seen;
      for (int i = 0; i < 3; ++i) {
        seen.push_back(rows());
        write();
      }
      CHECK(seen == std::vector<std::int64_t>(3, seen[0]));
    });
  }
  CHECK(schema.count() == written);
}

TEST_CASE("one place may read once now and twice then" * on_postgres()) {
  One one;
  one.db->write([](Transaction& tx) { put(tx, "a"); });
  for (const int statements : {1, 2, 1, 3, 1}) {
    const auto sum = one.db->read([&](Transaction& tx) {
      std::int64_t rows = 0;
      for (int i = 0; i < statements; ++i) {
        rows += number(tx, "SELECT COUNT(*) FROM disabled_destinations");
      }
      return rows;
    });
    CHECK(sum == statements);
  }
  CHECK(one.same_connection());
}

TEST_CASE("a read that throws or fails leaves the connection as good as new" * on_postgres()) {
  One one;
  for (int round = 0; round < 3; ++round) {
    for (const int statements : {1, 2}) {
      CHECK_THROWS_WITH(one.db->read([&](Transaction& tx) {
        for (int i = 0; i < statements; ++i) (void)backend(tx);
        throw std::runtime_error("enough");
      }),
                        "enough");
    }
    CHECK_THROWS_WITH(one.db->read([&](Transaction& tx) {
      tx.query("SELECT 1", [](const Row&) { throw std::runtime_error("enough"); });
    }),
                      "enough");
    CHECK_THROWS_AS(one.db->read([](Transaction& tx) { return number(tx, "SELECT 1 / 0"); }),
                    StoreError);
    CHECK_THROWS_AS(one.db->read([](Transaction& tx) {
      return number(tx, "SELECT 1") + number(tx, "SELECT 1 / 0");
    }),
                    StoreError);
  }
  one.db->write([](Transaction& tx) { put(tx, "a"); });
  CHECK(one.count() == 1);
  CHECK(one.same_connection());
}

TEST_CASE("a read of several statements cannot write" * on_postgres()) {
  One one;
  CHECK_THROWS_AS(one.db->read([](Transaction& tx) {
    (void)backend(tx);
    put(tx, "a");
  }),
                  StoreError);
  CHECK(one.count() == 0);
}

TEST_CASE("a read of one statement cannot write either" * on_postgres()) {
  One one;
  CHECK_THROWS_AS(one.db->read([](Transaction& tx) { put(tx, "a"); }), StoreError);
  CHECK(one.count() == 0);
}

TEST_CASE("a statement may be used with values of other types later" * on_postgres()) {
  One one;
  const auto is_null = [&](const Param& value) {
    return one.db->read([&](Transaction& tx) {
      bool null = false;
      tx.query(
          "SELECT $1 IS NULL", [&](const Row& row) { null = row.integer(0) == 1; }, value);
      return null;
    });
  };
  for (int round = 0; round < 2; ++round) {
    CHECK_FALSE(is_null(Param("text")));
    CHECK_FALSE(is_null(Param(7)));
    CHECK_FALSE(is_null(Param(false)));
    CHECK(is_null(Param(std::optional<std::string>())));
    CHECK(is_null(Param(std::optional<std::int64_t>())));
    CHECK(is_null(Param(std::optional<Time>())));
    CHECK_FALSE(is_null(Param(kNow)));
  }
  CHECK(one.same_connection());
}

TEST_CASE("a statement that could not be prepared can be once its table is there" * on_postgres()) {
  One one;
  const auto read = [&] {
    return one.db->read([](Transaction& tx) { return number(tx, "SELECT n FROM later_on"); });
  };
  CHECK_THROWS_AS(read(), StoreError);
  CHECK_THROWS_AS(read(), StoreError);
  one.run("CREATE TABLE later_on AS SELECT 7 AS n");
  CHECK(read() == 7);
  CHECK(one.same_connection());
}

TEST_CASE("a statement whose rows got another shape is prepared anew" * on_postgres()) {
  One one;
  one.run("CREATE TABLE wide AS SELECT 7 AS n");
  const auto read = [&] {
    return one.db->read([](Transaction& tx) { return number(tx, "SELECT * FROM wide"); });
  };
  const auto write = [&] {
    return one.db->write([](Transaction& tx) { return number(tx, "SELECT * FROM wide"); });
  };
  CHECK(read() == 7);
  one.run("ALTER TABLE wide ADD COLUMN more text");
  CHECK(read() == 7);
  CHECK(write() == 7);
  one.run("ALTER TABLE wide ADD COLUMN still_more text");
  CHECK(write() == 7);
}

TEST_CASE("statements that the server has forgotten, as behind a pooler, are sent as texts" *
          on_postgres()) {
  One one;
  int n = 0;
  const auto put_next = [&] {
    one.db->write([&](Transaction& tx) {
      put(tx, std::to_string(n++));
      post(tx, std::to_string(n++));
    });
  };
  put_next();
  one.db->write([](Transaction& tx) { tx.execute("DEALLOCATE ALL"); });
  for (int i = 0; i < 3; ++i) put_next();
  CHECK(one.count() == 8);
}

TEST_CASE("a thousand posted statements are one write, and one that fails among them undoes all" *
          on_postgres()) {
  One one;
  const auto write = [&](int first, int wrong) {
    one.db->write([&](Transaction& tx) {
      for (int i = 0; i < 1000; ++i) post(tx, std::to_string(first + (i == wrong ? 0 : i)));
    });
  };
  write(0, -1);
  CHECK(one.count() == 1000);
  for (const int wrong : {1, 199, 200, 201, 999}) {
    CHECK_THROWS_AS(write(1000, wrong), StoreError);
  }
  CHECK(one.count() == 1000);
  CHECK(one.same_connection());
}

TEST_CASE("many large posted statements do not clog the connection" * on_postgres()) {
  One one;
  const std::string large(64 << 10, 'x');
  one.db->write([&](Transaction& tx) {
    for (int i = 0; i < 400; ++i) {
      tx.post(
          "INSERT INTO disabled_destinations (destination, disabled_at, reason) VALUES ($1, $2, "
          "$3)",
          std::to_string(i), kNow, large);
    }
  });
  CHECK(one.number("SELECT SUM(LENGTH(reason)) FROM disabled_destinations") == 400 * 65536);
}

TEST_CASE("writes side by side see each other's rows as they commit, and locks keep them apart" *
          on_postgres()) {
  PostgresSchema schema;
  schema.run("INSERT INTO commit_probe VALUES (1, '')");
  const auto db = schema.open(8);
  side_by_side(8, [&](int) {
    for (int i = 0; i < 25; ++i) {
      db->write([](Transaction& tx) {
        tx.lock("SELECT 1 FROM commit_probe WHERE id = 1 FOR UPDATE");
        const auto length = number(tx, "SELECT LENGTH(filler) FROM commit_probe WHERE id = 1");
        tx.post("UPDATE commit_probe SET filler = $1 WHERE id = 1",
                std::string(static_cast<std::size_t>(length) + 1, 'x'));
      });
    }
  });
  CHECK(schema.number("SELECT LENGTH(filler) FROM commit_probe") == 200);
}

TEST_CASE("commits that changed something are told, those of reads are not" * on_postgres()) {
  PostgresSchema schema;
  std::atomic<int> commits{0};
  PostgresOptions options;
  options.url = schema.url;
  options.on_commit = [&] { ++commits; };
  const auto db = open_postgres(std::move(options));
  db->write([](Transaction& tx) { put(tx, "a"); });
  CHECK(commits == 1);
  (void)backend(*db);
  CHECK(commits == 1);
  CHECK_THROWS(db->write([](Transaction& tx) { put(tx, "a"); }));
  CHECK(commits == 1);
}
