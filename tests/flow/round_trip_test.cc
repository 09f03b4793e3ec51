#include <doctest/doctest.h>

#include "domain/bad_request.h"
#include "tests/support/world.h"

using namespace holdpoint;
using namespace holdpoint::test;

TEST_CASE("a session asks, is parked, gets its answer and completes") {
  World world;
  const auto id = world.trigger("poet", R"({"topic":"love"})");
  CHECK(world.run_until_idle() == 1);
  CHECK(world.session(id).status == SessionStatus::pending_input);
  CHECK(world.questions(id).size() == 1);

  CHECK(std::get<AnswerAccepted>(world.answer(id, "haiku")).remaining == 0);
  CHECK(world.run_until_idle() == 1);
  const Session done = world.session(id);
  CHECK(done.status == SessionStatus::completed);
  const Json told = Json::parse(*done.result)["told"];
  CHECK(told["answers"]["What style?"] == "haiku");
  CHECK(told["tool_call_id"] == "toolu_01");
  CHECK(told["questions"][0]["answered_by"] == "ana");
  CHECK(world.event_types(id) == std::vector<std::string>{"session_started", "turn_started",
                                                          "question_asked", "delivery_sent",
                                                          "question_answered", "session_resumed",
                                                          "turn_started", "session_completed",
                                                          "delivery_sent", "delivery_sent"});
}

TEST_CASE("payload and state come back byte for byte") {
  World world;
  const std::string odd = R"({ "n":1.0,"big":12345678901234567890123,"e":1e2, "s":"\u00e9" })";
  world.runner.reply = [&](const AgentDefinition&, const TurnRequest& request, const TurnContext&) {
    if (request.turn == 1) return R"({"continue":true,"state":)" + odd + "}";
    return std::string(R"({"result":null})");
  };
  world.trigger("poet", odd);
  CHECK(world.run_until_idle() == 2);
  const auto seen = world.runner.seen();
  CHECK(seen[0].payload == odd);
  CHECK(seen[1].payload == odd);
  CHECK(seen[1].state == odd);
  CHECK(turn_request_json(seen[1]).find("\"state\":" + odd) != std::string::npos);
}

TEST_CASE("a batch keeps partial answers and resumes with the last one") {
  World world;
  world.runner.reply = [](const AgentDefinition&, const TurnRequest& request, const TurnContext&) {
    if (request.turn > 1) return ask_then_tell(request);
    return std::string(
        R"({"ask":{"questions":[{"question":"Where?","options":["here","there"],"allow_other":false},)"
        R"({"question":"Checks?","options":["a","b","c"],"multi_select":true},{"question":"Note?"}]}})");
  };
  const auto id = world.trigger();
  world.run_until_idle();
  const auto answer = [&](std::map<std::string, std::vector<std::string>> values) {
    return world.process().answers.answer(id, {std::move(values), "bo", "test", true}, kAdmin,
                                          world.now());
  };
  CHECK_THROWS_AS(world.answer(id, "here"), BadRequest);             // Which of the three?
  CHECK_THROWS_AS(answer({{"Where?", {"elsewhere"}}}), BadRequest);  // No option, and none allowed.
  CHECK_THROWS_AS(answer({{"Where?", {"here", "there"}}}), BadRequest);
  CHECK_THROWS_AS(answer({{"Note?", {"fine"}}, {"Nobody asked", {"x"}}}), BadRequest);
  CHECK(world.questions(id)[2].status == QuestionStatus::pending);

  CHECK(std::get<AnswerAccepted>(answer({{"Checks?", {"c", "a"}}})).remaining == 2);
  CHECK(world.session(id).status == SessionStatus::pending_input);
  CHECK(std::get<AnswerAccepted>(answer({{"Where?", {"there"}}, {"Note?", {"go"}}})).remaining ==
        0);
  world.run_until_idle();
  const Json told = Json::parse(*world.session(id).result)["told"];
  CHECK(told["answers"]["Where?"] == "there");
  CHECK(told["answers"]["Checks?"] == Json::array({"a", "c"}));
  CHECK(told["answers"]["Note?"] == "go");
  CHECK(told["questions"][1]["index"] == Json::array({0, 2}));
  CHECK(told["questions"][2]["text"] == "go");
}

