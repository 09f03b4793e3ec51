#include "flow/feed.h"

#include <doctest/doctest.h>

#include <future>
#include <set>

#include "tests/support/beside.h"
#include "tests/support/eventually.h"
#include "tests/support/on_postgres.h"
#include "tests/support/world.h"

using namespace holdpoint;
using namespace holdpoint::test;

namespace {

void append(Transaction& tx, const std::string& type = "happened") {
  event_store::append(tx, SessionId("s"), type, kNow, "{}");
}

// A feed that runs, on a database of its own.
struct Running {
  Running() { feed.start(); }
  ~Running() { feed.stop(); }
  void append() {
    db->write([](Transaction& tx) { ::append(tx); });
    feed.wake();
  }
  // An event that gets a number and goes again.
  void append_in_vain() {
    CHECK_THROWS(db->write([](Transaction& tx) {
      ::append(tx);
      (void)event_store::last_seq(tx);  // Until here it was only posted.
      throw std::runtime_error("changed my mind");
    }));
  }

  TempDir dir;
  std::unique_ptr<Database> db = open_test_database(dir.path() / "feed.db", kNow);
  SystemClock clock;
  Feed feed{*db, clock};
};

// Writes an event whose number is taken now, and whose commit waits until it is let go.
class Held {
 public:
  explicit Held(Database& db)
      : writer_([this, &db] {
          db.write([this](Transaction& tx) {
            append(tx, "held");
            (void)event_store::last_seq(tx);
            written_ = true;
            CHECK(eventually([this] { return released_.load(); }));
          });
        }) {
    CHECK(eventually([this] { return written_.load(); }));
  }
  ~Held() { release(); }
  void release() {
    released_ = true;
    writer_.join();
  }

 private:
  std::atomic<bool> written_{false}, released_{false};
  Beside writer_;
};

using Numbers = std::vector<std::int64_t>;

// What a follower is told until it has the given number of events.
Numbers follow(Feed::Follower& following, std::int64_t& seq, std::size_t events) {
  Numbers told;
  const auto deadline = std::chrono::steady_clock::now() + 20s;
  while (told.size() < events && std::chrono::steady_clock::now() < deadline) {
    const auto next = following.next(seq, std::nullopt, 1s);
    for (const auto& event : next.events) told.push_back(event->seq);
    seq = next.seq;
  }
  return told;
}

}  // namespace

TEST_CASE("a follower begins where it says, or after the newest event") {
  Running running;
  for (int i = 0; i < 3; ++i) running.append();
  CHECK(running.feed.begin_after(std::nullopt) == 3);
  CHECK(running.feed.begin_after(0) == 0);
  CHECK(running.feed.begin_after(2) == 2);
  CHECK(running.feed.begin_after(3) == 3);
  CHECK(running.feed.begin_after(4) == 3);  // Of another database, or before a restore.
  CHECK(running.feed.begin_after(std::numeric_limits<std::int64_t>::max()) == 3);
}

TEST_CASE("a follower that is nudged, or whose feed stops, returns from waiting with nothing") {
  Running running;
  Feed::Follower following(running.feed);
  auto waiting =
      std::async(std::launch::async, [&] { return following.next(0, std::nullopt, 60s).open; });
  CHECK(eventually([&] {
    running.feed.nudge();
    return waiting.wait_for(1ms) == std::future_status::ready;
  }));
  CHECK(waiting.get());
  waiting =
      std::async(std::launch::async, [&] { return following.next(0, std::nullopt, 60s).open; });
  running.feed.stop();
  CHECK_FALSE(waiting.get());
}

TEST_CASE("an event that is committed after one with a higher number is told first" *
          on_postgres()) {
  Running running;
  Feed::Follower following(running.feed);
  std::int64_t seq = running.feed.begin_after(std::nullopt);
  Held held(*running.db);
  running.append();
  // The second is there, and could be told; the first may still come.
  CHECK(following.next(seq, std::nullopt, 100ms).events.empty());
  held.release();
  CHECK(follow(following, seq, 2) == Numbers{1, 2});
}

TEST_CASE("a follower that is far behind is not told what earlier ones may still come before" *
          on_postgres()) {
  Running running;
  for (int i = 0; i < 3; ++i) running.append();
  Feed::Follower following(running.feed);
  Held held(*running.db);
  running.append();
  std::int64_t seq = 0;
  CHECK(follow(following, seq, 3) == Numbers{1, 2, 3});
  CHECK(following.next(seq, std::nullopt, 100ms).events.empty());
  held.release();
  CHECK(follow(following, seq, 2) == Numbers{4, 5});
}

TEST_CASE("where the newest event is, is not said while an earlier one may still come" *
          on_postgres()) {
  Running running;
  Held held(*running.db);
  running.append();
  auto begin =
      std::async(std::launch::async, [&] { return running.feed.begin_after(std::nullopt); });
  CHECK(begin.wait_for(100ms) == std::future_status::timeout);
  held.release();
  CHECK(begin.get() == 2);
}

TEST_CASE("numbers that were given out in vain hold nobody up for long" * on_postgres()) {
  Running running;
  Feed::Follower following(running.feed);
  std::int64_t seq = running.feed.begin_after(std::nullopt);
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < 5; ++i) {
    running.append_in_vain();
    running.append();
  }
  CHECK(follow(following, seq, 5) == Numbers{2, 4, 6, 8, 10});
  CHECK(std::chrono::steady_clock::now() - start < 5s);
}

TEST_CASE("a transaction that writes no event holds up what comes after it no longer than it runs" *
          on_postgres()) {
  Running running;
  Feed::Follower following(running.feed);
  std::int64_t seq = running.feed.begin_after(std::nullopt);
  std::atomic<bool> began{false}, enough{false};
  Beside idle([&] {
    running.db->write([&](Transaction& tx) {
      put(tx, "no event");
      began = true;
      CHECK(eventually([&] { return enough.load(); }));
    });
  });
  CHECK(eventually([&] { return began.load(); }));
  running.append();
  running.append();
  CHECK(follow(following, seq, 2) == Numbers{1, 2});  // No number is missing: nothing to wait for.
  running.append_in_vain();
  running.append();
  enough = true;
  idle.join();
  CHECK(follow(following, seq, 1) == Numbers{4});
}

TEST_CASE("many writers on two nodes, some in vain: followers are told all, once and in order" *
          on_postgres()) {
  Running running;
  const auto other = open_test_database(running.dir.path() / "feed.db", kNow);
  Feed::Follower following(running.feed);
  std::int64_t seq = running.feed.begin_after(std::nullopt);
  constexpr int kWriters = 8, kEvents = 40;
  Beside writers([&] {
    side_by_side(kWriters, [&](int w) {
      Database& db = w % 2 == 0 ? *running.db : *other;
      for (int i = 0; i < kEvents; ++i) {
        try {
          db.write([&](Transaction& tx) {
            append(tx);
            (void)event_store::last_seq(tx);
            if (i % 5 == 0) throw std::runtime_error("in vain");
          });
        } catch (const std::runtime_error&) {
        }
        running.feed.wake();
      }
    });
  });
  const auto told = follow(following, seq, kWriters * kEvents * 4 / 5);
  writers.join();
  Numbers all;
  running.db->read([&](Transaction& tx) {
    tx.query("SELECT seq FROM agent_events ORDER BY seq",
             [&](const Row& row) { all.push_back(row.integer(0)); });
  });
  CHECK(all.size() == kWriters * kEvents * 4 / 5);
  CHECK(told == all);
}
