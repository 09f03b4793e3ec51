// Agents that live elsewhere: asks that join each other, and cards, which ask nothing.
#include <doctest/doctest.h>

#include "domain/bad_request.h"
#include "store/session_store.h"
#include "tests/support/world.h"

using namespace holdpoint;
using namespace holdpoint::test;

namespace {

OutsideAsk about(const std::string& question, std::optional<std::string> key = std::nullopt,
                 bool dedupe = true) {
  OutsideAsk outside;
  outside.agent_name = "pager";
  QuestionSpec spec;
  spec.question = question;
  spec.options = {{"yes", "", "", false}, {"no", "", "", false}};
  outside.ask.questions = {spec};
  outside.idempotency_key = std::move(key);
  outside.dedupe = dedupe;
  return outside;
}

Intake::Admitted ask(World& world, const OutsideAsk& outside) {
  return world.process().intake.admit_ask(outside, kUpstream, world.now()).value();
}

Intake::Admitted tell(World& world, const std::string& text,
                      std::optional<std::string> key = std::nullopt) {
  OutsideCard outside;
  outside.agent_name = "pager";
  outside.card = {"Build 118", text, {}};
  outside.idempotency_key = std::move(key);
  return world.process().intake.admit_card(outside, kUpstream, world.now()).value();
}

// Answers the session's question once it is waited for.
void answer_all(World& world, const SessionId& id) {
  const auto outcome = world.answer(id, "yes");
  REQUIRE(std::holds_alternative<AnswerAccepted>(outcome));
}

}  // namespace

TEST_CASE("the same ask joins the one that is open, and a later one starts anew") {
  World world;
  const auto first = ask(world, about("Go?"));
  CHECK_FALSE(first.duplicate);
  const auto second = ask(world, about("Go?"));
  CHECK(second.duplicate);
  CHECK(second.session == first.session);
  CHECK(second.status == SessionStatus::pending_input);
  REQUIRE(second.questions.size() == 1);
  CHECK(second.questions[0].id == first.questions[0].id);
  CHECK(world.count_events(first.session, "ask_joined") == 1);
  // People are asked once.
  CHECK(world.deliveries(first.session).size() == 1);

  answer_all(world, first.session);
  const auto third = ask(world, about("Go?"));
  CHECK_FALSE(third.duplicate);
  CHECK(third.session != first.session);
}

TEST_CASE("asks that differ, or were not meant to be joined, do not join") {
  World world;
  const auto first = ask(world, about("Go?"));
  CHECK(ask(world, about("Go now?")).session != first.session);
  auto other = about("Go?");
  other.ask.questions[0].options.push_back({"later", "", "", false});
  CHECK(ask(world, other).session != first.session);
  auto several = about("Go?");
  several.ask.questions[0].multi_select = true;
  CHECK(ask(world, several).session != first.session);
  // One that was asked without `dedupe` is nobody else's.
  CHECK(ask(world, about("Go?", std::nullopt, false)).session != first.session);
  const auto alone = ask(world, about("Alone?", std::nullopt, false));
  CHECK(ask(world, about("Alone?")).session != alone.session);
}

TEST_CASE("a key that joined an ask stays with it, also when that is over") {
  World world;
  const auto first = ask(world, about("Go?", "a"));
  const auto second = ask(world, about("Go?", "b"));
  CHECK(second.session == first.session);
  answer_all(world, first.session);
  for (const char* key : {"a", "b"}) {
    const auto again = ask(world, about("Go?", key));
    CHECK(again.duplicate);
    CHECK(again.session == first.session);
    CHECK(again.status == SessionStatus::completed);
    CHECK(world.process().views.session_of_key("pager", key) == first.session);
  }
  CHECK(ask(world, about("Go?", "b", false)).session == first.session);
  CHECK(world.process().views.session_made_by("pager", "a") == first.session);
  CHECK_FALSE(world.process().views.session_made_by("pager", "b"));
  CHECK_FALSE(world.process().views.session_of_key("pager", "c"));
}

