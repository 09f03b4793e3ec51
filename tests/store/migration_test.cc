#include <doctest/doctest.h>
#include <sqlite3.h>

#include "base/embedded.h"
#include "store/dialect.h"
#include "store/key_store.h"
#include "store/migrations.h"
#include "store/postgres_connection.h"
#include "tests/store/fresh_database.h"
#include "tests/support/test_postgres.h"
#include "wire/digest.h"

using namespace holdpoint;
using namespace holdpoint::test;

namespace {

std::vector<std::string> first_migration() {
  return read_migrations(embedded::schema_sql).at(0).statements;
}

// A database as the first release left it: the first migration alone, with a session that waits.
class FirstRelease {
 public:
  explicit FirstRelease(const std::filesystem::path& file) {
    if (const auto url = bare_test_postgres_url(file)) {
      PostgresConnection::Options options;
      options.url = *url;
      postgres_ = std::make_unique<PostgresConnection>(options);
    } else {
      REQUIRE(sqlite3_open(file.c_str(), &sqlite_) == SQLITE_OK);
      run("PRAGMA journal_mode=WAL");
    }
    run("CREATE TABLE schema_migrations (number BIGINT PRIMARY KEY, name TEXT NOT NULL, applied_at "
        "TEXT NOT NULL)");
    for (const auto& sql : first_migration()) run(sql);
    run("INSERT INTO schema_migrations VALUES (1, 'the spine', '2026-01-01T00:00:00.000Z')");
    run("INSERT INTO agent_sessions (id, agent_name, status, original_payload, execution_state, "
        "created_at, updated_at, idempotency_key, questions_asked) VALUES ('s', 'poet', "
        "'pending_input', '{\"topic\":\"love\"}', '{\"step\":1}', '2026-01-01T00:00:00.000Z', "
        "'2026-01-01T00:00:01.000Z', 'key', 1)");
    run("INSERT INTO agent_questions (id, session_id, agent_name, question, created_at, ask, "
        "position, options, multi_select, allow_other, style, on_timeout, deadline_at) VALUES "
        "('q', 's', 'poet', 'What style?', '2026-01-01T00:00:01.000Z', 1, 0, '[]', 0, 1, "
        "'buttons', 'fail', '2026-01-02T00:00:00.000Z')");
    run("INSERT INTO agent_messages (id, session_id, body, created_at) VALUES ('m', 's', '1', "
        "'2026-01-01T00:00:02.000Z')");
    run("INSERT INTO agent_events (session_id, type, at, data) VALUES ('s', 'session_started', "
        "'2026-01-01T00:00:00.000Z', '{}')");
    run("INSERT INTO deliveries (id, session_id, question_id, agent_name, channel, event, "
        "destination, host, body, next_attempt_at, created_at) VALUES ('d', 's', 'q', 'poet', "
        "'url', 'question_pending', 'http://h/', 'h:80', '{}', '2026-01-01T00:00:01.000Z', "
        "'2026-01-01T00:00:01.000Z')");
  }
  ~FirstRelease() { sqlite3_close(sqlite_); }

 private:
  void run(const std::string& sql) {
    if (postgres_) return postgres_->execute_plainly(dialect::schema_for_postgres(sql));
    char* error = nullptr;
    const int result = sqlite3_exec(sqlite_, sql.c_str(), nullptr, nullptr, &error);
    const std::string message = error ? error : "";
    sqlite3_free(error);
    CAPTURE(sql);
    CAPTURE(message);
    REQUIRE(result == SQLITE_OK);
  }
  sqlite3* sqlite_ = nullptr;
  std::unique_ptr<PostgresConnection> postgres_;
};

}  // namespace

TEST_CASE("a database of the first release is brought up with all it holds") {
  TempDir dir;
  const auto file = dir.path() / "old.db";
  { const FirstRelease old(file); }
  const auto db = open_test_database(file, kNow);
  db->write([](Transaction& tx) {
    const auto session = session_store::find(tx, SessionId("s"));
    REQUIRE(session);
    CHECK(session->status == SessionStatus::pending_input);
    CHECK(session->questions_asked == 1);
    CHECK(session_store::find_by_key(tx, "poet", "key")->id == SessionId("s"));
    CHECK(session_store::waiting_messages(tx, SessionId("s")).messages == 1);
    const auto question = question_store::find(tx, QuestionId("q"));
    REQUIRE(question);
    CHECK(question->spec.question == "What style?");
    CHECK(question->status == QuestionStatus::pending);
    const auto delivery = delivery_store::find(tx, DeliveryId("d"));
    REQUIRE(delivery);
    CHECK(delivery->status == DeliveryStatus::pending);
    CHECK(delivery->body == "{}");
    CHECK_FALSE(delivery->link_for);
    CHECK(event_store::after(tx, SessionId("s"), 0, 10).size() == 1);
    std::vector<std::pair<std::int64_t, std::string>> applied;
    tx.query("SELECT number, applied_at FROM schema_migrations ORDER BY number",
             [&](const Row& row) { applied.emplace_back(row.integer(0), row.string(1)); });
    REQUIRE(applied.size() == read_migrations(embedded::schema_sql).size());
    CHECK(applied[0].second == "2026-01-01T00:00:00.000Z");
    CHECK(applied[1].first == 2);
    // On PostgreSQL by the server's clock.
    if (!test_postgres()) CHECK(applied[1].second == to_iso(kNow));
  });
}

TEST_CASE("what the second migration brought can be used on a database of the first release") {
  TempDir dir;
  const auto file = dir.path() / "old.db";
  { const FirstRelease old(file); }
  const auto db = open_test_database(file, kNow);
  db->write([](Transaction& tx) {
    CHECK_FALSE(key_store::any(tx));
    key_store::insert(tx, {"k", "ci", "h", {"admin"}, kNow, {}, {}, {}, {}});
    tx.execute(
        "INSERT INTO answer_links (token_hash, question_id, session_id, channel, recipient, "
        "created_at) VALUES ('t', 'q', 's', 'link', 'ana', $1)",
        kNow);
    Delivery later = delivery_store::find(tx, DeliveryId("d")).value();
    later.id = DeliveryId("d2");
    later.link_for = "ana";
    delivery_store::insert(tx, later);
    CHECK(delivery_store::find(tx, DeliveryId("d2"))->link_for == "ana");
  });
}

TEST_CASE("a session of the first release is answered under the new one") {
  World world;
  world.process().db.reset();
  const auto file = world.dir.path() / "world.db";
  remove_test_database(file);
  { const FirstRelease old(file); }
  world.clock.set(parse_iso("2026-01-01T12:00:00.000Z").value());
  world.restart();
  CHECK(std::holds_alternative<AnswerAccepted>(world.answer(SessionId("s"), "haiku")));
  world.run_until_idle();
  CHECK(world.session(SessionId("s")).status == SessionStatus::completed);
}

TEST_CASE("a migration that was released is never edited") {
  std::string text;
  for (const auto& sql : first_migration()) text += sql;
  CHECK(sha256_hex(text) == "c28b37fb53db24cf7ab75aa1907a9f15fa7248c7ebc4a82a0c448c5310c6fd04");
}
