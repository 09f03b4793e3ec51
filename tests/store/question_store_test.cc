#include "store/question_store.h"

#include <doctest/doctest.h>

#include "tests/store/fresh_database.h"

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
  std::vector<std::string> channels_of(const QuestionId& id) {
    return read([&](Transaction& tx) { return question_store::find(tx, id).value().channels; });
  }
};

using Words = std::vector<std::string>;

}  // namespace

TEST_CASE("the channels of a question come back as they were put in") {
  Asking asking;
  CHECK(asking.channels_of(asking.ask(1h).id).empty());
  CHECK(asking.channels_of(asking.ask(1h, {"email"}).id) == Words{"email"});
  const Words all{"discord", "email", "slack", "url"};
  CHECK(asking.channels_of(asking.ask(1h, all).id) == all);
}
