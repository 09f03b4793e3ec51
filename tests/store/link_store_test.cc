#include "store/link_store.h"

#include <doctest/doctest.h>

#include "tests/store/fresh_database.h"

using namespace holdpoint;
using namespace holdpoint::test;

namespace {

// A session with one pending question, which links can point to.
struct Asked : FreshDatabase {
  Asked() {
    write([&](Transaction& tx) {
      session_store::NewSession created;
      created.id = session;
      created.agent_name = "poet";
      created.payload = "{}";
      REQUIRE(session_store::insert(tx, created, kNow));
      Question asked;
      asked.id = question;
      asked.session_id = session;
      asked.agent_name = "poet";
      asked.spec.question = "What style?";
      asked.created_at = asked.deadline_at = kNow;
      question_store::insert(tx, asked);
    });
  }
  void insert(const std::string& token_hash, const std::string& recipient) {
    write([&](Transaction& tx) {
      link_store::insert(tx, {token_hash, question, session, "email", recipient, kNow});
    });
  }
  const SessionId session = SessionId::make(kNow);
  const QuestionId question = QuestionId::make(kNow);
};

}  // namespace

TEST_CASE("a link comes back as it was put in, by its hash alone") {
  Asked asked;
  asked.insert("h1", "ana@example.org");
  asked.insert("h2", "ben@example.org");
  const auto link = asked.read([](Transaction& tx) { return link_store::find(tx, "h1"); });
  REQUIRE(link);
  CHECK(link->token_hash == "h1");
  CHECK(link->question_id == asked.question);
  CHECK(link->session_id == asked.session);
  CHECK(link->channel == "email");
  CHECK(link->recipient == "ana@example.org");
  CHECK(link->created_at == kNow);
  for (const char* hash : {"", "h", "h3", "H1"}) {
    CHECK_FALSE(asked.read([&](Transaction& tx) { return link_store::find(tx, hash); }));
  }
}

TEST_CASE("one recipient may have several links to one question") {
  Asked asked;
  asked.insert("h1", "ana@example.org");
  asked.insert("h2", "ana@example.org");
  CHECK(asked.count("answer_links") == 2);
  CHECK_THROWS_AS(asked.insert("h2", "ben@example.org"), StoreError);
}

TEST_CASE("a link to a question that there is not is refused") {
  Asked asked;
  CHECK_THROWS_AS(asked.write([&](Transaction& tx) {
    link_store::insert(tx, {"h", QuestionId("none"), asked.session, "email", "ana", kNow});
  }),
                  StoreError);
}

TEST_CASE("links go when their session is removed") {
  Asked asked;
  asked.insert("h1", "ana@example.org");
  asked.write([&](Transaction& tx) {
    REQUIRE(session_store::cancel_running(tx, asked.session, "enough", kNow));
    CHECK(session_store::remove_finished(tx, kNow + 1s, 10) == 1);
  });
  CHECK(asked.count("answer_links") == 0);
  CHECK(asked.count("agent_questions") == 0);
}
