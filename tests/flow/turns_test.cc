#include <doctest/doctest.h>

#include "tests/support/world.h"

using namespace holdpoint;
using namespace holdpoint::test;

TEST_CASE("a turn whose lease was lost cannot park, finish, advance, fail or release its session") {
  for (const char* reply : {kAskStyle.c_str(), R"({"result":1})", R"({"continue":true})",
                            R"({"error":"no"})", R"({"error":"no","retry":true})"}) {
    CAPTURE(reply);
    World world;
    world.runner.reply = [&](const auto&, const auto&, const auto&) { return reply; };
    const auto id = world.trigger();
    const auto zombie = world.process().turns.claim(world.now(), 1).at(0);
    world.clock.advance(31s);  // Nobody kept the lease alive.
    const auto heir = world.process().turns.claim(world.now(), 1).at(0);
    CHECK(heir.lease.number == zombie.lease.number + 1);
    CHECK(heir.turn == zombie.turn);

    world.process().turns.run(zombie);
    CHECK(world.session(id).status == SessionStatus::running);
    CHECK(world.session(id).turn == 1);
    CHECK(world.questions(id).empty());
    CHECK(world.deliveries(id).empty());
    CHECK(world.count_events(id, "turn_discarded") == 1);
    world.process().turn_end.release(zombie, world.now());
    CHECK(world.process().turns.claim(world.now(), 1).empty());  // The heir still has it.
  }
}

TEST_CASE("a lease that is kept alive is not claimed by others, and one that is not is") {
  World world;
  world.trigger();
  const auto turn = world.process().turns.claim(world.now(), 1).at(0);
  for (int i = 0; i < 5; ++i) {
    world.clock.advance(20s);
    const auto commit = world.db().write(
        [&](Transaction& tx) { return session_store::extend(tx, turn.lease, world.now() + 30s); });
    CHECK(commit == session_store::Commit::done);
    CHECK(world.process().turns.claim(world.now(), 1).empty());
  }
  world.clock.advance(31s);
  CHECK(world.process().turns.claim(world.now(), 1).size() == 1);
  const auto commit = world.db().write(
      [&](Transaction& tx) { return session_store::extend(tx, turn.lease, world.now() + 30s); });
  CHECK(commit == session_store::Commit::lease_lost);
}

TEST_CASE("a failing turn is tried again later, then the session fails and a retry starts over") {
  World world(3);
  int runs = 0;
  bool mended = false;
  world.runner.reply = [&](const AgentDefinition&, const TurnRequest& r,
                           const TurnContext&) -> std::string {
    ++runs;
    if (mended) return R"({"result":"ok"})";
    CHECK(r.turn == 1);
    throw TurnFailed("no luck", true);
  };
  const auto id = world.trigger();
  world.run_until_idle();
  CHECK(runs == 1);
  world.run_until_idle();
  CHECK(runs == 1);  // Not before its time.
  for (int i = 0; i < 5; ++i) {
    world.clock.advance(5s);
    world.run_until_idle();
  }
  CHECK(runs == 3);
  CHECK(world.session(id).status == SessionStatus::failed);
  CHECK(world.session(id).error->find("no luck") != std::string::npos);
  CHECK(world.count_events(id, "turn_failed") == 3);

  mended = true;
  CHECK(world.process().control.retry(id, kAdmin, world.now()).outcome == Control::Outcome::done);
  CHECK(world.process().control.retry(id, kAdmin, world.now()).outcome ==
        Control::Outcome::refused);
  world.run_until_idle();
  CHECK(world.session(id).status == SessionStatus::completed);
  CHECK_FALSE(world.session(id).error);
}

TEST_CASE("an error that the agent calls final is not tried again") {
  World world;
  world.runner.reply = [](const auto&, const auto&, const auto&) {
    return R"({"error":"bad payload"})";
  };
  const auto id = world.trigger();
  CHECK(world.run_until_idle() == 1);
  CHECK(world.session(id).status == SessionStatus::failed);
  CHECK(world.session(id).error == "bad payload");
}

