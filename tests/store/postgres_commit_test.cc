#include <doctest/doctest.h>

#include <atomic>

#include "store/commit_marks.h"
#include "tests/store/relay.h"
#include "tests/support/beside.h"
#include "tests/support/eventually.h"
#include "tests/support/on_postgres.h"

using namespace holdpoint;
using namespace holdpoint::test;
using Act = Relay::Act;

namespace {

// As it stands in a message, to begin and to answer it; "COMMITTED" is another word.
constexpr std::string_view kCommit{"COMMIT\0", 7};

bool has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

// A database behind a relay that loses commits when told to.
struct Lossy : PostgresSchema {
  // Breaks the next commit that a client sends in the given way.
  void break_next_commit(Act act) {
    const auto armed = std::make_shared<std::atomic<bool>>(true);
    relay.set_rule([armed, act](std::string_view sent) {
      return has(sent, kCommit) && armed->exchange(false) ? act : Act::pass;
    });
  }
  // A write that would show if it happened twice; `posted`: nobody awaits its statements.
  void append(bool posted) {
    db->write([&](Transaction& tx) {
      ++runs;
      const char* sql =
          "INSERT INTO commit_probe (id, filler) VALUES (1, 'x') ON CONFLICT (id) DO UPDATE SET "
          "filler = commit_probe.filler || 'x'";
      if (posted) {
        tx.post(sql);
      } else {
        tx.execute(sql);
      }
    });
    ++appended;
  }
  bool each_once() { return number("SELECT LENGTH(filler) FROM commit_probe") == appended; }

  Relay relay{url};
  std::unique_ptr<Database> db = open_at(relay.url(), 3);
  int runs = 0;
  int appended = 0;
};

}  // namespace

TEST_CASE("a commit that the server never got is made again: the write happens once" *
          on_postgres()) {
  Lossy lossy;
  for (const bool posted : {false, true}) {
    CAPTURE(posted);
    lossy.append(posted);
    lossy.runs = 0;
    lossy.break_next_commit(Act::lose);
    lossy.append(posted);
    CHECK(lossy.runs == 2);
    CHECK(lossy.each_once());
  }
}

TEST_CASE("a commit whose answer got lost is found out: the write happens once" * on_postgres()) {
  Lossy lossy;
  for (const bool posted : {false, true}) {
    CAPTURE(posted);
    lossy.append(posted);
    lossy.runs = 0;
    lossy.break_next_commit(Act::lose_answer);
    lossy.append(posted);
    CHECK(lossy.runs == 1);
    CHECK(lossy.each_once());
  }
}

TEST_CASE("lost commits are told apart whatever the connection did before" * on_postgres()) {
  Lossy lossy;
  const std::string text = "hello";
  const std::vector<std::function<void()>> deeds{
      [] {},
      [&] {
        lossy.db->bulletin()->post({&text, 1});
      },
      [&] { lossy.db->write([](Transaction&) {}); },
      [&] { lossy.db->write([](Transaction& tx) { (void)backend(tx); }); },
      [&] { lossy.db->write([](Transaction& tx) { tx.execute("DELETE FROM logins"); }); },
      [&] { lossy.db->write([](Transaction& tx) { tx.post("DELETE FROM logins"); }); },
      [&] {
        lossy.db->write(
            [](Transaction& tx) { tx.lock("SELECT 1 FROM commit_probe WHERE id = 1 FOR UPDATE"); });
      },
      [&] { (void)backend(*lossy.db); },
      [&] {
        CHECK_THROWS(lossy.db->write([](Transaction& tx) {
          post(tx, "a");
          throw std::runtime_error("changed my mind");
        }));
      },
      [&] { CHECK_THROWS(lossy.db->write([](Transaction& tx) { tx.post("SELECT 1 / 0"); })); },
      [&] {
        CHECK_THROWS(lossy.db->write([](Transaction& tx) {
          put(tx, "a");
          tx.execute("SELECT 1 / 0");
        }));
      },
  };
  for (std::size_t deed = 0; deed < deeds.size(); ++deed) {
    for (const Act act : {Act::lose, Act::lose_answer}) {
      CAPTURE(deed);
      CAPTURE(static_cast<int>(act));
      lossy.append(false);
      for (int i = 0; i < 3; ++i) deeds[deed]();
      lossy.break_next_commit(act);
      lossy.append(deed % 2 == 0);
      CHECK(lossy.each_once());
    }
  }
}

TEST_CASE("a lost commit of a write that changed nothing is nothing to find out" * on_postgres()) {
  for (const Act act : {Act::lose, Act::lose_answer}) {
    Lossy lossy;
    int runs = 0;
    lossy.break_next_commit(act);
    CHECK(lossy.db->write([&](Transaction& tx) {
      ++runs;
      return number(tx, "SELECT 42");
    }) == 42);
    CHECK(runs == 1);
  }
}

