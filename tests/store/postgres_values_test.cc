#include <doctest/doctest.h>

#include <limits>

#include "tests/support/on_postgres.h"

using namespace holdpoint;
using namespace holdpoint::test;

namespace {

struct Values : PostgresSchema {
  // What comes back for one value, sent to the server and back.
  std::optional<std::string> echo(const char* sql, const Param& value) {
    return db->read([&](Transaction& tx) {
      std::optional<std::string> text;
      tx.query(
          sql, [&](const Row& row) { text = row.optional_string(0); }, value);
      return text;
    });
  }
  // The same by way of a column.
  std::string stored(const std::string& text) {
    return db->write([&](Transaction& tx) {
      tx.execute(
          "INSERT INTO commit_probe (id, filler) VALUES (1, $1) ON CONFLICT (id) DO UPDATE SET "
          "filler = $1",
          text);
      std::string back;
      tx.query("SELECT filler FROM commit_probe", [&](const Row& row) { back = row.string(0); });
      return back;
    });
  }

  std::unique_ptr<Database> db = open(1);
};

}  // namespace

TEST_CASE("texts come back byte for byte" * on_postgres()) {
  Values values;
  std::string every_ascii;
  for (char c = 1; c < 127; ++c) every_ascii += c;
  for (const std::string& text :
       {std::string(), std::string(" "), std::string("it's \"quoted\" \\ and $1 %s"),
        std::string("ünïcode 🦜 \u0301 \U0010FFFF"), std::string("lines\r\n\tand tabs"),
        every_ascii, std::string(1 << 20, 'x')}) {
    CAPTURE(text.substr(0, 80));
    CHECK(values.echo("SELECT $1", text) == text);
    CHECK(values.stored(text) == text);
  }
}

