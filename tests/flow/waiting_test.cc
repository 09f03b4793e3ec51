#include <doctest/doctest.h>

#include <thread>

#include "tests/support/eventually.h"
#include "tests/support/world.h"

using namespace holdpoint;
using namespace holdpoint::test;

TEST_CASE("whoever waits for a session or a question is woken by its change, not by a poll") {
  World world;
  const auto id = world.trigger();
  std::optional<Views::SessionView> asked, done;
  std::optional<Question> settled;
  std::thread waits_for_ask(
      [&] { asked = world.process().views.session(id, Views::Until::settled, 20s); });
  std::thread waits_for_end(
      [&] { done = world.process().views.session(id, Views::Until::finished, 20s); });
  world.run_until_idle();
  waits_for_ask.join();
  REQUIRE(asked);
  CHECK(asked->session.status == SessionStatus::pending_input);
  REQUIRE(asked->pending.size() == 1);
  std::thread waits_for_answer(
      [&] { settled = world.process().views.question(asked->pending[0].id, 20s); });
  world.answer(id, "haiku");
  waits_for_answer.join();
  CHECK(settled->status == QuestionStatus::answered);
  world.run_until_idle();
  waits_for_end.join();
  CHECK(done->session.status == SessionStatus::completed);
}

TEST_CASE("every step wakes those who have work now, so that nobody has to poll") {
  World world;
  int turns = 0, deliveries = 0;
  std::vector<Time> deadlines;
  auto& journal = world.process().journal;
  journal.on_turn_due = [&] { ++turns; };
  journal.on_delivery_due = [&] { ++deliveries; };
  journal.on_deadline = [&](Time deadline) { deadlines.push_back(deadline); };
  const auto woken = [&](int by_turns, int by_deliveries) {
    const bool right = turns == by_turns && deliveries == by_deliveries;
    turns = deliveries = 0;
    return right;
  };
  const auto id = world.trigger();
  CHECK(woken(1, 0));
  world.run_until_idle();  // It asks: a message is owed, a deadline set.
  CHECK(woken(0, 1));
  CHECK(deadlines == std::vector<Time>{world.now() + 3600s});
  world.answer(id, "haiku");
  CHECK(woken(1, 1));
  world.run_until_idle();
  CHECK(woken(0, 1));

  const auto late = world.trigger();
  world.run_until_idle();
  world.clock.advance(3600s);
  turns = deliveries = 0;
  world.process().expiry.run_once(world.now());  // It fails: settled and failed are owed.
  CHECK(woken(0, 1));
  (void)world.process().control.retry(late, kAdmin, world.now());
  CHECK(woken(1, 0));
}

TEST_CASE("closing the journal lets all who wait go") {
  World world;
  const auto id = world.trigger();
  world.run_until_idle();
  std::atomic<int> back{0};
  std::vector<std::thread> waiting;
  for (int i = 0; i < 4; ++i) {
    waiting.emplace_back([&] {
      (void)world.process().views.session(id, Views::Until::finished, 60s);
      ++back;
    });
  }
  world.process().journal.close();
  CHECK(eventually([&] { return back == 4; }));
  for (auto& thread : waiting) thread.join();
}

TEST_CASE("followers see every event once and in order, from where they left off") {
  World world;
  Feed feed(world.db(), world.clock);
  world.process().journal.on_events = [&] { feed.wake(); };
  const auto before = world.trigger();
  feed.start();
  std::vector<std::int64_t> seen;
  std::atomic<bool> enough{false};
  std::thread follower([&] {
    Feed::Follower following(feed);
    std::int64_t seq = 0;  // Behind what is kept at hand: the first page comes from the database.
    while (!enough) {
      const auto next = following.next(seq, std::nullopt, 50ms);
      for (const auto& event : next.events) seen.push_back(event->seq);
      seq = next.seq;
      if (seen.size() >= 200) enough = true;
    }
  });
  for (int i = 0; i < 199; ++i) world.trigger();
  CHECK(eventually([&] { return enough.load(); }));
  enough = true;
  follower.join();
  std::vector<std::int64_t> expected(seen.size());
  for (std::size_t i = 0; i < expected.size(); ++i) expected[i] = static_cast<std::int64_t>(i) + 1;
  CHECK(seen == expected);
  Feed::Follower of_one(feed);
  const auto own = of_one.next(0, before, 0ms);
  CHECK(own.events.size() == 1);
  feed.stop();
}

TEST_CASE(
    "a thousand answers at once: one is accepted, the others are told whose counted, one resume") {
  World world;
  world.runner.reply = [](const AgentDefinition&, const TurnRequest& r, const TurnContext&) {
    return r.turn > 1 ? ask_then_tell(r) : R"({"ask":{"questions":[{"question":"Name?"}]}})";
  };
  const auto id = world.trigger();
  world.run_until_idle();
  std::atomic<int> accepted{0}, conflicts{0}, others{0};
  std::vector<std::string> told(1000);
  std::vector<std::thread> people;
  for (int t = 0; t < 50; ++t) {
    people.emplace_back([&, t] {
      for (int i = 0; i < 20; ++i) {
        const int n = t * 20 + i;
        const auto outcome = world.answer(id, "text " + std::to_string(n), "p" + std::to_string(n));
        if (std::holds_alternative<AnswerAccepted>(outcome)) {
          ++accepted;
        } else if (const auto* lost = std::get_if<AnswerConflict>(&outcome)) {
          ++conflicts;
          told[static_cast<std::size_t>(n)] =
              *lost->counted.answered_by + ":" + *lost->counted.choice->text;
        } else {
          ++others;
        }
      }
    });
  }
  for (auto& thread : people) thread.join();
  CHECK(accepted == 1);
  CHECK(conflicts == 999);
  CHECK(others == 0);
  const Question question = world.questions(id)[0];
  for (const auto& text : told) {
    CHECK((text.empty() || text == *question.answered_by + ":" + *question.choice->text));
  }
  CHECK(world.run_until_idle() == 1);
  CHECK(world.count_events(id, "session_resumed") == 1);
}
