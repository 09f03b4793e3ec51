#include "flow/audit.h"

#include <doctest/doctest.h>

#include "tests/flow/audit_rows.h"
#include "tests/support/test_postgres.h"
#include "tests/support/world.h"

using namespace holdpoint;
using namespace holdpoint::test;

namespace {

const Time kNow = parse_iso("2026-11-16T09:00:00.000Z").value();

// A chain of five rows.
struct Chain {
  Chain() {
    for (int i = 1; i <= 5; ++i) record("detail " + std::to_string(i));
    audit::link_all(*db, audit_store::Wait::yes);
  }
  void record(const std::string& detail) {
    db->write([&](Transaction& tx) {
      audit::record(tx, {"ana", "user:ana", "1.2.3.4"}, "did", "session:x", detail, kNow);
    });
  }
  void tamper(const std::string& sql) {
    db->write([&](Transaction& tx) { tx.execute(sql); });
  }
  // What is wrong with it; empty if it is whole.
  std::string broken(const std::string& expected = "") {
    return audit::verify(*db, expected).broken;
  }

  TempDir dir;
  std::unique_ptr<Database> db = open_test_database(dir.path() / "audit.db", kNow);
};

}  // namespace

TEST_CASE("rows are numbered from 1, and tell who did what from where by which credential") {
  Chain chain;
  const auto rows = audit_rows(*chain.db);
  REQUIRE(rows.size() == 5);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    CHECK(rows[i].seq == static_cast<std::int64_t>(i) + 1);
    CHECK(rows[i].at == to_iso(kNow));
    CHECK(rows[i].actor.name == "ana");
    CHECK(rows[i].actor.credential == "user:ana");
    CHECK(rows[i].actor.address == "1.2.3.4");
    CHECK(rows[i].action == "did");
    CHECK(rows[i].subject == "session:x");
    CHECK(rows[i].detail == "detail " + std::to_string(i + 1));
    CHECK(rows[i].hash.size() == 64);
  }
  CHECK(audit::list(*chain.db, 3, 1).at(0).seq == 4);
}

TEST_CASE("a chain that nobody touched is whole, and its head is its last row") {
  Chain chain;
  const auto verdict = audit::verify(*chain.db, "");
  CHECK(verdict.broken == "");
  CHECK(verdict.rows == 5);
  CHECK(verdict.head.seq == 5);
  CHECK(verdict.head.hash == audit_rows(*chain.db).back().hash);
  TempDir dir;
  const auto empty = audit::verify(*open_test_database(dir.path() / "empty.db", kNow), "");
  CHECK(empty.broken == "");
  CHECK(empty.rows == 0);
}

TEST_CASE("rows that say the same have different hashes: each holds the one before") {
  Chain chain;
  chain.record("twice");
  chain.record("twice");
  const auto rows = audit_rows(*chain.db);
  CHECK(rows[5].hash != rows[6].hash);
}

TEST_CASE("an edit of any column of any row is found, and the row is named") {
  for (const std::string edit :
       {"actor = 'ben'", "credential = 'user:ben'", "address = ''", "action = 'did not'",
        "subject = 'session:y'", "detail = 'another'", "at = '2026-11-16T09:00:00.001Z'",
        "hash = 'x'", "hash = upper(hash)", "detail = detail || ' '"}) {
    for (int row = 1; row <= 5; ++row) {
      CAPTURE(edit);
      CAPTURE(row);
      Chain chain;
      chain.tamper("UPDATE audit_log SET " + edit + " WHERE seq = " + std::to_string(row));
      CHECK(chain.broken().starts_with("row " + std::to_string(row) + " was changed"));
    }
  }
}

TEST_CASE("a time that was made unreadable is an edit like any other") {
  for (const std::string edit : {"at = 'x'", "at = ''", "at = '2026-11-16 09:00:00'"}) {
    CAPTURE(edit);
    Chain chain;
    chain.tamper("UPDATE audit_log SET " + edit + " WHERE seq = 2");
    std::string broken;
    CHECK_NOTHROW(broken = chain.broken());
    CHECK(broken.starts_with("row 2"));
  }
}

TEST_CASE("text that moved from one column to the next is an edit") {
  Chain chain;
  chain.tamper("UPDATE audit_log SET subject = 'session:', detail = 'x' || detail WHERE seq = 3");
  CHECK(chain.broken() != "");
}

TEST_CASE("a row that was removed is missing, wherever it stood") {
  for (int row = 1; row <= 4; ++row) {
    CAPTURE(row);
    Chain chain;
    chain.tamper("DELETE FROM audit_log WHERE seq = " + std::to_string(row));
    CHECK(chain.broken() == "row " + std::to_string(row) + " is missing");
  }
  Chain chain;
  chain.tamper("DELETE FROM audit_log WHERE seq = 5");
  CHECK(chain.broken() == "the last rows are missing: 4 are there, the head says 5");
  chain.tamper("DELETE FROM audit_log");
  CHECK(chain.broken() == "the last rows are missing: 0 are there, the head says 5");
}

TEST_CASE("a gap that was closed by renumbering is found") {
  Chain chain;
  chain.tamper("DELETE FROM audit_log WHERE seq = 2");
  for (int row = 3; row <= 5; ++row) {
    chain.tamper("UPDATE audit_log SET seq = " + std::to_string(row - 1) +
                 " WHERE seq = " + std::to_string(row));
  }
  CHECK(chain.broken() != "");
}

TEST_CASE("rows that changed places are found") {
  Chain chain;
  chain.tamper("UPDATE audit_log SET seq = 99 WHERE seq = 2");
  chain.tamper("UPDATE audit_log SET seq = 2 WHERE seq = 3");
  chain.tamper("UPDATE audit_log SET seq = 3 WHERE seq = 99");
  CHECK(chain.broken().starts_with("row 2 was changed"));
}