TEST_CASE("the same answer again is no conflict, another one is, and both change nothing") {
  World world;
  const auto id = world.trigger();
  world.run_until_idle();
  world.answer(id, "haiku", "ana");
  CHECK(std::holds_alternative<AlreadyAnswered>(world.answer(id, "haiku", "bo")));
  const auto conflict = std::get<AnswerConflict>(world.answer(id, "sonnet", "bo"));
  CHECK(conflict.counted.answered_by == "ana");
  CHECK(conflict.counted.choice->selected == std::vector<std::string>{"haiku"});
  world.run_until_idle();
  // Finished now: the answered question is still told apart, anything else is gone.
  CHECK(std::holds_alternative<AlreadyAnswered>(world.answer(id, "haiku")));
  CHECK(std::holds_alternative<AnswerConflict>(world.answer(id, "sonnet")));
  CHECK(std::holds_alternative<UnknownSession>(world.answer(SessionId("nobody"), "haiku")));
  CHECK(world.count_events(id, "session_resumed") == 1);
}

TEST_CASE("an answer to an earlier question never reaches a later one") {
  World world;
  world.runner.reply = [](const AgentDefinition&, const TurnRequest& request, const TurnContext&) {
    return request.turn < 3 ? kAskStyle : ask_then_tell(request);
  };
  const auto id = world.trigger();
  world.run_until_idle();
  const auto first = world.questions(id)[0].id;
  world.answer(id, "haiku");
  world.run_until_idle();
  REQUIRE(world.questions(id).size() == 2);
  const auto late = world.process().answers.answer(id, {{{first.text(), {"sonnet"}}}, "bo", "test"},
                                                   kAdmin, world.now());
  CHECK(std::get<AnswerConflict>(late).counted.id == first);
  CHECK(world.questions(id)[1].status == QuestionStatus::pending);
}

TEST_CASE("the same idempotency key starts one session, per agent") {
  World world;
  const auto first = world.trigger("poet", "{}", "key-1");
  CHECK(world.trigger("poet", R"({"other":1})", "key-1") == first);
  CHECK(world.trigger("loner", "{}", "key-1") != first);
  CHECK(world.count_events(first, "trigger_repeated") == 1);
}

TEST_CASE("an external agent's session completes with the outcome of its ask") {
  World world;
  const Ask ask =
      parse_ask(R"({"questions":[{"question":"Deploy?","options":["yes","no"]}]})", {}, {});
  const auto asked =
      world.process().intake.admit_ask({"pager", ask, "k"}, kUpstream, world.now()).value();
  CHECK(asked.questions.size() == 1);
  const auto again =
      world.process().intake.admit_ask({"pager", ask, "k"}, kUpstream, world.now()).value();
  CHECK(again.session == asked.session);
  CHECK(again.duplicate);
  CHECK(again.questions[0].id == asked.questions[0].id);
  CHECK(std::get<AnswerAccepted>(world.answer(asked.session, "yes")).remaining == 0);
  const Session done = world.session(asked.session);
  CHECK(done.status == SessionStatus::completed);
  CHECK(Json::parse(*done.result)["answers"]["Deploy?"] == "yes");
  CHECK(world.run_until_idle() == 0);
}

TEST_CASE("an agent that may not ask gets the error with its next turn, and fails if it insists") {
  World world(3);
  SUBCASE("it goes on without an answer") {
    const auto id = world.trigger("loner");
    world.run_until_idle();
    const auto seen = world.runner.seen();
    REQUIRE(seen.size() == 2);
    const Json resume = Json::parse(*seen[1].resume);
    CHECK(resume["outcome"] == "refused");
    CHECK(resume["answered"] == false);
    CHECK(resume["tool_call_id"] == "toolu_01");
    CHECK(resume["reason"].get<std::string>().find("async_questions") != std::string::npos);
    CHECK(seen[1].state == R"({"step":1})");
    CHECK(world.session(id).status == SessionStatus::completed);
  }
  SUBCASE("it asks for ever") {
    world.runner.reply = [](const auto&, const auto&, const auto&) { return kAskStyle; };
    const auto id = world.trigger("loner");
    CHECK(world.run_until_idle() == 3);
    CHECK(world.session(id).status == SessionStatus::failed);
    CHECK(world.questions(id).empty());
  }
  SUBCASE("a sub-session of one that may") {
    world.runner.reply = [](const auto&, const auto& r, const auto&) { return ask_then_tell(r); };
    const auto parent = world.trigger();
    world.run_until_idle();
    const auto child =
        world.process()
            .intake.admit({"poet", "{}", std::nullopt, parent, kUpstream, {}}, world.now())
            .value();
    world.run_until_idle();
    CHECK(world.questions(child.session).empty());
    CHECK(world.count_events(child.session, "ask_refused") == 1);
    CHECK(world.session(child.session).status == SessionStatus::completed);
  }
}

