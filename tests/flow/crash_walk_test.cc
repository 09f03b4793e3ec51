#include "tests/flow/crash_walk.h"

#include <doctest/doctest.h>

using namespace holdpoint;
using namespace holdpoint::test;

namespace {

// A person and an upstream system that try again whatever was not acknowledged.
struct Client {
  World& world;
  std::optional<SessionId> session;
  bool answered = false;

  void act() {
    if (!session) session = world.trigger("poet", R"({"topic":"love"})", "walk");
    world.run_until_idle();
    if (answered) return;
    const auto questions = world.questions(*session);
    if (questions.empty()) return;
    const auto outcome = world.process().answers.answer(
        *session, {{{questions[0].id.text(), {"haiku"}}}, "ana", "test"}, kAdmin, world.now());
    REQUIRE_FALSE(std::holds_alternative<AnswerConflict>(outcome));
    REQUIRE_FALSE(std::holds_alternative<UnknownSession>(outcome));
    answered = true;
    world.run_until_idle();
  }
};

void check_story(World& world, const SessionId& id) {
  const auto sessions = world.process().views.sessions({});
  REQUIRE(sessions.size() == 1);
  const Session session = world.session(id);
  REQUIRE(session.status == SessionStatus::completed);
  REQUIRE(Json::parse(session.result.value())["told"]["answers"]["What style?"] == "haiku");
  const auto questions = world.questions(id);
  REQUIRE(questions.size() == 1);
  REQUIRE(questions[0].status == QuestionStatus::answered);
  for (const char* once : {"session_started", "question_asked", "question_answered",
                           "session_resumed", "session_completed"}) {
    CAPTURE(once);
    REQUIRE(world.count_events(id, once) == 1);
  }
  std::map<std::string, int> owed;
  for (const auto& delivery : world.deliveries(id)) {
    ++owed[delivery.event];
    REQUIRE(delivery.status == DeliveryStatus::delivered);
  }
  REQUIRE(owed == std::map<std::string, int>{
                      {"question_pending", 1}, {"question_settled", 1}, {"session_completed", 1}});
}

}  // namespace

TEST_CASE(
    "the store dies at every point of a session's life: one result, nothing lost or doubled") {
  const auto points = walk(
      [](World& world) {
        return Client{world, {}, false};
      },
      [](Client& client) { client.act(); }, check_story);
  MESSAGE("points walked: " << points);
  CHECK(points > 60);
}

TEST_CASE("the store dies at every point of a life whose turns are claimed as they become due") {
  const auto points = walk(
      [](World& world) {
        return Client{world, {}, false};
      },
      [](Client& client) { client.act(); }, check_story, true);
  MESSAGE("points walked: " << points);
  CHECK(points > 50);
}

TEST_CASE("the store dies at every point of a timeout and of a cancel, too") {
  for (const bool cancel : {false, true}) {
    CAPTURE(cancel);
    const auto points = walk(
        [&](World& world) {
          Client client{world, world.trigger(), false};
          world.run_until_idle();
          world.clock.advance(cancel ? 1s : 3600s);
          return client;
        },
        [&](Client& client) {
          auto& world = client.world;
          if (cancel)
            (void)world.process().control.cancel(*client.session, "enough", kAdmin,
                                                 Control::As::owner, world.now());
          world.run_until_idle();
        },
        [&](World& world, const SessionId& id) {
          const std::string ended = cancel ? "session_cancelled" : "session_failed";
          REQUIRE(world.session(id).status ==
                  (cancel ? SessionStatus::cancelled : SessionStatus::failed));
          REQUIRE(world.questions(id)[0].status ==
                  (cancel ? QuestionStatus::cancelled : QuestionStatus::timed_out));
          REQUIRE(world.count_events(id, ended) == 1);
          std::map<std::string, int> owed;
          for (const auto& delivery : world.deliveries(id)) ++owed[delivery.event];
          REQUIRE(owed == std::map<std::string, int>{
                              {"question_pending", 1}, {"question_settled", 1}, {ended, 1}});
        });
    CHECK(points > 20);
  }
}
