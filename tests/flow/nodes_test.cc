#include <doctest/doctest.h>

#include <barrier>

#include "flow/people.h"
#include "tests/flow/hooked_database.h"
#include "tests/support/beside.h"
#include "tests/support/on_postgres.h"
#include "tests/support/world.h"

using namespace holdpoint;
using namespace holdpoint::test;

namespace {

constexpr std::size_t kRounds = 300;

using Deed = std::function<void(std::size_t round)>;

// Both do their deed at the same time, round after round.
void race(std::size_t rounds, const Deed& one, const Deed& other) {
  std::barrier<> start(2);
  const auto run = [&](const Deed& deed) {
    for (std::size_t round = 0; round < rounds; ++round) {
      start.arrive_and_wait();
      try {
        deed(round);
      } catch (const std::exception& e) {
        FAIL_CHECK(std::string(e.what()));
      }
    }
  };
  Beside thread([&] { run(other); });
  run(one);
  thread.join();
}

OutsideAsk same_ask(std::size_t round) {
  OutsideAsk outside;
  outside.agent_name = "pager";
  QuestionSpec spec;
  spec.question = "Go " + std::to_string(round) + "?";
  outside.ask.questions = {spec};
  outside.dedupe = true;
  return outside;
}

// Two nodes on one database.
struct Nodes {
  std::unique_ptr<Database> open() {
    return open_test_database(world.dir.path() / "world.db", world.now());
  }
  std::vector<SessionId> trigger(std::size_t sessions) {
    std::vector<SessionId> ids;
    while (ids.size() < sessions) ids.push_back(world.trigger());
    return ids;
  }
  std::vector<session_store::ClaimedTurn> claim_all() {
    std::vector<session_store::ClaimedTurn> all;
    while (true) {
      auto some = one.turns.claim(world.now(), 100);
      if (some.empty()) return all;
      for (auto& turn : some) all.push_back(std::move(turn));
    }
  }
  // Sessions that wait for the answers to their questions.
  std::vector<SessionId> park(std::size_t sessions, const std::string& ask = kAskStyle) {
    world.runner.reply = [ask](const AgentDefinition&, const TurnRequest& request,
                               const TurnContext&) {
      return request.reason == TurnReason::start ? ask : ask_then_tell(request);
    };
    auto ids = trigger(sessions);
    for (auto& turn : claim_all()) one.turns.run(std::move(turn));
    return ids;
  }
  // Sessions that wait for two sub-sessions each; the turns of those, by the session that waits.
  std::map<SessionId, std::vector<session_store::ClaimedTurn>> spawn(std::size_t sessions) {
    AgentDefinition poet = *world.agents.find("poet");
    poet.sub_agents = {"loner"};
    world.agents.replace({{"poet", poet}, {"loner", *world.agents.find("loner")}});
    world.runner.reply = [](const AgentDefinition& agent, const TurnRequest& request,
                            const TurnContext&) -> std::string {
      if (agent.name == "loner") return R"({"result":1})";
      if (request.reason == TurnReason::agents) return ask_then_tell(request);
      return R"({"spawn":{"agents":[{"agent":"loner"},{"agent":"loner"}]}})";
    };
    trigger(sessions);
    for (auto& turn : claim_all()) one.turns.run(std::move(turn));
    std::map<SessionId, std::vector<session_store::ClaimedTurn>> children;
    for (auto& turn : claim_all()) {
      const SessionId parent = turn.parent_id.value();
      children[parent].push_back(std::move(turn));
    }
    return children;
  }
  // From now on turns are claimed by the step that makes them due.
  void offer_seats() {
    for (Process* node : {&one, &other}) node->journal.seats = &node->seats;
  }
  // Those that wait for a worker, and whose seat counts as taken no more.
  std::vector<session_store::ClaimedTurn> seated() {
    std::vector<session_store::ClaimedTurn> turns;
    for (Process* node : {&one, &other}) {
      CHECK(node->seats.taken == 0);
      for (auto& turn : node->seats.waiting) turns.push_back(std::move(turn));
      node->seats.waiting.clear();
    }
    return turns;
  }
  AnswerOutcome answer(Process& node, const SessionId& id, const std::string& question,
                       const std::string& value) {
    Answer given{{{question, {value}}}, "ana", "test"};
    given.by_text = !question.empty();
    return node.answers.answer(id, given, kAdmin, world.now());
  }
  // How many events of the type there are, and how many sessions they tell of.
  std::pair<std::int64_t, std::int64_t> events(const std::string& type) {
    std::pair<std::int64_t, std::int64_t> counts;
    world.db().read([&](Transaction& tx) {
      tx.query(
          "SELECT COUNT(*), COUNT(DISTINCT session_id) FROM agent_events WHERE type = $1",
          [&](const Row& row) {
            counts = {row.integer(0), row.integer(1)};
          },
          type);
    });
    return counts;
  }
  bool each_once(const std::string& type, std::size_t sessions) {
    const auto all = static_cast<std::int64_t>(sessions);
    return events(type) == std::pair(all, all);
  }

