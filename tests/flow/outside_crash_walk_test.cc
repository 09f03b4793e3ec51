#include <doctest/doctest.h>

#include "tests/flow/crash_walk.h"

using namespace holdpoint;
using namespace holdpoint::test;

namespace {

// Two programs that ask the same with keys of their own, and try again until they are told that it
// was asked; a person who answers; and a third program that tells people how it went.
struct Programs {
  World& world;
  std::optional<SessionId> session;  // What the first was told.
  std::optional<SessionId> joined;   // And the second.
  std::optional<SessionId> told;
  bool answered = false;

  SessionId ask(const std::string& key) {
    OutsideAsk outside;
    outside.agent_name = "pager";
    QuestionSpec spec;
    spec.question = "Go?";
    outside.ask.questions = {spec};
    outside.idempotency_key = key;
    outside.dedupe = true;
    return world.process().intake.admit_ask(outside, kUpstream, world.now()).value().session;
  }

  void act() {
    if (!session) session = ask("a");
    if (!joined) joined = ask("b");
    world.run_until_idle();
    if (!answered) {
      const auto outcome = world.answer(*session, "go");
      REQUIRE_FALSE(std::holds_alternative<AnswerConflict>(outcome));
      REQUIRE_FALSE(std::holds_alternative<UnknownSession>(outcome));
      answered = true;
    }
    if (!told) {
      OutsideCard outside;
      outside.agent_name = "pager";
      outside.card.text = "Gone.";
      outside.idempotency_key = "c";
      told = world.process().intake.admit_card(outside, kUpstream, world.now()).value().session;
    }
    world.run_until_idle();
    // Whoever asks again with its key finds the same, over or not.
    const SessionId again = ask("b");
    REQUIRE(again == *joined);
  }
};

}  // namespace

TEST_CASE("the store dies at every point of asks that join and of a card: each once, none lost") {
  const auto points = walk(
      [](World& world) {
        AgentDefinition pager = *world.agents.find("pager");
        pager.callback_events = {"card_posted"};
        world.agents.replace({{"pager", pager}});
        return std::make_unique<Programs>(Programs{world, {}, {}, {}, false});
      },
      [](std::unique_ptr<Programs>& programs) { programs->act(); },
      [](World& world, const SessionId& id) {
        REQUIRE(world.process().views.sessions({}).size() == 2);
        REQUIRE(world.session(id).status == SessionStatus::completed);
        REQUIRE(world.process().views.session_of_key("pager", "a") == id);
        REQUIRE(world.process().views.session_of_key("pager", "b") == id);
        REQUIRE(world.questions(id).size() == 1);
        REQUIRE(world.count_events(id, "question_asked") == 1);
        REQUIRE(world.count_events(id, "question_answered") == 1);
        REQUIRE(world.count_events(id, "ask_joined") == 1);
        const auto told = world.process().views.session_of_key("pager", "c").value();
        REQUIRE(world.session(told).status == SessionStatus::completed);
        const auto deliveries = world.deliveries(told);
        REQUIRE(deliveries.size() == 1);
        REQUIRE(deliveries[0].event == "card_posted");
        REQUIRE(deliveries[0].status == DeliveryStatus::delivered);
      });
  MESSAGE("points walked: " << points);
  CHECK(points > 30);
}