TEST_CASE("whoever waits for an ask that was joined gets its answer, or its end") {
  World world;
  const auto first = ask(world, about("Go?", "a"));
  const auto second = ask(world, about("Go?", "b"));
  answer_all(world, first.session);
  const auto seen = world.process().views.ask(second.session, Duration{0}).value();
  CHECK(seen.session.status == SessionStatus::completed);
  REQUIRE(seen.questions.size() == 1);
  CHECK(seen.questions[0].choice->selected == std::vector<std::string>{"yes"});

  const auto late = ask(world, about("Go?", "c"));
  CHECK(late.session != first.session);
  world.clock.advance(3601s);
  world.run_until_idle();
  CHECK(world.session(late.session).status == SessionStatus::failed);
  CHECK_FALSE(ask(world, about("Go?", "d")).duplicate);
}

TEST_CASE("what joined a session goes with it when it is old") {
  World world;
  const auto first = ask(world, about("Go?", "a"));
  ask(world, about("Go?", "b"));
  answer_all(world, first.session);
  world.run_until_idle();
  world.clock.advance(24h);
  const auto removed = world.db().write(
      [&](Transaction& tx) { return session_store::remove_finished(tx, world.now(), 10); });
  CHECK(removed == 1);
  CHECK_FALSE(world.process().views.session_of_key("pager", "b"));
  CHECK_FALSE(ask(world, about("Go?", "b")).duplicate);
}

TEST_CASE("a card's session is over at once, and owes what tells people of it") {
  World world;
  AgentDefinition pager = *world.agents.find("pager");
  pager.callback_events = {"card_posted", "session_completed"};
  world.agents.replace({{"pager", pager}});
  const auto told = tell(world, "It is live.", "k");
  CHECK_FALSE(told.duplicate);
  CHECK(told.status == SessionStatus::completed);
  CHECK(told.channels == std::vector<std::string>{"url"});
  const Session session = world.session(told.session);
  CHECK(session.completed_at == world.now());
  CHECK(world.event_types(told.session) ==
        std::vector<std::string>{"session_started", "card_posted", "session_completed"});
  world.run_until_idle();
  const auto deliveries = world.deliveries(told.session);
  REQUIRE(deliveries.size() == 2);
  CHECK(deliveries[0].event == "card_posted");
  CHECK(deliveries[1].event == "session_completed");
  for (const auto& delivery : deliveries) CHECK(delivery.status == DeliveryStatus::delivered);
  const auto sent = Json::parse(world.http.seen().at(0).body);
  CHECK(sent["event"] == "card_posted");
  CHECK(sent["session_id"] == told.session.text());
  CHECK(sent["card"] == Json{{"title", "Build 118"}, {"message", "It is live."}});

  const auto again = tell(world, "It is live.", "k");
  CHECK(again.duplicate);
  CHECK(again.session == told.session);
  CHECK(world.deliveries(told.session).size() == 2);
}

TEST_CASE("programs get cards only if they ask for them") {
  World world;
  const auto told = tell(world, "It is live.");
  CHECK(told.channels.empty());
  for (const auto& delivery : world.deliveries(told.session)) {
    CHECK(delivery.event != "card_posted");
  }
}

TEST_CASE("nobody can answer, cancel or retry a card") {
  World world;
  const auto told = tell(world, "It is live.");
  CHECK(std::holds_alternative<SessionFinished>(world.answer(told.session, "yes")));
  const auto cancelled = world.process().control.cancel(told.session, "enough", kAdmin,
                                                        Control::As::owner, world.now());
  CHECK(cancelled.outcome != Control::Outcome::done);
  CHECK(world.session(told.session).status == SessionStatus::completed);
  CHECK_FALSE(world.process().views.ask(told.session, Duration{0}));
}

TEST_CASE("only agents that live elsewhere tell people something by themselves") {
  World world;
  OutsideCard outside;
  outside.agent_name = "poet";
  outside.card.text = "Hello";
  CHECK_THROWS_AS((void)world.process().intake.admit_card(outside, kUpstream, world.now()),
                  BadRequest);
  outside.agent_name = "nobody";
  CHECK_FALSE(world.process().intake.admit_card(outside, kUpstream, world.now()));
}