  World world;
  Process& one = world.process();
  Process other{open(),      world.agents,          world.http, world.runner,
                world.clock, world.notices_options, {},         5};
};

}  // namespace

TEST_CASE("the two answers to an ask that come to two nodes at once resume it exactly once" *
          on_postgres()) {
  Nodes nodes;
  const auto ids = nodes.park(
      kRounds, R"({"ask":{"questions":[{"question":"First?"},{"question":"Second?"}]}})");
  std::atomic<std::size_t> last{0};
  const auto answer_at = [&](Process& node, const char* question) {
    return [&, question](std::size_t round) {
      const auto outcome = nodes.answer(node, ids[round], question, "yes");
      const auto* accepted = std::get_if<AnswerAccepted>(&outcome);
      CHECK(accepted);
      if (accepted && accepted->remaining == 0) ++last;
    };
  };
  race(kRounds, answer_at(nodes.one, "First?"), answer_at(nodes.other, "Second?"));
  CHECK(last == kRounds);
  CHECK(nodes.each_once("session_resumed", kRounds));
  CHECK(nodes.events("question_answered") ==
        std::pair<std::int64_t, std::int64_t>(2 * kRounds, kRounds));
  const auto turns = nodes.claim_all();
  CHECK(turns.size() == kRounds);
}

TEST_CASE("of two nodes that get the last answers at once one has the turn for itself" *
          on_postgres()) {
  Nodes nodes;
  const auto ids = nodes.park(
      kRounds, R"({"ask":{"questions":[{"question":"First?"},{"question":"Second?"}]}})");
  nodes.offer_seats();
  race(
      kRounds, [&](std::size_t round) { nodes.answer(nodes.one, ids[round], "First?", "yes"); },
      [&](std::size_t round) { nodes.answer(nodes.other, ids[round], "Second?", "yes"); });
  auto turns = nodes.seated();
  CHECK(turns.size() == kRounds);
  CHECK(nodes.claim_all().empty());
  for (auto& turn : turns) nodes.one.turns.run(std::move(turn));
  CHECK(nodes.each_once("session_resumed", kRounds));
  CHECK(nodes.each_once("session_completed", kRounds));
  CHECK(nodes.events("turn_discarded").first == 0);
}

TEST_CASE("a message that comes with the answer is handed over once, with its turn or after it" *
          on_postgres()) {
  Nodes nodes;
  const auto ids = nodes.park(kRounds);
  std::map<std::string, std::size_t> times;
  nodes.world.runner.reply = [&](const AgentDefinition&, const TurnRequest& request,
                                 const TurnContext&) {
    times[request.session_id.text()] += request.messages.size();
    return std::string(R"({"result":1})");
  };
  nodes.offer_seats();
  race(
      kRounds, [&](std::size_t round) { nodes.answer(nodes.one, ids[round], "", "haiku"); },
      [&](std::size_t round) {
        const auto result = nodes.other.control.message(ids[round], "1", kAdmin, nodes.world.now());
        CHECK(result.outcome == Control::Outcome::done);
      });
  for (auto& turn : nodes.seated()) nodes.one.turns.run(std::move(turn));
  for (auto& turn : nodes.claim_all()) nodes.one.turns.run(std::move(turn));
  for (const auto& id : ids) CHECK(times[id.text()] == 1);
  CHECK(nodes.each_once("session_completed", kRounds));
}