TEST_CASE("an ask that breaks a rule is refused with the rule") {
  World world;
  world.runner.reply = [](const AgentDefinition&, const TurnRequest& r, const TurnContext&) {
    if (r.turn > 1) return ask_then_tell(r);
    return std::string(R"({"ask":{"questions":[{"question":"Q","options":["only one"]}]}})");
  };
  const auto id = world.trigger();
  world.run_until_idle();
  const Json told = Json::parse(*world.session(id).result)["told"];
  CHECK(told["reason"].get<std::string>().find("2 to 5 options") != std::string::npos);
}

TEST_CASE("messages wait for the question, arrive in order, and are handed over once") {
  World world;
  const auto id = world.trigger();
  world.run_until_idle();
  for (const char* text : {R"("one")", R"({"two":2})", "3"}) {
    CHECK(world.process().control.message(id, text, kAdmin, world.now()).outcome ==
          Control::Outcome::done);
  }
  CHECK(world.run_until_idle() == 0);  // A pending question goes first.
  world.answer(id, "haiku");
  world.run_until_idle();
  const auto seen = world.runner.seen();
  CHECK(seen[1].messages == std::vector<std::string>{R"("one")", R"({"two":2})", "3"});
  CHECK(world.session(id).status == SessionStatus::completed);
  CHECK(world.process().control.message(id, "4", kAdmin, world.now()).outcome ==
        Control::Outcome::refused);
}

TEST_CASE("a result does not end a session that has messages waiting") {
  World world;
  world.runner.reply = [&](const AgentDefinition&, const TurnRequest& r, const TurnContext&) {
    if (r.turn == 1)
      (void)world.process().control.message(r.session_id, "\"late\"", kAdmin, world.now());
    return R"({"result":{"turn":)" + std::to_string(r.turn) + "}}";
  };
  const auto id = world.trigger();
  CHECK(world.run_until_idle() == 2);
  const auto seen = world.runner.seen();
  CHECK(seen[1].reason == TurnReason::message);
  CHECK(seen[1].messages == std::vector<std::string>{"\"late\""});
  CHECK(world.session(id).result == R"({"turn":2})");
  CHECK(world.count_events(id, "result_deferred") == 1);
}

TEST_CASE("cancel ends a parked session and its question; an answer afterwards finds nobody") {
  World world;
  const auto id = world.trigger();
  world.run_until_idle();
  CHECK(world.process()
            .control.cancel(id, "changed my mind", kAdmin, Control::As::owner, world.now())
            .outcome == Control::Outcome::done);
  CHECK(world.session(id).status == SessionStatus::cancelled);
  CHECK(world.questions(id)[0].status == QuestionStatus::cancelled);
  CHECK(std::holds_alternative<SessionFinished>(world.answer(id, "haiku")));
  CHECK(world.run_until_idle() == 0);
  // Again is the same; a completed one cannot be.
  CHECK(world.process()
            .control.cancel(id, "again", kAdmin, Control::As::owner, world.now())
            .outcome == Control::Outcome::done);
  CHECK(world.count_events(id, "session_cancelled") == 1);
}

TEST_CASE("state changes are told to callbacks that opted in, signed by nobody without a secret") {
  World world;
  const auto id = world.trigger();
  world.run_until_idle();
  world.answer(id, "haiku");
  world.run_until_idle();
  std::vector<std::string> events;
  for (const auto& call : world.http.seen()) {
    events.push_back(Json::parse(call.body)["event"]);
    CHECK(call.headers.at("X-Agent-Session") == id.text());
    CHECK(call.headers.count("webhook-signature") == 0);
  }
  CHECK(events ==
        std::vector<std::string>{"question_pending", "question_settled", "session_completed"});
}