TEST_CASE("whole numbers come back over all their range" * on_postgres()) {
  Values values;
  using Limits = std::numeric_limits<std::int64_t>;
  for (const std::int64_t number : {Limits::min(), std::int64_t{-9'000'000'000}, std::int64_t{-1},
                                    std::int64_t{0}, std::int64_t{1}, Limits::max()}) {
    values.db->read([&](Transaction& tx) {
      tx.query(
          "SELECT $1", [&](const Row& row) { CHECK(row.integer(0) == number); }, number);
    });
  }
}

TEST_CASE("booleans are 0 and 1, sent and received" * on_postgres()) {
  Values values;
  CHECK(values.echo("SELECT $1", true) == "1");
  CHECK(values.echo("SELECT $1", false) == "0");
  values.db->read([&](Transaction& tx) {
    tx.query("SELECT 1 = 1, 1 = 2", [&](const Row& row) {
      CHECK(row.integer(0) == 1);
      CHECK(row.integer(1) == 0);
    });
  });
}

TEST_CASE("times and ids come back as they were" * on_postgres()) {
  Values values;
  const SessionId id = SessionId::make(kNow);
  values.db->read([&](Transaction& tx) {
    tx.query(
        "SELECT $1, $2, $3",
        [&](const Row& row) {
          CHECK(row.time(0) == kNow);
          CHECK(row.string(1) == id.text());
          CHECK(row.optional_time(2) == std::nullopt);
        },
        kNow, id, std::optional<Time>());
  });
}

TEST_CASE("a null of each type is null, and not an empty text" * on_postgres()) {
  Values values;
  CHECK(values.echo("SELECT $1", std::optional<std::string>()) == std::nullopt);
  CHECK(values.echo("SELECT $1", std::optional<std::int64_t>()) == std::nullopt);
  CHECK(values.echo("SELECT $1", std::optional<bool>()) == std::nullopt);
  CHECK(values.echo("SELECT $1", std::optional<SessionId>()) == std::nullopt);
  CHECK(values.echo("SELECT $1::text", Param::any(std::nullopt)) == std::nullopt);
  CHECK(values.echo("SELECT $1::bigint", Param::any(std::nullopt)) == std::nullopt);
  CHECK(values.echo("SELECT $1", "") == "");
  CHECK(values.echo("SELECT $1", std::string_view()) == "");
  CHECK(values.echo("SELECT $1::text", Param::any("")) == "");
}

TEST_CASE("a value of any type becomes what its column holds" * on_postgres()) {
  Values values;
  values.db->write([](Transaction& tx) {
    tx.execute("INSERT INTO commit_probe (id, filler) VALUES ($1, $2)", Param::any("42"),
               Param::any("43"));
  });
  CHECK(values.number("SELECT COUNT(*) FROM commit_probe WHERE id = 42 AND filler = '43'") == 1);
  CHECK_THROWS_AS(values.db->write([](Transaction& tx) {
    tx.execute("INSERT INTO commit_probe (id, filler) VALUES ($1, $2)", Param::any("forty"),
               Param::any("x"));
  }),
                  StoreError);
}

TEST_CASE("a text that is no UTF-8 is refused for good, and the connection lives on" *
          on_postgres()) {
  Values values;
  const auto pid = backend(*values.db);
  for (const std::string& text :
       {std::string("\xff"), std::string("cut \xf0\x9f\xa6"), std::string("\xc0\x80"),
        std::string("\xed\xa0\x80"), std::string("a\0b", 3)}) {
    CAPTURE(text);
    for (const bool posted : {false, true}) {
      try {
        values.db->write([&](Transaction& tx) {
          if (posted) {
            tx.post("INSERT INTO commit_probe (id, filler) VALUES (1, $1)", text);
          } else {
            tx.execute("INSERT INTO commit_probe (id, filler) VALUES (1, $1)", text);
          }
        });
        FAIL("it was taken");
      } catch (const StoreError& e) {
        CHECK_FALSE(e.retryable());
        CHECK_FALSE(e.in_doubt());
      }
    }
  }
  CHECK(values.count("commit_probe") == 0);
  CHECK(backend(*values.db) == pid);
}

TEST_CASE("a value of any type is not cut where it holds a zero byte" * on_postgres()) {
  Values values;
  CHECK_THROWS_AS(values.echo("SELECT $1::text", Param::any(std::string_view("a\0b", 3))),
                  StoreError);
}

TEST_CASE("a write knows how many rows each of its statements changed" * on_postgres()) {
  Values values;
  values.db->write([](Transaction& tx) {
    const char* insert =
        "INSERT INTO commit_probe (id, filler) VALUES ($1, 'x') ON CONFLICT DO NOTHING";
    for (int id = 1; id <= 3; ++id) CHECK(tx.execute(insert, id) == 1);
    CHECK(tx.execute(insert, 2) == 0);
    CHECK(tx.execute("UPDATE commit_probe SET filler = 'y' WHERE id >= $1", 2) == 2);
    CHECK(tx.execute("UPDATE commit_probe SET filler = 'y' WHERE id > $1", 3) == 0);
    tx.post("UPDATE commit_probe SET filler = 'z'");  // Counts for nobody.
    CHECK(tx.execute("DELETE FROM commit_probe WHERE id = $1", 1) == 1);
    CHECK(tx.execute("DELETE FROM commit_probe") == 2);
    CHECK(tx.execute("DELETE FROM commit_probe") == 0);
  });
}

TEST_CASE("texts compare by their bytes, whatever the database's locale" * on_postgres()) {
  Values values;
  values.db->write([](Transaction& tx) {
    for (const char* name : {"b", "B", "a", "~", "ä", "A-1", "A1"}) put(tx, name);
  });
  std::vector<std::string> sorted;
  values.db->read([&](Transaction& tx) {
    tx.query("SELECT destination FROM disabled_destinations ORDER BY destination",
             [&](const Row& row) { sorted.push_back(row.string(0)); });
  });
  CHECK(sorted == std::vector<std::string>{"A-1", "A1", "B", "a", "b", "~", "ä"});
}
