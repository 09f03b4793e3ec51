#include "flow/roll_call.h"

#include <doctest/doctest.h>

#include "tests/flow/hooked_database.h"
#include "tests/support/on_postgres.h"
#include "tests/support/world.h"

using namespace holdpoint;
using namespace holdpoint::test;

namespace {

struct Hall {
  std::unique_ptr<Database> open() { return open_test_database(dir.path() / "hall.db", kNow); }
  RollCall roll(Database& on, const std::string& id) {
    return RollCall(on, {id, "host", "127.0.0.1:8080", "1.2.3", clock.now(), clock.now()}, clock);
  }
  // Each as its id, `!` if it is live and `*` if it is the one that looks.
  std::string seen_by(RollCall& roll) {
    std::string text;
    for (const auto& one : roll.list(clock.now())) {
      text += (text.empty() ? "" : " ") + one.node.id;
      text += std::string(one.live ? "!" : "") + (one.self ? "*" : "");
    }
    return text;
  }
  std::vector<node_store::Node> rows() {
    return db->read([](Transaction& tx) { return node_store::list(tx); });
  }

  TempDir dir;
  ManualClock clock;
  std::unique_ptr<Database> db = open();
};

}  // namespace

TEST_CASE("a process is on the list from its start to its end") {
  Hall hall;
  auto roll = hall.roll(*hall.db, "one");
  CHECK(hall.rows().empty());
  roll.run_once(hall.clock.now());
  REQUIRE(hall.rows().size() == 1);
  CHECK(hall.rows()[0] == roll.self());
  roll.stop();
  CHECK(hall.rows().empty());
}

TEST_CASE("whoever looks is live, though its row is old or gone") {
  Hall hall;
  auto roll = hall.roll(*hall.db, "one");
  CHECK(hall.seen_by(roll) == "one!*");
  roll.run_once(hall.clock.now());
  hall.clock.advance(10min);
  CHECK(hall.seen_by(roll) == "one!*");
  CHECK(roll.list(hall.clock.now())[0].node.seen_at == hall.clock.now());
}

TEST_CASE("where only one process can be, it writes once, and others are gone") {
  if (test_postgres()) return;
  Hall hall;
  auto killed = hall.roll(*hall.db, "killed");
  killed.run_once(hall.clock.now());
  hall.clock.advance(1s);
  auto next = hall.roll(*hall.db, "next");
  CHECK(hall.seen_by(next) == "killed next!*");
  CHECK(next.run_once(hall.clock.now()) == std::nullopt);
  CHECK(hall.seen_by(next) == "next!*");
}

TEST_CASE("a node that says nothing for 30 s is not live, and after an hour it is forgotten" *
          on_postgres()) {
  Hall hall;
  const auto other_db = hall.open();
  auto killed = hall.roll(*other_db, "killed");
  killed.run_once(hall.clock.now());
  hall.clock.advance(1s);
  auto roll = hall.roll(*hall.db, "one");
  CHECK(roll.run_once(hall.clock.now()) == hall.clock.now() + 10s);
  CHECK(hall.seen_by(roll) == "killed! one!*");
  CHECK(hall.seen_by(killed) == "killed!* one!");
  hall.clock.advance(29s);
  CHECK(hall.seen_by(roll) == "killed! one!*");
  hall.clock.advance(1ms);
  CHECK(hall.seen_by(roll) == "killed one!*");
  hall.clock.advance(59min);
  roll.run_once(hall.clock.now());
  CHECK(hall.seen_by(roll) == "killed one!*");
  hall.clock.advance(1min);
  roll.run_once(hall.clock.now());
  CHECK(hall.seen_by(roll) == "one!*");
}

TEST_CASE("a node that was frozen for hours is on the list again" * on_postgres()) {
  Hall hall;
  auto frozen = hall.roll(*hall.db, "frozen"), other = hall.roll(*hall.db, "other");
  frozen.run_once(hall.clock.now());
  hall.clock.advance(3h);
  other.run_once(hall.clock.now());
  CHECK(hall.seen_by(other) == "other!*");
  frozen.run_once(hall.clock.now());
  CHECK(hall.seen_by(other) == "frozen! other!*");
}

TEST_CASE("a database that is away is tried again, and holds up no stop") {
  Hall hall;
  HookedDatabase db(*hall.db);
  bool away = true;
  int tried = 0;
  db.before_write = [&] {
    ++tried;
    if (away) throw StoreError("away", true);
  };
  auto roll = hall.roll(db, "one");
  CHECK(roll.run_once(hall.clock.now()) == hall.clock.now() + 10s);
  roll.stop();
  CHECK(tried == 1);
  away = false;
  roll.run_once(hall.clock.now());
  CHECK(hall.rows().size() == 1);
  away = true;
  roll.stop();
  CHECK(tried == 3);
  CHECK(hall.rows().size() == 1);
}