TEST_CASE("a turn that kills the process is counted before it runs, so it cannot loop for ever") {
  World world(3);
  const auto id = world.trigger();
  for (int i = 1; i <= 3; ++i) {
    REQUIRE(world.process().turns.claim(world.now(), 1).size() == 1);  // … and the process dies.
    world.restart();
    CHECK(world.session(id).attempts == i);
  }
  world.run_until_idle();
  CHECK(world.runner.seen().empty());
  CHECK(world.session(id).status == SessionStatus::failed);
}

TEST_CASE("an answer survives a resume that fails: nobody is asked twice") {
  World world(3);
  int failures = 2;
  world.runner.reply = [&](const AgentDefinition&, const TurnRequest& r,
                           const TurnContext&) -> std::string {
    if (r.reason == TurnReason::answer && failures-- > 0) throw TurnFailed("crashed", true);
    return ask_then_tell(r);
  };
  const auto id = world.trigger();
  world.run_until_idle();
  world.answer(id, "sonnet");
  for (int i = 0; i < 5; ++i) {
    world.run_until_idle();
    world.clock.advance(10s);
    world.restart();
  }
  CHECK(world.session(id).status == SessionStatus::completed);
  CHECK(world.questions(id).size() == 1);
  const Json told = Json::parse(*world.session(id).result)["told"];
  CHECK(told["answers"]["What style?"] == "sonnet");
}

TEST_CASE("a reply that is not what a turn may answer is a failed turn that says why") {
  for (const auto& [reply, why] : std::map<std::string, std::string>{
           {"not json", "not valid JSON"},
           {"{}", "exactly one of"},
           {R"({"result":1,"error":"x"})", "exactly one of"},
           {R"({"resutl":1})", "is not known"},
           {R"({"result":"\u0000"})", "NUL"},
           {R"({"continue":false})", "must be true"},
           {R"({"result":1,"state":{}})", "goes with ask, continue or spawn"}}) {
    CAPTURE(reply);
    World world(1);
    world.runner.reply = [&, r = reply](const auto&, const auto&, const auto&) { return r; };
    const auto id = world.trigger();
    world.run_until_idle();
    CHECK(world.session(id).status == SessionStatus::failed);
    CHECK(world.session(id).error->find(why) != std::string::npos);
  }
}

TEST_CASE("cancelling a running session makes its turn's end worth nothing") {
  World world;
  SessionId id;
  bool told = false;
  world.runner.reply = [&](const AgentDefinition&, const TurnRequest& r, const TurnContext&) {
    (void)world.process().control.cancel(r.session_id, "enough", kAdmin, Control::As::owner,
                                         world.now());
    told = true;
    return R"({"result":1})";
  };
  id = world.trigger();
  world.run_until_idle();
  CHECK(told);
  CHECK(world.session(id).status == SessionStatus::cancelled);
  CHECK_FALSE(world.session(id).result);
  CHECK(world.count_events(id, "turn_discarded") == 1);
}

TEST_CASE("workers run claimed turns at the same time, and stopping gives back what does not end") {
  World world;
  std::atomic<int> running{0};
  world.runner.reply = [&](const AgentDefinition&, const TurnRequest&,
                           const TurnContext& context) -> std::string {
    ++running;
    while (!context.cancelled()) std::this_thread::sleep_for(1ms);
    throw TurnFailed("the turn was stopped", true);
  };
  std::vector<SessionId> ids;
  for (int i = 0; i < 8; ++i) ids.push_back(world.trigger());
  auto& turns = world.process().turns;
  turns.run_once(world.now());
  const auto deadline = std::chrono::steady_clock::now() + 20s;
  while (running < 8 && std::chrono::steady_clock::now() < deadline) std::this_thread::yield();
  CHECK(running == 8);
  CHECK(turns.running() == 8);
  turns.stop(0ms);
  for (const auto& id : ids) {
    CHECK(world.session(id).attempts == 0);  // As if it had not been claimed.
    CHECK(world.count_events(id, "turn_released") == 1);
  }
  CHECK(world.process().turns.claim(world.now(), 100).size() == 8);
}
