#include <doctest/doctest.h>

#include "tests/store/fresh_database.h"

using namespace holdpoint;
using namespace holdpoint::test;

namespace {

struct Recorded : FreshDatabase {
  SessionId insert(std::optional<SessionId> parent = {}, const std::string& payload = "{}") {
    const auto id = SessionId::make(kNow);
    write([&](Transaction& tx) {
      session_store::NewSession session;
      session.id = id;
      session.agent_name = "poet";
      session.payload = payload;
      session.parent_id = parent;
      REQUIRE(session_store::insert(tx, session, kNow));
    });
    return id;
  }
  void say(const SessionId& id, const std::string& body) {
    write([&](Transaction& tx) {
      session_store::add_message(tx, id, MessageId::make(kNow), body, kNow);
    });
  }
  std::optional<SessionRecord> record(const SessionId& id, std::int64_t most = 200,
                                      std::size_t bytes = 1'000'000) {
    return read([&](Transaction& tx) { return session_store::find_record(tx, id, most, bytes); });
  }
  std::vector<std::string> said(const SessionId& id, std::int64_t most = 200,
                                std::size_t bytes = 1'000'000) {
    std::vector<std::string> bodies;
    const auto found = record(id, most, bytes);
    for (const auto& message : found->messages) bodies.push_back(message.body);
    return bodies;
  }
};

}  // namespace

TEST_CASE("a record holds a session's texts as they were given") {
  Recorded recorded;
  const auto id = recorded.insert({}, R"({ "a":1,  "a":2 })");
  auto record = recorded.record(id);
  REQUIRE(record);
  CHECK(record->payload == R"({ "a":1,  "a":2 })");
  CHECK_FALSE(record->state);
  CHECK_FALSE(record->resume);
  recorded.write([&](Transaction& tx) {
    const auto turn = session_store::claim(tx, "node", kNow, kNow + 30s, 1).at(0);
    const session_store::Next next{TurnReason::answer, R"({"answered":true})", "[ 1 ]", false};
    REQUIRE(session_store::advance(tx, turn.lease, next, kNow) == session_store::Commit::done);
  });
  record = recorded.record(id);
  CHECK(record->state == "[ 1 ]");
  CHECK(record->resume == R"({"answered":true})");
  CHECK_FALSE(recorded.record(SessionId("nobody")));
}

TEST_CASE("a record has the oldest messages, and says which turn got them") {
  Recorded recorded;
  const auto id = recorded.insert(), other = recorded.insert();
  recorded.say(other, "\"elsewhere\"");
  std::vector<std::string> all;
  for (int i = 0; i < 20; ++i) {
    all.push_back(std::to_string(i));
    recorded.say(id, all.back());
  }
  CHECK(recorded.said(id) == all);
  CHECK(recorded.said(id, 20) == all);
  CHECK(recorded.said(id, 9) == std::vector<std::string>(all.begin(), all.begin() + 9));
  CHECK_FALSE(recorded.record(id)->messages.back().turn);
  recorded.write([](Transaction& tx) {
    CHECK(session_store::claim(tx, "node", kNow, kNow + 30s, 2).size() == 2);
  });
  recorded.say(id, "20");
  const auto messages = recorded.record(id)->messages;
  CHECK(messages.front().turn == 1);
  CHECK(messages.front().created_at == kNow);
  CHECK_FALSE(messages.back().turn);
}

TEST_CASE("a record has no more messages once they are large enough") {
  Recorded recorded;
  const auto id = recorded.insert();
  for (int i = 0; i < 12; ++i) recorded.say(id, std::string(100, '1'));
  CHECK(recorded.said(id, 200, 1).size() == 1);
  CHECK(recorded.said(id, 200, 250).size() == 3);
  CHECK(recorded.said(id, 200, 1000).size() == 10);
  CHECK(recorded.said(id, 200, 5000).size() == 12);
}

TEST_CASE("a record lists the sessions that it is the parent of") {
  Recorded recorded;
  const auto id = recorded.insert(), other = recorded.insert();
  const auto first = recorded.insert(id), second = recorded.insert(id);
  recorded.insert(other);
  const auto children = recorded.record(id)->children;
  REQUIRE(children.size() == 2);
  CHECK(children[0].id == first);
  CHECK(children[1].id == second);
  CHECK(children[0].agent_name == "poet");
  CHECK(children[0].status == SessionStatus::running);
  CHECK(children[0].created_at == kNow);
  CHECK(recorded.record(id, 1)->children.size() == 1);
  CHECK(recorded.record(first)->children.empty());
}