TEST_CASE("a commit that arrives after it was found not to have happened is refused" *
          on_postgres()) {
  Lossy lossy;
  lossy.break_next_commit(Act::hold);
  int runs = 0;
  lossy.db->write([&](Transaction& tx) { put(tx, "run " + std::to_string(++runs)); });
  CHECK(runs == 2);
  CHECK(lossy.count() == 1);
  CHECK(has(lossy.relay.release(), "23514"));
  CHECK(lossy.count() == 1);
}

TEST_CASE("a commit that arrives while it is looked for is waited for, and has happened" *
          on_postgres()) {
  Lossy lossy;
  std::atomic<bool> held{false}, looked_for{false};
  lossy.relay.set_rule([&](std::string_view sent) {
    if (has(sent, "SET last = number")) looked_for = true;
    return has(sent, kCommit) && !held.exchange(true) ? Act::hold : Act::pass;
  });
  Beside late([&] {
    CHECK(eventually([&] { return looked_for.load(); }));
    CHECK(has(lossy.relay.release(), kCommit));
  });
  int runs = 0;
  lossy.db->write([&](Transaction& tx) {
    post(tx, "run " + std::to_string(++runs));
    (void)backend(tx);  // Its row of commit_marks is taken before the commit is sent.
  });
  late.join();
  CHECK(runs == 1);
  CHECK(lossy.count() == 1);
}

TEST_CASE("connections that are lost before the commit was sent leave nothing in doubt" *
          on_postgres()) {
  Lossy lossy;
  const auto armed = std::make_shared<std::atomic<bool>>(true);
  lossy.append(false);
  lossy.relay.set_rule([armed](std::string_view sent) {
    return has(sent, "agent_sessions") && armed->exchange(false) ? Act::lose_answer : Act::pass;
  });
  int runs = 0;
  lossy.db->write([&](Transaction& tx) {
    put(tx, "run " + std::to_string(++runs));
    (void)number(tx, "SELECT COUNT(*) FROM agent_sessions");
  });
  CHECK(runs == 2);
  CHECK(lossy.count() == 1);
}

TEST_CASE("a closed mark tells how often its connection committed, and takes no more" *
          on_postgres()) {
  PostgresSchema schema;
  const auto admin = schema.connect();
  PostgresConnection::Options options;
  options.url = schema.url;
  options.mark = "marked";
  PostgresConnection marked(options);
  commit_marks::insert(*admin, "marked", kNow);
  (void)backend(*admin);  // Awaits what was posted.
  for (int i = 0; i < 3; ++i) {
    marked.begin_write();
    put(marked, std::to_string(i));
    marked.commit();
  }
  CHECK(marked.marked_commits() == 3);
  admin->begin_write();
  CHECK(commit_marks::close(*admin, "marked") == 3);
  CHECK(commit_marks::close(*admin, "unknown") == std::nullopt);
  admin->commit();
  marked.begin_write();
  put(marked, "late");
  CHECK_THROWS_AS(marked.commit(), StoreError);
  marked.roll_back();
  CHECK(schema.count() == 3);
}

TEST_CASE("old marks are removed, younger ones stay" * on_postgres()) {
  PostgresSchema schema;
  const auto admin = schema.connect();
  commit_marks::insert(*admin, "old", kNow - 1s);
  commit_marks::insert(*admin, "young", kNow);
  commit_marks::remove_older(*admin, kNow);
  (void)backend(*admin);  // Awaits what was posted.
  CHECK(schema.number("SELECT COUNT(*) FROM commit_marks WHERE connection = 'young'") == 1);
  CHECK(schema.number("SELECT COUNT(*) FROM commit_marks WHERE connection = 'old'") == 0);
}

TEST_CASE("commits that all connections lose at once are found out all the same" * on_postgres()) {
  for (const Act act : {Act::lose, Act::lose_answer}) {
    CAPTURE(static_cast<int>(act));
    Lossy lossy;
    constexpr int kConnections = 3;
    std::atomic<int> inside{0}, broken{0};
    lossy.relay.set_rule([&](std::string_view sent) {
      if (!has(sent, kCommit) || broken >= kConnections) return Act::pass;
      ++broken;
      // None is looked for before the last is lost.
      CHECK(eventually([&] { return broken >= kConnections; }));
      return act;
    });
    std::vector<std::thread> threads;
    for (int i = 0; i < kConnections; ++i) {
      threads.emplace_back([&, i] {
        try {
          lossy.db->write([&](Transaction& tx) {
            put(tx, std::to_string(i));
            ++inside;
            CHECK(eventually([&] { return inside >= kConnections; }));
          });
        } catch (const StoreError& e) {
          FAIL_CHECK(std::string(e.what()));
        }
      });
    }
    for (auto& thread : threads) thread.join();
    CHECK(lossy.count() == kConnections);
  }
}

TEST_CASE("a connection that is lost with nothing in doubt is not used again" * on_postgres()) {
  Lossy lossy;
  lossy.break_next_commit(Act::lose);
  lossy.db->write([](Transaction& tx) { (void)backend(tx); });
  int runs = 0;
  lossy.db->write([&](Transaction& tx) {
    ++runs;
    put(tx, "a");
  });
  CHECK(runs == 1);
}
