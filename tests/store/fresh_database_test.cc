#include "tests/store/fresh_database.h"

#include <doctest/doctest.h>

#include "tests/support/test_postgres.h"

using namespace holdpoint;
using namespace holdpoint::test;

namespace {

// All tables but the list of migrations.
std::vector<std::string> tables(FreshDatabase& fresh) {
  const char* sql = test_postgres() ? "SELECT tablename FROM pg_tables WHERE schemaname = "
                                      "current_schema() AND tablename <> 'schema_migrations'"
                                    : "SELECT name FROM sqlite_master WHERE type = 'table' AND "
                                      "name NOT LIKE 'sqlite%' AND name <> 'schema_migrations'";
  std::vector<std::string> names;
  fresh.read([&](Transaction& tx) {
    tx.query(sql, [&](const Row& row) { names.push_back(row.string(0)); });
  });
  return names;
}

// Puts a row into every table, as good as any.
void litter(FreshDatabase& fresh) {
  fresh.write([](Transaction& tx) {
    tx.execute(
        "INSERT INTO agent_sessions (id, agent_name, original_payload, created_at, "
        "updated_at) VALUES ('s', 'a', '{}', 'x', 'x')");
    tx.execute(
        "INSERT INTO agent_questions (id, session_id, agent_name, question, created_at, "
        "ask, position, options, multi_select, allow_other, style, on_timeout, "
        "deadline_at) VALUES ('q', 's', 'a', '?', 'x', 1, 0, '[]', 0, 1, 'buttons', "
        "'fail', 'x')");
    tx.execute(
        "INSERT INTO agent_messages (id, session_id, body, created_at) VALUES ('m', 's', "
        "'1', 'x')");
    tx.execute("INSERT INTO joined_asks VALUES ('a', 'k', 's')");
    for (int i = 0; i < 5; ++i) {
      tx.execute(
          "INSERT INTO agent_events (session_id, type, at, data) VALUES ('s', 't', 'x', "
          "'{}')");
    }
    tx.execute(
        "INSERT INTO deliveries (id, session_id, agent_name, channel, event, destination, "
        "host, body, created_at) VALUES ('d', 's', 'a', 'url', 'e', 'x', 'h', '{}', 'x')");
    tx.execute("INSERT INTO disabled_destinations VALUES ('d', 'x', 'r')");
    tx.execute("INSERT INTO commit_probe VALUES (1, 'x')");
    tx.execute(
        "INSERT INTO api_keys (id, name, secret_hash, scopes, created_at) VALUES ('k', "
        "'n', 'h', 'admin', 'x')");
    tx.execute("INSERT INTO users (name, role, created_at) VALUES ('u', 'admin', 'x')");
    tx.execute("INSERT INTO logins VALUES ('t', 'u', 'x', 'x')");
    tx.execute("INSERT INTO answer_links VALUES ('t', 'q', 's', 'link', 'ana', 'x')");
    tx.execute("INSERT INTO webhook_receipts VALUES ('a', 's', 'w', 'b', 'x')");
    tx.execute("INSERT INTO mail_receipts VALUES ('m', 'x')");
    tx.execute("INSERT INTO audit_log VALUES (1, 'x', 'a', 'c', 'a', 'a', 's', 'd', 'h')");
    tx.execute("UPDATE audit_head SET seq = 1, hash = 'h'");
    tx.execute("INSERT INTO server_secrets VALUES ('n', 'v')");
    tx.execute("INSERT INTO audit_pending VALUES ('i', 'x', 'a', 'c', 'a', 'a', 's', 'd')");
    tx.execute("INSERT INTO commit_marks VALUES ('c', 1, 2, 'x')");
    tx.execute("INSERT INTO nodes VALUES ('n', 'h', 'a', 'v', 'x', 'x')");
  });
}

std::optional<std::string> url_of(FreshDatabase& fresh) {
  return test_postgres_url(fresh.dir.path() / "test.db");
}

}  // namespace

TEST_CASE("no test sees what another left, though it gets the other's schema") {
  std::optional<std::string> url;
  {
    FreshDatabase left;
    url = url_of(left);
    litter(left);
    for (const auto& table : tables(left)) {
      CAPTURE(table);
      CHECK(left.count(table) > 0);  // A new table has to be littered, too.
    }
  }
  // Others may be free, too: take them all, until it comes by.
  std::vector<std::unique_ptr<FreshDatabase>> others;
  do {
    others.push_back(std::make_unique<FreshDatabase>());
    REQUIRE(others.size() < 50);
  } while (url_of(*others.back()) != url);
  FreshDatabase& fresh = *others.back();
  for (const auto& table : tables(fresh)) {
    CAPTURE(table);
    const bool own = table == "audit_head" || table == "commit_marks";  // This connection's mark.
    CHECK(fresh.count(table) <= (own ? 1 : 0));
  }
  CHECK(fresh.count("audit_head WHERE id = 1 AND seq = 0 AND hash = ''") == 1);
  CHECK(fresh.count("commit_marks WHERE connection = 'c'") == 0);
  fresh.write([](Transaction& tx) { event_store::append(tx, SessionId("s"), "t", kNow, "{}"); });
  CHECK(fresh.read([](Transaction& tx) { return event_store::last_seq(tx); }) == 1);
}

TEST_CASE("databases that are in use at the same time are not the same") {
  FreshDatabase one, other;
  litter(one);
  CHECK(other.count("agent_sessions") == 0);
  if (test_postgres()) CHECK(url_of(one) != url_of(other));
}

TEST_CASE("a schema that a test changed is not handed on") {
  std::optional<std::string> url;
  for (const char* change :
       {"CREATE TABLE mine (n BIGINT)", "ALTER TABLE users ADD COLUMN mine BIGINT",
        "ALTER TABLE users RENAME COLUMN role TO rank",
        "INSERT INTO schema_migrations (number, name, applied_at) VALUES (999, 'later', 'x')"}) {
    {
      FreshDatabase changed;
      url = url_of(changed);
      changed.write([&](Transaction& tx) { tx.execute(change); });
    }
    FreshDatabase fresh;
    if (test_postgres()) CHECK(url_of(fresh) != url);
    CHECK(fresh.count("users") == 0);
    CHECK(fresh.count("schema_migrations WHERE number = 999") == 0);
  }
}