TEST_CASE("one question that is answered on two nodes at once has one answer" * on_postgres()) {
  Nodes nodes;
  const auto ids = nodes.park(kRounds);
  std::atomic<std::size_t> accepted{0}, conflicts{0};
  const auto answer_at = [&](Process& node, const char* value) {
    return [&, value](std::size_t round) {
      const auto outcome = nodes.answer(node, ids[round], "", value);
      if (std::holds_alternative<AnswerAccepted>(outcome)) ++accepted;
      if (std::holds_alternative<AnswerConflict>(outcome)) ++conflicts;
    };
  };
  race(kRounds, answer_at(nodes.one, "haiku"), answer_at(nodes.other, "sonnet"));
  CHECK(accepted == kRounds);
  CHECK(conflicts == kRounds);
  CHECK(nodes.each_once("question_answered", kRounds));
  CHECK(nodes.each_once("session_resumed", kRounds));
}

TEST_CASE("of an answer and a cancel at once on two nodes one settles the question" *
          on_postgres()) {
  Nodes nodes;
  const auto ids = nodes.park(kRounds);
  std::vector<char> accepted(kRounds, 0);
  race(
      kRounds,
      [&](std::size_t round) {
        const auto outcome = nodes.answer(nodes.one, ids[round], "", "haiku");
        accepted[round] = std::holds_alternative<AnswerAccepted>(outcome);
        if (!accepted[round]) {
          CHECK((std::holds_alternative<AnswerConflict>(outcome) ||
                 std::holds_alternative<SessionFinished>(outcome)));
        }
      },
      [&](std::size_t round) {
        // One that goes on already can be cancelled all the same.
        const auto result = nodes.other.control.cancel(ids[round], "enough", kAdmin,
                                                       Control::As::owner, nodes.world.now());
        CHECK(result.outcome == Control::Outcome::done);
      });
  for (std::size_t round = 0; round < kRounds; ++round) {
    CAPTURE(round);
    CHECK(nodes.world.session(ids[round]).status == SessionStatus::cancelled);
    CHECK(nodes.world.questions(ids[round]).at(0).status ==
          (accepted[round] ? QuestionStatus::answered : QuestionStatus::cancelled));
  }
  CHECK(nodes.each_once("session_cancelled", kRounds));
  const auto won = std::count(accepted.begin(), accepted.end(), 1);
  CHECK(nodes.events("session_resumed").first == won);
  CHECK(nodes.events("question_answered").first == won);
  CHECK(nodes.events("question_cancelled").first == static_cast<std::int64_t>(kRounds) - won);
  CHECK(nodes.claim_all().empty());
}

TEST_CASE("a message that comes as its session ends is handed over, or refused" * on_postgres()) {
  Nodes nodes;
  nodes.trigger(kRounds);
  const auto turns = nodes.claim_all();
  REQUIRE(turns.size() == kRounds);
  std::vector<char> taken(kRounds, 0);
  race(
      kRounds,
      [&](std::size_t round) { nodes.one.turn_end.result(turns[round], {"1"}, nodes.world.now()); },
      [&](std::size_t round) {
        const auto result = nodes.other.control.message(turns[round].lease.session, "\"hello\"",
                                                        kAdmin, nodes.world.now());
        taken[round] = result.outcome == Control::Outcome::done;
        if (!taken[round]) CHECK(result.outcome == Control::Outcome::refused);
      });
  std::map<std::string, std::vector<std::string>> handed_over;
  for (const auto& turn : nodes.claim_all()) {
    handed_over[turn.lease.session.text()] = turn.messages;
  }
  for (std::size_t round = 0; round < kRounds; ++round) {
    CAPTURE(round);
    const SessionId& id = turns[round].lease.session;
    if (taken[round]) {
      CHECK(handed_over[id.text()] == std::vector<std::string>{"\"hello\""});
    } else {
      CHECK(nodes.world.session(id).status == SessionStatus::completed);
      CHECK_FALSE(handed_over.contains(id.text()));
    }
  }
}

TEST_CASE("a message that comes as its session's turn is claimed is handed over once" *
          on_postgres()) {
  Nodes nodes;
  std::vector<int> times(kRounds, 0);
  std::map<std::string, std::size_t> round_of;
  nodes.world.runner.reply = [&](const AgentDefinition&, const TurnRequest& request,
                                 const TurnContext&) {
    times[round_of.at(request.session_id.text())] += static_cast<int>(request.messages.size());
    return std::string(R"({"result":1})");
  };
  const auto ids = nodes.trigger(kRounds);
  for (std::size_t round = 0; round < kRounds; ++round) round_of[ids[round].text()] = round;
  std::vector<char> taken(kRounds, 0);
  race(
      kRounds,
      [&](std::size_t) {
        for (auto& turn : nodes.one.turns.claim(nodes.world.now(), 1)) {
          nodes.one.turns.run(std::move(turn));
        }
      },
      [&](std::size_t round) {
        const auto result = nodes.other.control.message(ids[round], "1", kAdmin, nodes.world.now());
        taken[round] = result.outcome == Control::Outcome::done;
      });
  for (auto turns = nodes.claim_all(); !turns.empty(); turns = nodes.claim_all()) {
    for (auto& turn : turns) nodes.one.turns.run(std::move(turn));
  }
  for (std::size_t round = 0; round < kRounds; ++round) {
    CAPTURE(round);
    CHECK(times[round] == taken[round]);
    CHECK(nodes.world.session(ids[round]).status == SessionStatus::completed);
  }
}

