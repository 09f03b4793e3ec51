#include "flow/notary.h"

#include <doctest/doctest.h>

#include <future>
#include <thread>

#include "tests/flow/audit_rows.h"
#include "tests/support/beside.h"
#include "tests/support/eventually.h"
#include "tests/support/failing_database.h"
#include "tests/support/on_postgres.h"
#include "tests/support/world.h"

using namespace holdpoint;
using namespace holdpoint::test;

namespace {

void record(Database& db, const std::string& detail) {
  db.write([&](Transaction& tx) {
    audit::record(tx, {"ana", "user:ana", "1.2.3.4"}, "did", "session:x", detail, kNow);
  });
}

// Rows that are in the chain, and rows that wait.
std::int64_t linked(Database& db) {
  return db.read([](Transaction& tx) { return audit_store::head(tx).seq; });
}
std::int64_t waiting(Database& db) {
  return db.read([](Transaction& tx) {
    return static_cast<std::int64_t>(audit_store::pending(tx, 1'000'000).size());
  });
}

struct Log {
  std::unique_ptr<Database> open() { return open_test_database(dir.path() / "audit.db", kNow); }

  TempDir dir;
  std::unique_ptr<Database> db = open();
};

}  // namespace

TEST_CASE("rows are linked in the order in which they were recorded") {
  Log log;
  std::vector<std::string> details;
  for (int i = 0; i < 50; ++i) {
    record(*log.db, std::to_string(i));
    details.push_back(std::to_string(i));
    if (i % 7 == 0) audit::link_all(*log.db, audit_store::Wait::yes);
  }
  std::vector<std::string> chained;
  for (const auto& row : audit_rows(*log.db)) chained.push_back(row.detail);
  CHECK(chained == details);
  CHECK(audit::verify(*log.db, "").broken == "");
}

TEST_CASE("more rows than one transaction takes are all linked") {
  Log log;
  const auto rows = audit::kLot * 2 + 17;
  log.db->write([&](Transaction& tx) {
    for (std::int64_t i = 0; i < rows; ++i) audit::record(tx, {}, "did", "x", "", kNow);
  });
  CHECK(audit::link_pending(*log.db, audit::kLot, audit_store::Wait::no));
  CHECK(linked(*log.db) == audit::kLot);
  audit::link_all(*log.db, audit_store::Wait::yes);
  CHECK(linked(*log.db) == rows);
  CHECK(waiting(*log.db) == 0);
  CHECK(audit::verify(*log.db, "").broken == "");
}

TEST_CASE("the notary links a few times a second at the most, and what is left when it stops") {
  Log log;
  ManualClock clock;
  Notary notary(*log.db, clock);
  record(*log.db, "one");
  CHECK(notary.run_once(clock.now()) == std::nullopt);
  CHECK(linked(*log.db) == 1);
  record(*log.db, "two");
  clock.advance(199ms);
  CHECK(notary.run_once(clock.now()) == clock.now() + 1ms);
  CHECK(linked(*log.db) == 1);
  clock.advance(1ms);
  CHECK(notary.run_once(clock.now()) == std::nullopt);
  CHECK(linked(*log.db) == 2);
  record(*log.db, "three");
  notary.stop();
  CHECK(linked(*log.db) == 3);
  CHECK(waiting(*log.db) == 0);
}

TEST_CASE("listing and checking link what waits first") {
  Log log;
  record(*log.db, "one");
  CHECK(audit_rows(*log.db).size() == 1);
  record(*log.db, "two");
  CHECK(audit::verify(*log.db, "").rows == 2);
}

TEST_CASE("a process that dies anywhere while it links leaves a chain that goes on") {
  for (std::int64_t point = 1;; ++point) {
    CAPTURE(point);
    Log log;
    for (int i = 0; i < 3; ++i) record(*log.db, std::to_string(i));
    audit::link_all(*log.db, audit_store::Wait::yes);
    for (int i = 3; i < 6; ++i) record(*log.db, std::to_string(i));
    log.db.reset();
    auto failing = std::make_unique<FailingDatabase>(log.open(), point);
    bool crashed = false;
    try {
      audit::link_all(*failing, audit_store::Wait::yes);
    } catch (const Crash&) {
      crashed = true;
    }
    if (!crashed) {
      CHECK(point > 10);
      return;
    }
    failing.reset();
    log.db = log.open();
    std::vector<std::string> chained;
    for (const auto& row : audit_rows(*log.db)) chained.push_back(row.detail);
    REQUIRE(chained == std::vector<std::string>{"0", "1", "2", "3", "4", "5"});
    REQUIRE(waiting(*log.db) == 0);
    REQUIRE(audit::verify(*log.db, "").broken == "");
  }
}

TEST_CASE("while another node links, this one leaves it to that, and loses nothing" *
          on_postgres()) {
  Log log;
  const auto other = log.open();
  record(*log.db, "one");
  other->write([&](Transaction& tx) {
    REQUIRE(audit_store::lock_head(tx, audit_store::Wait::yes));
    CHECK_FALSE(audit::link_pending(*log.db, audit::kLot, audit_store::Wait::no));
    CHECK(linked(*log.db) == 0);
  });
  CHECK(waiting(*log.db) == 1);
  audit::link_all(*log.db, audit_store::Wait::yes);
  CHECK(linked(*log.db) == 1);
}

TEST_CASE("rows that nodes record and link at once end in one whole chain" * on_postgres()) {
  Log log;
  const auto other = log.open();
  constexpr int kThreads = 8, kRows = 40;
  side_by_side(kThreads, [&](int t) {
    Database& db = t % 2 == 0 ? *log.db : *other;
    for (int i = 0; i < kRows; ++i) {
      record(db, std::to_string(t) + " " + std::to_string(i));
      if (i % 3 == t % 3) audit::link_all(db, audit_store::Wait::yes);
    }
  });
  const auto verdict = audit::verify(*other, "");
  CHECK(verdict.broken == "");
  CHECK(verdict.rows == kThreads * kRows);
  CHECK(waiting(*log.db) == 0);
  std::map<std::string, int> times;
  for (const auto& row : audit_rows(*log.db)) ++times[row.detail];
  CHECK(times.size() == kThreads * kRows);
}

TEST_CASE("a clock that is set back does not keep the notary from linking") {
  Log log;
  ManualClock clock;
  Notary notary(*log.db, clock);
  notary.run_once(clock.now());
  clock.advance(-3600s);
  record(*log.db, "one");
  clock.advance(200ms);
  CHECK(notary.run_once(clock.now()) == std::nullopt);
  CHECK(linked(*log.db) == 1);
}

TEST_CASE("what was recorded before the log is listed is on the list, whoever links just then" *
          on_postgres()) {
  Log log;
  const auto other = log.open();
  record(*log.db, "one");
  std::atomic<bool> locked{false}, enough{false};
  std::thread linker([&] {
    other->write([&](Transaction& tx) {
      CHECK(audit_store::lock_head(tx, audit_store::Wait::yes));
      locked = true;
      CHECK(eventually([&] { return enough.load(); }));
    });
  });
  CHECK(eventually([&] { return locked.load(); }));
  auto rows = std::async(std::launch::async, [&] { return audit_rows(*log.db).size(); });
  (void)rows.wait_for(200ms);  // It may wait for the other.
  enough = true;
  linker.join();
  CHECK(rows.get() == 1);
}