TEST_CASE("finished sessions are removed after their time, with all that was theirs") {
  World world;
  const auto old = world.trigger();
  world.run_until_idle();
  world.answer(old, "haiku");
  world.run_until_idle();
  const auto parked = world.trigger();
  world.run_until_idle();
  Retention retention(world.db(), std::chrono::days{30}, world.clock);
  world.clock.advance(29 * 24h);
  retention.run_once(world.now());
  CHECK(world.session(old).status == SessionStatus::completed);
  world.clock.advance(25h);
  retention.run_once(world.now());
  const auto find = [&](const SessionId& id) {
    return world.db().read([&](Transaction& tx) { return session_store::find(tx, id); });
  };
  CHECK_FALSE(find(old));
  CHECK(find(parked));
  CHECK(world.questions(old).empty());
  CHECK(world.deliveries(old).empty());
  CHECK(world.questions(parked).size() == 1);
}

TEST_CASE("a turn is claimed by the step that makes it due, with all that its agent gets") {
  World world;
  world.with_seats = true;
  world.restart();
  auto& seats = world.process().seats;
  const auto id = world.trigger("poet", R"({"topic":"love"})");
  REQUIRE(seats.waiting.size() == 1);
  CHECK(world.process().turns.claim(world.now(), 10).empty());
  CHECK(world.event_types(id) == std::vector<std::string>{"session_started", "turn_started"});
  world.run_until_idle();
  world.process().control.message(id, R"({"text":"hurry"})", kAdmin, world.now());
  world.answer(id, "haiku");
  REQUIRE(seats.waiting.size() == 1);
  CHECK(world.process().turns.claim(world.now(), 10).empty());
  world.run_until_idle();
  const auto seen = world.runner.seen();
  REQUIRE(seen.size() == 2);
  CHECK(seen[0].payload == R"({"topic":"love"})");
  CHECK_FALSE(seen[0].state);
  CHECK(seen[1].turn == 2);
  CHECK(seen[1].reason == TurnReason::answer);
  CHECK(seen[1].payload == R"({"topic":"love"})");
  CHECK(seen[1].state == R"({"step":1})");
  CHECK(seen[1].resume->find("haiku") != std::string::npos);
  CHECK(seen[1].messages == std::vector<std::string>{R"({"text":"hurry"})"});
  CHECK(world.session(id).status == SessionStatus::completed);
  CHECK(seats.taken == 0);
}

TEST_CASE("a seat that no turn was claimed for is given back") {
  World world;
  world.with_seats = true;
  world.restart();
  const auto id = world.trigger("poet", "{}", "key");
  CHECK(world.trigger("poet", "{}", "key") == id);
  CHECK(world.process().seats.waiting.size() == 1);
  world.run_until_idle();
  world.answer(id, "haiku");
  world.answer(id, "haiku");
  CHECK(world.process().seats.waiting.size() == 1);
  CHECK(world.process().seats.taken == 0);
}

TEST_CASE("a turn whose process died before it ran is due again when its lease ends") {
  World world;
  world.with_seats = true;
  world.restart();
  const auto id = world.trigger();
  world.process().seats.waiting.clear();
  CHECK(world.process().turns.claim(world.now() + 29s, 10).empty());
  const auto again = world.process().turns.claim(world.now() + 30s, 10);
  REQUIRE(again.size() == 1);
  CHECK(again[0].lease.session == id);
  CHECK(again[0].lease.number == 2);
  CHECK(again[0].attempts == 2);
}

TEST_CASE("a turn that was taken over refuses what its first holder still writes") {
  World world;
  world.with_seats = true;
  world.restart();
  const auto id = world.trigger();
  auto stale = std::move(world.process().seats.waiting.front());
  world.process().seats.waiting.clear();
  world.clock.advance(31s);
  CHECK(world.run_until_idle() == 1);
  CHECK(world.session(id).status == SessionStatus::pending_input);
  world.process().turns.run(std::move(stale));
  CHECK(world.count_events(id, "turn_discarded") == 1);
  CHECK(world.questions(id).size() == 1);
}