TEST_CASE("a webhook's id that comes with two bodies to two nodes at once starts one session" *
          on_postgres()) {
  Nodes nodes;
  enum class What { other_body, same_body, same_signature };
  for (const What what : {What::other_body, What::same_body, What::same_signature}) {
    CAPTURE(static_cast<int>(what));
    std::vector<std::array<Intake::Admitted, 2>> admitted(100);
    const auto send_to = [&](Process& node, std::size_t which) {
      return [&, which](std::size_t round) {
        const std::string id = std::to_string(static_cast<int>(what)) + "-" + std::to_string(round);
        const std::string copy = std::to_string(which);
        Intake::Trigger trigger;
        trigger.agent_name = "poet";
        trigger.payload = "{}";
        trigger.idempotency_key = id;
        trigger.by = kUpstream;
        trigger.receipt =
            receipt_store::Receipt{"poet", id + (what == What::same_signature ? "" : copy), id,
                                   what == What::other_body ? copy : "body"};
        admitted[round][which] = node.intake.admit(trigger, nodes.world.now()).value();
      };
    };
    race(admitted.size(), send_to(nodes.one, 0), send_to(nodes.other, 1));
    for (const auto& [first, second] : admitted) {
      if (what == What::same_body) {
        // The sender's own retry gets the same session.
        CHECK(first.session == second.session);
        CHECK(first.duplicate != second.duplicate);
      } else {
        CHECK(first.replayed != second.replayed);
      }
    }
  }
  CHECK(nodes.each_once("session_started", 300));
}

TEST_CASE("one key that comes to two nodes at once starts one session, and both are told which" *
          on_postgres()) {
  Nodes nodes;
  std::vector<std::array<SessionId, 2>> sessions(kRounds);
  const auto trigger_at = [&](Process& node, std::size_t which) {
    return [&, which](std::size_t round) {
      Intake::Trigger trigger;
      trigger.agent_name = "poet";
      trigger.payload = "{}";
      trigger.idempotency_key = std::to_string(round);
      trigger.by = kUpstream;
      sessions[round][which] = node.intake.admit(trigger, nodes.world.now()).value().session;
    };
  };
  race(kRounds, trigger_at(nodes.one, 0), trigger_at(nodes.other, 1));
  for (const auto& [first, second] : sessions) CHECK(first == second);
  CHECK(nodes.each_once("session_started", kRounds));
  CHECK(nodes.each_once("trigger_repeated", kRounds));
}

TEST_CASE("the same ask at two nodes at once is asked once, and both get its session" *
          on_postgres()) {
  Nodes nodes;
  std::vector<std::array<Intake::Admitted, 2>> admitted(kRounds);
  const auto ask_at = [&](Process& node, std::size_t which) {
    return [&, which](std::size_t round) {
      admitted[round][which] =
          node.intake.admit_ask(same_ask(round), kUpstream, nodes.world.now()).value();
    };
  };
  race(kRounds, ask_at(nodes.one, 0), ask_at(nodes.other, 1));
  for (const auto& [first, second] : admitted) {
    CHECK(first.session == second.session);
    CHECK(first.duplicate != second.duplicate);
    REQUIRE(first.questions.size() == 1);
    REQUIRE(second.questions.size() == 1);
    CHECK(first.questions[0].id == second.questions[0].id);
  }
  CHECK(nodes.each_once("question_asked", kRounds));
  CHECK(nodes.each_once("ask_joined", kRounds));
}

