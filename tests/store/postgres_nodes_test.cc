#include <doctest/doctest.h>

#include <atomic>
#include <map>

#include "base/embedded.h"
#include "base/guarded.h"
#include "store/delivery_store.h"
#include "store/migrations.h"
#include "store/secret_store.h"
#include "store/session_store.h"
#include "tests/support/beside.h"
#include "tests/support/on_postgres.h"

using namespace holdpoint;
using namespace holdpoint::test;

namespace {

// Two nodes on one schema.
struct Nodes : PostgresSchema {
  Database& node(int number) { return number % 2 == 0 ? *one : *other; }
  std::unique_ptr<Database> one = open(4), other = open(4);
};

SessionId insert_session(Transaction& tx) {
  session_store::NewSession session;
  session.id = SessionId::make(kNow);
  session.agent_name = "poet";
  session.payload = "{}";
  CHECK(session_store::insert(tx, session, kNow));
  return session.id;
}

// Every id with how often it was claimed.
using Claims = Guarded<std::map<std::string, int>>;

void check_each_once(Claims& claims, std::size_t rows) {
  claims.with([&](auto& all) {
    CHECK(all.size() == rows);
    for (const auto& [id, times] : all) CHECK(times == 1);
  });
}

}  // namespace

TEST_CASE("nodes that start at once bring the schema up once" * on_postgres()) {
  PostgresSchema schema;
  bare_test_postgres_url(schema.dir.path() / "test.db");
  std::atomic<int> opened{0};
  side_by_side(8, [&](int) {
    const auto db = schema.open(1);
    db->write([](Transaction& tx) { (void)insert_session(tx); });
    ++opened;
  });
  CHECK(opened == 8);
  CHECK(schema.count("agent_sessions") == 8);
  CHECK(schema.count("schema_migrations") ==
        static_cast<std::int64_t>(read_migrations(embedded::schema_sql).size()));
}

TEST_CASE("a schema newer than the program is left alone" * on_postgres()) {
  PostgresSchema schema;
  schema.run("INSERT INTO schema_migrations (number, name, applied_at) VALUES (999, 'later', 'x')");
  CHECK_THROWS_WITH_AS(schema.open(), doctest::Contains("newer than this program"), StoreError);
  CHECK(schema.count("schema_migrations") ==
        static_cast<std::int64_t>(read_migrations(embedded::schema_sql).size()) + 1);
}

TEST_CASE("nodes that claim turns at once get each turn once" * on_postgres()) {
  Nodes nodes;
  nodes.one->write([](Transaction& tx) {
    for (int i = 0; i < 200; ++i) insert_session(tx);
  });
  Claims claims;
  side_by_side(8, [&](int thread) {
    auto& db = nodes.node(thread);
    const auto due = [&] {
      return db.read([](Transaction& tx) { return session_store::count_due(tx, kNow); });
    };
    while (due() > 0) {
      const auto turns = db.write([&](Transaction& tx) {
        return session_store::claim(tx, std::to_string(thread), kNow, kNow + 30s, 7);
      });
      claims.with([&](auto& all) {
        for (const auto& turn : turns) ++all[turn.lease.session.text()];
      });
      for (const auto& turn : turns) CHECK(turn.lease.number == 1);
    }
  });
  check_each_once(claims, 200);
}

TEST_CASE("nodes that claim deliveries at once get each delivery once" * on_postgres()) {
  Nodes nodes;
  nodes.one->write([](Transaction& tx) {
    Delivery delivery;
    delivery.session_id = insert_session(tx);
    delivery.agent_name = "poet";
    delivery.channel = "url";
    delivery.event = "session_completed";
    delivery.destination = "http://h/";
    delivery.host = "h:80";
    delivery.body = "{}";
    delivery.status = DeliveryStatus::pending;
    delivery.next_attempt_at = delivery.created_at = kNow;
    for (int i = 0; i < 200; ++i) {
      delivery.id = DeliveryId::make(kNow);
      delivery_store::insert(tx, delivery);
    }
  });
  Claims claims;
  side_by_side(8, [&](int thread) {
    auto& db = nodes.node(thread);
    const auto owed = [&] {
      const auto hosts = db.read([](Transaction& tx) { return delivery_store::owed_hosts(tx); });
      return hosts.at(0).next_attempt_at <= kNow;
    };
    while (owed()) {
      const auto claimed = db.write(
          [&](Transaction& tx) { return delivery_store::claim(tx, "h:80", kNow, kNow + 60s, 7); });
      claims.with([&](auto& all) {
        for (const auto& delivery : claimed) ++all[delivery.id.text()];
      });
      for (const auto& delivery : claimed) CHECK(delivery.attempts == 1);
    }
  });
  check_each_once(claims, 200);
}

TEST_CASE("a lease that another node took over lets its first holder write nothing" *
          on_postgres()) {
  Nodes nodes;
  nodes.one->write([](Transaction& tx) { insert_session(tx); });
  const auto claim = [&](int node, Time now) {
    return nodes.node(node).write([&](Transaction& tx) {
      return session_store::claim(tx, std::to_string(node), now, now + 30s, 1);
    });
  };
  const auto first = claim(0, kNow);
  REQUIRE(first.size() == 1);
  CHECK(claim(1, kNow + 29s).empty());
  const auto second = claim(1, kNow + 30s);
  REQUIRE(second.size() == 1);
  const auto finish = [&](int node, const Lease& lease) {
    return nodes.node(node).write([&](Transaction& tx) {
      return session_store::finish(tx, lease, SessionStatus::completed, "1", std::nullopt, kNow);
    });
  };
  CHECK(finish(0, first[0].lease) == session_store::Commit::lease_lost);
  CHECK(finish(1, second[0].lease) == session_store::Commit::done);
}

TEST_CASE("nodes that need a secret at once agree on one" * on_postgres()) {
  Nodes nodes;
  Guarded<std::map<std::string, int>> seen;
  side_by_side(8, [&](int thread) {
    const auto secret = nodes.node(thread).write([&](Transaction& tx) {
      return secret_store::find_or_insert(tx, "forms", std::to_string(thread));
    });
    seen.with([&](auto& all) { ++all[secret]; });
  });
  seen.with([](auto& all) { CHECK(all.size() == 1); });
}

TEST_CASE("nodes go by the server's clock, whatever their own says" * on_postgres()) {
  Nodes nodes;
  const auto off = nodes.one->clock().now() - nodes.other->clock().now();
  CHECK(off < 1s);
  CHECK(off > -1s);
  const Time server{
      Duration{nodes.number("SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint")}};
  const auto late = nodes.one->clock().now() - server;
  CHECK(late > -1s);
  CHECK(late < 10s);
}
