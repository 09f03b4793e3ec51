#include <doctest/doctest.h>

#include <atomic>

#include "tests/store/relay.h"
#include "tests/support/beside.h"
#include "tests/support/eventually.h"
#include "tests/support/on_postgres.h"

using namespace holdpoint;
using namespace holdpoint::test;
using Steady = std::chrono::steady_clock;

namespace {

// Whether the call fails as one that may be tried again, and does not take for ever to say so.
template <class Call>
bool fails_for_now(Call call) {
  const auto start = Steady::now();
  try {
    call();
  } catch (const StoreError& e) {
    CHECK(e.retryable());
    CHECK_FALSE(e.in_doubt());
    const auto took = Steady::now() - start;
    CHECK(took < 15s);
    return true;
  }
  return false;
}

// A database behind a relay that can be taken away.
struct Shaky : PostgresSchema {
  void write() {
    db->write([&](Transaction& tx) { put(tx, std::to_string(++written)); });
  }
  bool write_fails() {
    return fails_for_now([&] { write(); });
  }
  bool read_fails() {
    return fails_for_now([&] { (void)backend(*db); });
  }

  Relay relay{url};
  std::unique_ptr<Database> db = open_at(relay.url(), 4);
  int written = 0;
};

std::string complaint_at_start(const std::string& url) {
  try {
    PostgresSchema::open_at(url);
  } catch (const StoreError& e) {
    return e.what();
  }
  return "";
}

}  // namespace

TEST_CASE("more threads than connections all get their turn" * on_postgres()) {
  PostgresSchema schema;
  const auto db = schema.open(2);
  std::atomic<int> inside{0}, most_inside{0};
  side_by_side(24, [&](int t) {
    for (int i = 0; i < 10; ++i) {
      db->write([&](Transaction& tx) {
        put(tx, std::to_string(t) + " " + std::to_string(i));
        const int now_inside = ++inside;
        int most = most_inside;
        while (now_inside > most && !most_inside.compare_exchange_weak(most, now_inside)) {
        }
        --inside;
      });
      (void)backend(*db);
    }
  });
  CHECK(schema.count() == 240);
  CHECK(most_inside <= 2);
}

TEST_CASE("who finds all connections busy for too long is told to try again" * on_postgres()) {
  PostgresSchema schema;
  const auto db = schema.open(1);
  std::atomic<bool> inside{false}, enough{false};
  Beside holder([&] {
    db->write([&](Transaction& tx) {
      (void)backend(tx);
      inside = true;
      CHECK(eventually([&] { return enough.load(); }));
    });
  });
  CHECK(eventually([&] { return inside.load(); }));
  CHECK(fails_for_now([&] { (void)backend(*db); }));
  CHECK(db->healthy());
  enough = true;
  holder.join();
  CHECK(backend(*db) != 0);
}

TEST_CASE("while nobody listens there all calls fail soon, and work again once it is back" *
          on_postgres()) {
  Shaky shaky;
  shaky.write();
  CHECK(shaky.db->healthy());
  shaky.relay.go_away();
  CHECK(shaky.write_fails());
  CHECK(shaky.read_fails());
  CHECK_FALSE(shaky.db->healthy());
  shaky.relay.come_back();
  CHECK(eventually([&] { return shaky.db->healthy(); }));
  shaky.write();
  CHECK(shaky.count() == 2);
}

TEST_CASE("a server that takes connections and says nothing is as good as none" * on_postgres()) {
  Shaky shaky;
  shaky.write();
  shaky.relay.fall_silent();
  CHECK(shaky.write_fails());
  CHECK(shaky.read_fails());
  CHECK_FALSE(shaky.db->healthy());
  shaky.relay.come_back();
  CHECK(eventually([&] { return shaky.db->healthy(); }));
  shaky.write();
  CHECK(shaky.count() == 2);
}

TEST_CASE("in an outage that lasts nobody waits, and whoever waits as it begins is told at once" *
          on_postgres()) {
  Shaky shaky;
  shaky.write();
  shaky.relay.go_away();
  CHECK(shaky.write_fails());
  // It has lasted by now.
  const auto start = Steady::now();
  std::atomic<int> failed{0};
  side_by_side(50, [&](int) {
    try {
      (void)backend(*shaky.db);
    } catch (const StoreError&) {
      ++failed;
    }
  });
  CHECK(failed == 50);
  CHECK(Steady::now() - start < 2s);
}

TEST_CASE("a short outage is waited for: no call fails" * on_postgres()) {
  Shaky shaky;
  shaky.write();
  shaky.relay.go_away();
  std::atomic<bool> began{false};
  Beside writer([&] {
    began = true;
    shaky.write();
  });
  CHECK(eventually([&] { return began.load(); }));
  shaky.relay.come_back();
  writer.join();
  CHECK(shaky.count() == 2);
}

TEST_CASE("a start without a server says where it looked and what to do, without the password" *
          on_postgres()) {
  std::string url;
  {
    PostgresSchema schema;
    Relay relay(schema.url);
    url = relay.url();
  }
  CHECK(complaint_at_start(url).find("Is the server running there") != std::string::npos);
  const std::string with_password = "postgres://u:s3cret@127.0.0.1/x" + url.substr(url.find('?'));
  CHECK(complaint_at_start(with_password).find("u:***@127.0.0.1") != std::string::npos);
  CHECK(complaint_at_start(with_password).find("s3cret") == std::string::npos);
}

TEST_CASE("a start waits for a server that comes up meanwhile, or until it is told to give up" *
          on_postgres()) {
  PostgresSchema schema;
  Relay relay(schema.url);
  relay.go_away();
  PostgresOptions options;
  options.url = relay.url();
  int asked = 0;
  options.give_up = [&] {
    if (++asked == 2) relay.come_back();
    return false;
  };
  CHECK_NOTHROW(open_postgres(options));
  CHECK(asked >= 2);
  relay.go_away();
  options.give_up = [] { return true; };
  CHECK_THROWS_AS(open_postgres(options), StoreError);
}

TEST_CASE("what is wrong with a start is said with its cure" * on_postgres()) {
  const std::string server = test_postgres().value();
  const std::string at = server.substr(0, server.rfind('/') + 1);
  CHECK(complaint_at_start(at + "no_such_database").find("createdb") != std::string::npos);
  CHECK(complaint_at_start(server + "?user=no_such_role").find("createuser") != std::string::npos);
  CHECK(complaint_at_start(server + "?options=-csearch_path%3Dno_such_schema")
            .find("CREATE SCHEMA") != std::string::npos);
  CHECK(complaint_at_start(server + "?options=-cdefault_transaction_read_only%3Don")
            .find("only reads") != std::string::npos);
}

TEST_CASE("a URL that is none is complained about, without its password") {
  for (const std::string good :
       {"postgres://h/db", "postgresql://u@h:5432/db", "postgres://u:p%40ss@h/db?sslmode=require",
        "postgres://h1:5432,h2:5433/db", "postgres://u@/db?host=/run/postgresql",
        "postgres://[::1]:5432/db"}) {
    CAPTURE(good);
    CHECK(check_postgres_url(good) == "");
  }
  for (const std::string bad :
       {"postgres://u:s3cret@h:no/db", "postgres://u:s3cret@h:70000/db",
        "postgres://u:s3cret@h/db?nonsense=1", "postgres://u:s3c%zzret@h/db",
        "postgres://u:s3/cret@h/db", "postgres://u:s3cret@[::1/db"}) {
    CAPTURE(bad);
    CHECK(check_postgres_url(bad) != "");
    CHECK(check_postgres_url(bad).find("s3") == std::string::npos);
  }
}