TEST_CASE("an ask that comes while the same one is answered joins it or is asked anew" *
          on_postgres()) {
  Nodes nodes;
  std::vector<SessionId> open(kRounds);
  for (std::size_t round = 0; round < kRounds; ++round) {
    open[round] =
        nodes.one.intake.admit_ask(same_ask(round), kUpstream, nodes.world.now()).value().session;
  }
  std::vector<Intake::Admitted> late(kRounds);
  race(
      kRounds, [&](std::size_t round) { (void)nodes.answer(nodes.one, open[round], "", "yes"); },
      [&](std::size_t round) {
        late[round] =
            nodes.other.intake.admit_ask(same_ask(round), kUpstream, nodes.world.now()).value();
      });
  std::size_t joined = 0;
  for (std::size_t round = 0; round < kRounds; ++round) {
    CHECK(nodes.world.session(open[round]).status == SessionStatus::completed);
    if (late[round].duplicate) {
      ++joined;
      CHECK(late[round].session == open[round]);
    } else {
      CHECK(nodes.world.session(late[round].session).status == SessionStatus::pending_input);
    }
  }
  MESSAGE("joined: " << joined << " of " << kRounds);
}

TEST_CASE("a key that joins an ask on another node stays with it, though that is answered at once" *
          on_postgres()) {
  Nodes nodes;
  const auto open = nodes.one.intake.admit_ask(same_ask(0), kUpstream, nodes.world.now()).value();
  OutsideAsk keyed = same_ask(0);
  keyed.idempotency_key = "deploy-7";
  // Between this node's look for the key and its insert the other one has both: the join, the
  // answer.
  HookedDatabase db(*nodes.other.db);
  bool once = false;
  std::optional<Intake::Admitted> joined;
  db.before_statement = [&](std::string_view sql) {
    if (once || !sql.starts_with("INSERT INTO agent_sessions")) return;
    once = true;
    joined = nodes.one.intake.admit_ask(keyed, kUpstream, nodes.world.now());
    (void)nodes.answer(nodes.one, open.session, "", "yes");
  };
  Intake intake(db, nodes.other.journal, nodes.other.notices, nodes.world.agents, {{}, {}});
  const auto late = intake.admit_ask(keyed, kUpstream, nodes.world.now()).value();
  REQUIRE(joined);
  CHECK(joined->session == open.session);
  CHECK(late.session == open.session);
  CHECK(late.duplicate);
  CHECK(late.status == SessionStatus::completed);
  CHECK(nodes.each_once("question_asked", 1));
}

TEST_CASE("no login with the old password outlives a change of it on another node" *
          on_postgres()) {
  Nodes nodes;
  const Time now = nodes.world.now();
  // Both have done their hashing, and only the writes are to race.
  std::barrier<> hashed(2);
  HookedDatabase db(nodes.world.db()), other_db(*nodes.other.db);
  db.before_write = other_db.before_write = [&] { hashed.arrive_and_wait(); };
  People here(db, {}), there(other_db, {});
  People(nodes.world.db(), {}).add("ana", Role::admin, "the password 0", kAdmin, now);
  int logged_in = 0;
  for (int round = 0; round < 12; ++round) {
    CAPTURE(round);
    std::string token;
    Beside login([&] {
      const auto outcome =
          here.log_in("ana", "the password " + std::to_string(round), "1.2.3.4", now);
      if (const auto* made = std::get_if<std::string>(&outcome)) token = *made;
    });
    CHECK(there.set_password("ana", "the password " + std::to_string(round + 1), kAdmin, now));
    login.join();
    if (!token.empty()) ++logged_in;
    CHECK_FALSE(here.authenticate(token, now));
  }
  MESSAGE("logged in before the change: " << logged_in << " of 12");
}

TEST_CASE("what expires on two nodes at once expires once" * on_postgres()) {
  Nodes nodes;
  AgentDefinition poet = *nodes.world.agents.find("poet");
  poet.on_timeout = OnTimeout::carry_on;
  nodes.world.agents.replace({{"poet", poet}});
  nodes.park(kRounds);
  nodes.world.clock.advance(3600s);
  const auto expire_at = [&](Process& node) {
    return [&](std::size_t) {
      while (node.expiry.run_once(nodes.world.now())) {
      }
    };
  };
  race(1, expire_at(nodes.one), expire_at(nodes.other));
  CHECK(nodes.each_once("question_expired", kRounds));
  CHECK(nodes.each_once("session_resumed", kRounds));
  CHECK(nodes.claim_all().size() == kRounds);
}

