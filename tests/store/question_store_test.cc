#include "store/question_store.h"

#include <doctest/doctest.h>

#include "tests/store/fresh_database.h"
#include "tests/support/test_postgres.h"

using namespace holdpoint;
using namespace holdpoint::test;

namespace {

struct Asking : FreshDatabase {
  Question ask(Duration until_deadline, std::vector<std::string> channels = {}) {
    Question q;
    q.id = QuestionId::make(kNow);
    q.session_id = SessionId::make(kNow);
    q.agent_name = "poet";
    q.ask = 1;
    q.channels = std::move(channels);
    q.spec.question = "What style?";
    q.created_at = kNow;
    q.deadline_at = kNow + until_deadline;
    write([&](Transaction& tx) {
      session_store::NewSession session;
      session.id = q.session_id;
      session.agent_name = q.agent_name;
      session.payload = "{}";
      REQUIRE(session_store::insert(tx, session, kNow));
      question_store::insert(tx, q);
    });
    return q;
  }
  std::vector<QuestionId> urgent(const question_store::Filter& filter = {}) {
    std::vector<QuestionId> ids;
    for (const auto& q :
         read([&](Transaction& tx) { return question_store::list_urgent(tx, filter, {}); })) {
      ids.push_back(q.id);
    }
    return ids;
  }
  std::vector<std::string> channels_of(const QuestionId& id) {
    return read([&](Transaction& tx) { return question_store::find(tx, id).value().channels; });
  }
};

using Words = std::vector<std::string>;
using Ids = std::vector<QuestionId>;

}  // namespace

TEST_CASE("the channels of a question come back as they were put in") {
  Asking asking;
  CHECK(asking.channels_of(asking.ask(1h).id).empty());
  CHECK(asking.channels_of(asking.ask(1h, {"email"}).id) == Words{"email"});
  const Words all{"discord", "email", "slack", "url"};
  CHECK(asking.channels_of(asking.ask(1h, all).id) == all);
}

TEST_CASE("urgent questions come by their deadline, then by their age, and only while they wait") {
  Asking asking;
  const Question late = asking.ask(3h), soon = asking.ask(1h), next = asking.ask(2h);
  const Question also_soon = asking.ask(1h), settled = asking.ask(1min);
  asking.write([&](Transaction& tx) {
    REQUIRE(question_store::settle(tx, settled.id, {QuestionStatus::cancelled, {}, {}, {}}, kNow));
  });
  CHECK(asking.urgent() == Ids{soon.id, also_soon.id, next.id, late.id});
}

TEST_CASE("a list of urgent questions goes on after the one that its last page ended with") {
  Asking asking;
  std::vector<QuestionId> all;
  for (const auto until : {1h, 1h, 1h, 2h, 3h, 3h}) all.push_back(asking.ask(until).id);
  std::vector<QuestionId> seen;
  question_store::Urgency after;
  question_store::Filter two;
  two.limit = 2;
  while (true) {
    const auto page =
        asking.read([&](Transaction& tx) { return question_store::list_urgent(tx, two, after); });
    if (page.empty()) break;
    for (const auto& q : page) seen.push_back(q.id);
    after = {page.back().deadline_at, page.back().id};
    REQUIRE(seen.size() <= all.size());
  }
  CHECK(seen == all);
}

TEST_CASE("urgent questions of one agent or one session are found among the others") {
  Asking asking;
  const Question first = asking.ask(2h), second = asking.ask(1h);
  question_store::Filter filter;
  filter.session = first.session_id;
  CHECK(asking.urgent(filter) == Ids{first.id});
  filter = {};
  filter.agent_name = "poet";
  CHECK(asking.urgent(filter) == Ids{second.id, first.id});
  filter.agent_name = "painter";
  CHECK(asking.urgent(filter).empty());
}

TEST_CASE("deadlines are looked up by their index on SQLite, however many questions wait") {
  if (test_postgres()) return;  // It goes by statistics of its own.
  Asking asking;
  for (const char* sql :
       {"EXPLAIN QUERY PLAN SELECT id FROM agent_questions WHERE status = 'pending' AND "
        "(deadline_at, id) > ('2026', '') ORDER BY deadline_at, id LIMIT 9",
        "EXPLAIN QUERY PLAN SELECT id FROM agent_questions WHERE status = 'pending' AND "
        "deadline_at <= '2026' ORDER BY deadline_at LIMIT 9",
        "EXPLAIN QUERY PLAN SELECT deadline_at FROM agent_questions WHERE status = 'pending' ORDER "
        "BY deadline_at LIMIT 1"}) {
    std::string plan;
    asking.read([&](Transaction& tx) {
      tx.query(sql, [&](const Row& row) { plan += row.string(3) + "\n"; });
    });
    CAPTURE(sql);
    CAPTURE(plan);
    CHECK(plan.find("INDEX idx_questions_deadline") != std::string::npos);
    CHECK(plan.find("TEMP B-TREE") == std::string::npos);
  }
}
