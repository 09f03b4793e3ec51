#include <doctest/doctest.h>

#include <barrier>
#include <thread>

#include "tests/support/world.h"

using namespace holdpoint;
using namespace holdpoint::test;

namespace {

std::string ask_with(const std::string& members) {
  return R"({"ask":{"questions":[{"question":"What style?","options":["haiku","sonnet"],"default":"sonnet"}],)"
         R"("timeout":60,)" +
         members + "}}";
}

World& with_policy(World& world, const std::string& policy) {
  world.runner.reply = [policy](const AgentDefinition&, const TurnRequest& r, const TurnContext&) {
    if (r.turn > 1) return ask_then_tell(r);
    return ask_with(R"("on_timeout":")" + policy + "\"");
  };
  return world;
}

}  // namespace

TEST_CASE("a timeout with fail fails the session, and a retry goes on from the checkpoint") {
  World world;
  with_policy(world, "fail");
  const auto id = world.trigger();
  world.run_until_idle();
  world.clock.advance(59'999ms);
  world.run_until_idle();
  CHECK(world.session(id).status == SessionStatus::pending_input);
  world.clock.advance(1ms);
  world.run_until_idle();
  CHECK(world.session(id).status == SessionStatus::failed);
  CHECK(world.session(id).error->find("timeout") != std::string::npos);
  CHECK(world.questions(id)[0].status == QuestionStatus::timed_out);
  CHECK(std::holds_alternative<SessionFinished>(world.answer(id, "haiku")));

  (void)world.process().control.retry(id, kAdmin, world.now());
  world.run_until_idle();
  const Json told = Json::parse(*world.session(id).result)["told"];
  CHECK(told["outcome"] == "timed_out");
  CHECK(world.runner.seen().back().reason == TurnReason::timeout);
}

TEST_CASE("a timeout with default resumes with the default") {
  World world;
  with_policy(world, "default");
  const auto id = world.trigger();
  world.run_until_idle();
  world.clock.advance(60s);
  world.run_until_idle();
  const Json told = Json::parse(*world.session(id).result)["told"];
  CHECK(told["answered"] == true);
  CHECK(told["outcome"] == "defaulted");
  CHECK(told["answers"]["What style?"] == "sonnet");
  CHECK(told["questions"][0]["answered_by"].is_null());
}

TEST_CASE("a timeout with continue tells the agent that nobody answered") {
  World world;
  with_policy(world, "continue");
  const auto id = world.trigger();
  world.run_until_idle();
  world.clock.advance(60s);
  world.run_until_idle();
  const Json told = Json::parse(*world.session(id).result)["told"];
  CHECK(told["answered"] == false);
  CHECK(told["outcome"] == "timed_out");
  CHECK(told["reason"] == "timeout");
  CHECK(told["answers"].empty());
}

TEST_CASE("a batch that times out keeps the answers that came") {
  World world;
  world.runner.reply = [](const AgentDefinition&, const TurnRequest& r, const TurnContext&) {
    if (r.turn > 1) return ask_then_tell(r);
    return std::string(
        R"({"ask":{"questions":[{"question":"A?"},{"question":"B?"}],"timeout":10,"on_timeout":"continue"}})");
  };
  const auto id = world.trigger();
  world.run_until_idle();
  (void)world.process().answers.answer(id, {{{"A?", {"yes"}}}, "ana", "test", true}, kAdmin,
                                       world.now());
  world.clock.advance(10s);
  world.run_until_idle();
  const Json told = Json::parse(*world.session(id).result)["told"];
  CHECK(told["answered"] == false);
  CHECK(told["answers"] == Json{{"A?", "yes"}});
  CHECK(told["questions"][0]["outcome"] == "answered");
  CHECK(told["questions"][1]["outcome"] == "timed_out");
}

TEST_CASE(
    "run_once says when the next question expires, and a start finds what fell due meanwhile") {
  World world;
  with_policy(world, "continue");
  std::vector<SessionId> ids;
  for (int i = 0; i < 250; ++i) ids.push_back(world.trigger());
  world.run_until_idle();
  CHECK(world.process().expiry.run_once(world.now()) == world.now() + 60s);
  world.clock.advance(2h);
  world.restart();
  CHECK_FALSE(world.process().expiry.run_once(world.now()));
  for (const auto& id : ids) CHECK(world.questions(id)[0].status == QuestionStatus::timed_out);
}

TEST_CASE(
    "an answer and the deadline within a millisecond, 10,000 times: one outcome, told the same "
    "everywhere") {
  World world;
  const Ask ask = parse_ask(
      R"({"questions":[{"question":"Deploy?","options":["yes","no"]}],"timeout":5,"on_timeout":"continue"})",
      {}, {});
  constexpr int kRounds = 10'000;
  std::array<int, 2> wins{};
  std::barrier both(2);
  SessionId id;
  Time answer_at, expire_at;
  std::optional<AnswerOutcome> outcome;
  std::thread person([&] {
    for (int i = 0; i < kRounds; ++i) {
      both.arrive_and_wait();
      outcome =
          world.process().answers.answer(id, {{{"", {"yes"}}}, "ana", "test"}, kAdmin, answer_at);
      both.arrive_and_wait();
    }
  });
  for (int i = 0; i < kRounds; ++i) {
    const auto asked =
        world.process().intake.admit_ask({"pager", ask}, kUpstream, world.now()).value();
    id = asked.session;
    const Time deadline = asked.questions[0].deadline_at;
    answer_at = deadline + Duration{i % 3 - 1};
    expire_at = deadline + Duration{i / 3 % 3 - 1};
    both.arrive_and_wait();
    world.process().expiry.run_once(expire_at);
    both.arrive_and_wait();
    world.process().expiry.run_once(deadline + 1ms);  // Whoever was early has had their chance.

    const Question question = world.questions(id).at(0);
    const Session session = world.session(id);
    const Json result = Json::parse(session.result.value());
    const std::string settled = world.deliveries(id).at(1).body;
    const bool answered = question.status == QuestionStatus::answered;
    ++wins[answered ? 0 : 1];
    REQUIRE(is_settled(question.status));
    REQUIRE(std::holds_alternative<AnswerAccepted>(*outcome) == answered);
    REQUIRE(session.status == SessionStatus::completed);
    REQUIRE(result["outcome"] == to_text(question.status));
    REQUIRE(result["questions"][0]["outcome"] == to_text(question.status));
    REQUIRE(Json::parse(settled)["question"]["outcome"] == to_text(question.status));
    REQUIRE(world.deliveries(id).size() == 3);  // Pending, settled, completed.
    world.clock.advance(1ms);
  }
  person.join();
  CHECK(wins[0] + wins[1] == kRounds);
  CHECK(wins[0] > 0);
  CHECK(wins[1] > 0);
}