TEST_CASE("an answer on one node and the deadline on another settle a question once" *
          on_postgres()) {
  Nodes nodes;
  const auto ids = nodes.park(kRounds);
  nodes.world.clock.advance(3600s);
  std::atomic<std::int64_t> accepted{0};
  race(
      1,
      [&](std::size_t) {
        for (auto id = ids.rbegin(); id != ids.rend(); ++id) {
          const auto outcome = nodes.answer(nodes.one, *id, "", "haiku");
          if (std::holds_alternative<AnswerAccepted>(outcome)) ++accepted;
        }
      },
      [&](std::size_t) {
        while (nodes.other.expiry.run_once(nodes.world.now())) {
        }
      });
  CHECK(nodes.events("question_answered").first == accepted);
  CHECK(nodes.events("session_resumed").first == accepted);
  CHECK(nodes.events("question_expired").first + accepted == static_cast<std::int64_t>(kRounds));
  CHECK(nodes.events("session_failed") == nodes.events("question_expired"));
}

TEST_CASE("two nodes run all turns and send all messages, each once" * on_postgres()) {
  Nodes nodes;
  for (const auto& id : nodes.park(50)) nodes.answer(nodes.one, id, "", "haiku");
  const auto work_at = [&](Process& node) {
    return [&](std::size_t) {
      bool busy = true;
      while (busy) {
        busy = false;
        for (auto& turn : node.turns.claim(nodes.world.now(), 3)) {
          busy = true;
          node.turns.run(std::move(turn));
        }
        for (const auto& delivery : node.courier.claim(nodes.world.now())) {
          busy = true;
          node.courier.attempt(delivery);
        }
      }
    };
  };
  race(1, work_at(nodes.one), work_at(nodes.other));
  work_at(nodes.one)(0);  // What one gave up looking for while the other was at it.
  CHECK(nodes.each_once("session_completed", 50));
  // Asked, settled and completed.
  CHECK(nodes.world.http.seen().size() == 150);
  CHECK(nodes.events("delivery_sent") == std::pair<std::int64_t, std::int64_t>(150, 50));
  CHECK(nodes.events("turn_started") == std::pair<std::int64_t, std::int64_t>(100, 50));
}

TEST_CASE("two sub-sessions that end on two nodes at once resume their parent exactly once" *
          on_postgres()) {
  Nodes nodes;
  std::vector<std::vector<session_store::ClaimedTurn>> pairs;
  for (auto& [parent, children] : nodes.spawn(kRounds)) pairs.push_back(std::move(children));
  REQUIRE(pairs.size() == kRounds);
  const auto end_at = [&](Process& node, std::size_t which) {
    return [&, which](std::size_t round) { node.turns.run(pairs[round].at(which)); };
  };
  race(kRounds, end_at(nodes.one, 0), end_at(nodes.other, 1));
  CHECK(nodes.each_once("session_resumed", kRounds));
  const auto turns = nodes.claim_all();
  CHECK(turns.size() == kRounds);
  for (const auto& turn : turns) {
    REQUIRE(turn.reason == TurnReason::agents);
    CHECK(Json::parse(turn.resume.value())["agents"].size() == 2);
  }
}

TEST_CASE(
    "a session that is cancelled as its last sub-session ends: no step waits for ever, and "
    "nothing of either is left to run" *
    on_postgres()) {
  Nodes nodes;
  std::vector<SessionId> parents;
  std::vector<session_store::ClaimedTurn> lasts;
  for (auto& [parent, children] : nodes.spawn(kRounds)) {
    nodes.one.turns.run(std::move(children.at(0)));
    parents.push_back(parent);
    lasts.push_back(std::move(children.at(1)));
  }
  race(
      kRounds,
      [&](std::size_t round) {
        nodes.one.control.cancel(parents[round], "enough", kAdmin, Control::As::owner,
                                 nodes.world.now());
      },
      [&](std::size_t round) { nodes.other.turns.run(lasts[round]); });
  CHECK(nodes.claim_all().empty());
  for (const auto& parent : parents) {
    REQUIRE(nodes.world.session(parent).status == SessionStatus::cancelled);
  }
  // Of each family the parent is cancelled, one child was done before, and the other is either.
  const auto done_in_time = nodes.events("session_completed").first - std::int64_t{kRounds};
  CHECK(nodes.events("session_cancelled").first == 2 * std::int64_t{kRounds} - done_in_time);
  MESSAGE("done before the cancel: " << done_in_time << " of " << kRounds);
}