TEST_CASE("a row that was slipped in is found") {
  Chain chain;
  chain.tamper(
      "INSERT INTO audit_log SELECT 6, at, actor, credential, address, action, subject, detail, "
      "hash FROM audit_log WHERE seq = 5");
  CHECK(chain.broken().starts_with("row 6 was changed"));
}

TEST_CASE("a row that was put out of the way does not belong there") {
  for (const std::string seq : {"0", "-1", "NULL"}) {
    CAPTURE(seq);
    if (seq == "NULL" && test_postgres()) continue;  // PostgreSQL does not let it be.
    Chain added;
    added.tamper("INSERT INTO audit_log SELECT " + seq +
                 ", at, actor, credential, address, action, subject, detail, hash FROM audit_log "
                 "WHERE seq = 5");
    CHECK(added.broken() != "");
    Chain moved;
    moved.tamper("UPDATE audit_log SET seq = " + seq + " WHERE seq = 5");
    CHECK(moved.broken() != "");
  }
}

TEST_CASE("a head that does not name the last row is found") {
  for (const std::string edit :
       {"UPDATE audit_head SET seq = 4", "UPDATE audit_head SET hash = 'x'",
        "DELETE FROM audit_head",
        "UPDATE audit_head SET seq = 4, hash = (SELECT hash FROM audit_log WHERE seq = 4)"}) {
    CAPTURE(edit);
    Chain chain;
    chain.tamper(edit);
    CHECK(chain.broken() != "");
  }
}

TEST_CASE("a hash that was noted earlier is met for as long as its row stands") {
  Chain chain;
  for (const auto& row : audit_rows(*chain.db)) CHECK(chain.broken(row.hash) == "");
  const std::string noted = audit::verify(*chain.db, "").head.hash;
  chain.record("later");
  CHECK(chain.broken(noted) == "");
  CHECK(chain.broken(std::string(64, '0')) == "no row has the expected hash");
}

TEST_CASE("who rewrites the whole chain, or cuts its end with the head, cannot keep a noted hash") {
  Chain cut;
  const std::string noted = audit::verify(*cut.db, "").head.hash;
  cut.tamper("DELETE FROM audit_log WHERE seq = 5");
  cut.tamper("UPDATE audit_head SET seq = 4, hash = (SELECT hash FROM audit_log WHERE seq = 4)");
  CHECK(cut.broken() == "");
  CHECK(cut.broken(noted) == "no row has the expected hash");

  Chain rewritten;
  rewritten.tamper("DELETE FROM audit_log");
  rewritten.tamper("DELETE FROM audit_head");
  for (int i = 1; i <= 5; ++i) rewritten.record(i == 2 ? "something else" : "detail");
  CHECK(rewritten.broken() == "");
  CHECK(rewritten.broken(noted) == "no row has the expected hash");
}

TEST_CASE("a change that is undone leaves no row, and the chain goes on") {
  Chain chain;
  CHECK_THROWS(chain.db->write([](Transaction& tx) {
    audit::record(tx, {}, "did", "x", "", kNow);
    throw std::runtime_error("changed my mind");
  }));
  chain.record("next");
  CHECK(chain.broken() == "");
  CHECK(audit_rows(*chain.db).size() == 6);
}

TEST_CASE("two rows of one transaction chain up too") {
  Chain chain;
  chain.db->write([](Transaction& tx) {
    audit::record(tx, {}, "one", "x", "", kNow);
    audit::record(tx, {}, "two", "x", "", kNow);
  });
  CHECK(chain.broken() == "");
  CHECK(audit::verify(*chain.db, "").rows == 7);
}

TEST_CASE(
    "every change that somebody asks for is a row by them, and what changes nothing is none") {
  World world;
  auto& process = world.process();
  const auto id = world.trigger("poet", "{}", "key");
  world.trigger("poet", "{}", "key");  // The same again.
  world.run_until_idle();
  const auto question = world.questions(id).at(0);
  process.links.make(question.id, "ana", kAdmin, world.now());
  (void)process.control.message(id, "1", kAdmin, world.now());
  world.answer(id, "haiku");
  world.answer(id, "haiku");   // The same again.
  world.answer(id, "sonnet");  // Too late.
  world.run_until_idle();
  (void)process.control.cancel(id, "no", kAdmin, Control::As::owner, world.now());  // Too late.
  (void)process.control.retry(id, kAdmin, world.now());                             // Not failed.
  const auto other = world.trigger();
  (void)process.control.cancel(other, "enough", kAdmin, Control::As::owner, world.now());
  (void)process.control.cancel(other, "enough", kAdmin, Control::As::owner, world.now());
  process.courier.redeliver(world.deliveries(id).at(0).id, kAdmin, world.now());
  CHECK(audited(world.db()) == std::map<std::string, std::int64_t>{{"session_started", 2},
                                                                   {"link_made", 1},
                                                                   {"message_queued", 1},
                                                                   {"question_answered", 1},
                                                                   {"session_cancelled", 1},
                                                                   {"delivery_requeued", 1}});
  CHECK(audit::verify(world.db(), "").broken == "");
  for (const auto& row : audit_rows(world.db())) {
    CAPTURE(row.action);
    if (row.action == "session_started") CHECK(row.actor.name == kUpstream.name);
    if (row.action == "question_answered") {
      CHECK(row.actor.name == "ana");
      CHECK(row.subject == "question:" + question.id.text());
    }
    if (row.action == "session_cancelled") CHECK(row.subject == "session:" + other.text());
    CHECK(row.detail.find("haiku") == std::string::npos);
  }
}
