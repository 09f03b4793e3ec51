#include <doctest/doctest.h>

#include "tests/support/scripted_model.h"

using namespace holdpoint;
using namespace holdpoint::test;

namespace {

// Asks first, and tells what it was told.
std::string ask_then_say(const Json& request, std::size_t replies) {
  if (replies == 0) return calls({kAskStyleCall});
  return says("told " + results_of(request)["ask_1"]);
}

std::string text_of(World& world, const SessionId& id) {
  const auto session = world.session(id);
  return session.result ? Json::parse(*session.result)["text"] : Json("no result");
}

}  // namespace

TEST_CASE("a model's ask parks its session, and the answer comes back as the result of that call") {
  ModelWorld desk;
  desk.model.script = ask_then_say;
  const auto id = desk.world.trigger("thinker", R"({"topic":"love"})");
  desk.world.run_until_idle();
  REQUIRE(desk.world.session(id).status == SessionStatus::pending_input);
  CHECK(desk.state(id)["phase"] == "awaiting_person");
  CHECK(desk.world.questions(id).at(0).tool_call_id == "ask_1");
  desk.world.answer(id, "haiku");
  desk.world.restart();  // The answer is on disk; whoever comes next goes on from it.
  desk.world.run_until_idle();
  CHECK(text_of(desk.world, id) == R"(told {"answered":true,"answers":{"What style?":"haiku"}})");
  CHECK(desk.world.session(id).spent.steps == 2);
  CHECK(desk.world.session(id).spent.input_tokens == 200);
  CHECK(desk.world.session(id).spent.cost_micros == 2 * (100 * 3 + 20 * 15));
  CHECK(desk.world.count_events(id, "model_replied") == 2);
}

TEST_CASE("an ask that times out tells the model so, and it goes on") {
  ModelWorld desk;
  desk.model.script = ask_then_say;
  const auto id = desk.world.trigger("thinker");
  desk.world.run_until_idle();
  desk.world.clock.advance(2h);
  desk.world.run_until_idle();
  CHECK(text_of(desk.world, id) == R"(told {"answered":false,"reason":"timeout"})");
}

TEST_CASE("a cancelled ask ends the session with the call's result in its conversation") {
  ModelWorld desk;
  desk.model.script = [](const Json&, std::size_t) {
    return calls({kAskStyleCall, {"look_1", "look", "{}"}});
  };
  const auto id = desk.world.trigger("thinker");
  desk.world.run_until_idle();
  desk.world.process().control.cancel(id, "enough", kAdmin, Control::As::owner, desk.world.now());
  CHECK(desk.world.session(id).status == SessionStatus::cancelled);
  const Json state = desk.state(id);
  CHECK(state["phase"] == "done");
  CHECK(state["tool_results"][0]["id"] == "ask_1");
  CHECK(state["tool_results"][0]["is_error"] == true);
  CHECK(state["tool_results"][0]["content"] == "The user cancelled the question.");
  CHECK(state["tool_results"].size() == 2);
}

TEST_CASE("calls of one reply run in order around an ask, each once, and are told together") {
  ModelWorld desk;
  std::vector<std::string> ran;
  desk.model.others = [&](const HttpRequest& request) {
    ran.push_back(Json::parse(request.body)["n"].dump());
    return HttpResponse{200, "", "saw " + ran.back(), std::nullopt};
  };
  desk.model.script = [](const Json& request, std::size_t replies) {
    if (replies == 0) {
      return calls({{"l1", "look", R"({"n":1})"}, kAskStyleCall, {"l2", "look", R"({"n":2})"}});
    }
    const auto results = results_of(request);
    return says(results.at("l1") + ", " + results.at("ask_1") + ", " + results.at("l2"));
  };
  const auto id = desk.world.trigger("thinker");
  desk.world.run_until_idle();
  CHECK(ran == std::vector<std::string>{"1"});
  CHECK(desk.state(id)["remaining_tools"].size() == 2);
  CHECK(desk.state(id)["tool_results"][0]["content"] == "saw 1");
  desk.world.answer(id, "haiku");
  desk.world.run_until_idle();
  CHECK(ran == std::vector<std::string>{"1", "2"});
  CHECK(text_of(desk.world, id) ==
        R"(saw 1, {"answered":true,"answers":{"What style?":"haiku"}}, saw 2)");
}

TEST_CASE("two asks of one reply are asked one after the other") {
  ModelWorld desk;
  desk.model.script = [](const Json& request, std::size_t replies) {
    ToolCall second = kAskStyleCall;
    second.id = "ask_2";
    if (replies == 0) return calls({kAskStyleCall, second});
    const auto results = results_of(request);
    return says(results.at("ask_1") + results.at("ask_2"));
  };
  const auto id = desk.world.trigger("thinker");
  desk.world.run_until_idle();
  CHECK(desk.world.questions(id).size() == 1);
  desk.world.answer(id, "haiku");
  desk.world.run_until_idle();
  REQUIRE(desk.world.session(id).status == SessionStatus::pending_input);
  desk.world.answer(id, "sonnet");
  desk.world.run_until_idle();
  CHECK(text_of(desk.world, id) == R"({"answered":true,"answers":{"What style?":"haiku"}})"
                                   R"({"answered":true,"answers":{"What style?":"sonnet"}})");
  CHECK(desk.world.session(id).questions_asked == 2);
}

TEST_CASE("an ask that breaks a rule asks nobody; the model is told the rule and corrects itself") {
  ModelWorld desk;
  desk.model.script = [](const Json& request, std::size_t replies) {
    if (replies == 0) {
      return calls({{"bad", "ask_user_question",
                     R"({"questions":[{"question":"What style?","options":[{"label":"one"}]}]})"}});
    }
    if (replies == 1) {
      REQUIRE(results_of(request).at("bad").find("must be a list of 2 to 4 options") !=
              std::string::npos);
      return calls({kAskStyleCall});
    }
    return says("told " + results_of(request).at("ask_1"));
  };
  const auto id = desk.world.trigger("thinker");
  desk.world.run_until_idle();
  CHECK(desk.world.questions(id).size() == 1);
  desk.world.answer(id, "haiku");
  desk.world.run_until_idle();
  CHECK(desk.world.session(id).status == SessionStatus::completed);
}

TEST_CASE("an agent that may not ask is offered no ask, told so, and refused if it tries") {
  ModelWorld desk;
  AgentDefinition mute = model_agent("mute");
  mute.async_questions = false;
  mute.sub_agents.clear();
  desk.define(mute);
  desk.model.script = ask_then_say;
  const auto id = desk.world.trigger("mute");
  desk.world.run_until_idle();
  const Json& first = desk.model.requests.at(0);
  CHECK(first["tools"].size() == 1);
  CHECK(first["tools"][0]["name"] == "look");
  CHECK(first["system"].get<std::string>().find("You cannot ask people anything") !=
        std::string::npos);
  CHECK(text_of(desk.world, id) ==
        "told This agent cannot ask people. Work with the payload alone.");
}

TEST_CASE("messages wait until the ask is answered and the model is done, and come in order") {
  ModelWorld desk;
  desk.model.script = [](const Json& request, std::size_t replies) {
    if (replies == 0) return calls({kAskStyleCall});
    if (replies == 1) return says("first " + results_of(request).at("ask_1"));
    const Json& content = request["messages"].back()["content"];
    std::string heard;
    for (const auto& block : content) heard += block["text"].get<std::string>() + "|";
    return says(heard);
  };
  const auto id = desk.world.trigger("thinker");
  desk.world.run_until_idle();
  auto& control = desk.world.process().control;
  control.message(id, R"("one")", kAdmin, desk.world.now());
  control.message(id, R"({"two":2})", kAdmin, desk.world.now());
  desk.world.answer(id, "haiku");
  desk.world.run_until_idle();
  CHECK(text_of(desk.world, id) == R"(one|{"two":2}|)");
  CHECK(desk.model.requests.size() == 3);
}

TEST_CASE("a message that comes while the model works is heard before the session ends") {
  ModelWorld desk;
  std::optional<SessionId> id;
  desk.model.script = [&](const Json& request, std::size_t replies) {
    if (replies == 0) {
      desk.world.process().control.message(*id, R"("wait")", kAdmin, desk.world.now());
      return says("done already");
    }
    return says("heard " + request["messages"].back()["content"][0]["text"].get<std::string>());
  };
  id = desk.world.trigger("thinker");
  desk.world.run_until_idle();
  CHECK(text_of(desk.world, *id) == "heard wait");
}

TEST_CASE("sub-agents run side by side while nothing of the parent runs, and it gets all results") {
  ModelWorld desk;
  desk.model.script = [](const Json& request, std::size_t replies) {
    if (replies == 0) {
      return calls({{"s1", "spawn_agents",
                     R"({"agents":[{"agent":"loner","payload":{"n":1}},{"agent":"loner"}]})"}});
    }
    return says(results_of(request).at("s1"));
  };
  int children = 0;
  desk.sub_agent = [&](const TurnRequest& request) {
    ++children;
    if (request.payload == "{}") return std::string(R"({"error":"no payload"})");
    return R"({"result":{"did":)" + request.payload + "}}";
  };
  const auto id = desk.world.trigger("thinker");
  desk.world.run_until_idle();
  CHECK(children == 2);
  REQUIRE(desk.world.session(id).status == SessionStatus::completed);
  const Json told = Json::parse(text_of(desk.world, id));
  CHECK(told["agents"][0]["result"]["did"]["n"] == 1);
  CHECK(told["agents"][0]["status"] == "completed");
  CHECK(told["agents"][1]["status"] == "failed");
  CHECK(told["agents"][1]["error"] == "no payload");
  CHECK(desk.world.count_events(id, "agents_spawned") == 1);
  CHECK(desk.world.count_events(id, "sub_session_ended") == 2);
}

TEST_CASE("a sub-agent is offered neither asks nor sub-agents, and refused both if it tries") {
  ModelWorld desk;
  Json offered;
  desk.model.script = [&](const Json& request, std::size_t replies) {
    const bool sub = request["system"].get<std::string>().find("sub-agent") != std::string::npos;
    if (!sub) {
      if (replies == 0)
        return calls({{"s1", "spawn_agents", R"({"agents":[{"agent":"helper"}]})"}});
      return says(results_of(request).at("s1"));
    }
    if (replies == 0) {
      offered = request["tools"];
      return calls({kAskStyleCall, {"s2", "spawn_agents", R"({"agents":[{"agent":"loner"}]})"}});
    }
    const auto results = results_of(request);
    return says(results.at("ask_1") + " " + results.at("s2"));
  };
  const auto id = desk.world.trigger("thinker");
  desk.world.run_until_idle();
  CHECK(offered.size() == 1);
  const Json told = Json::parse(text_of(desk.world, id));
  CHECK(told["agents"][0]["result"]["text"] ==
        "ask_user_question is not available to sub-agents. spawn_agents is not available to "
        "sub-agents.");
  CHECK(desk.world.process().views.sessions({}).size() == 2);
}

TEST_CASE("an agent starts only those that it lists") {
  ModelWorld desk;
  desk.model.script = [](const Json& request, std::size_t replies) {
    if (replies == 0) return calls({{"s1", "spawn_agents", R"({"agents":[{"agent":"poet"}]})"}});
    return says(results_of(request).at("s1"));
  };
  const auto id = desk.world.trigger("thinker");
  desk.world.run_until_idle();
  CHECK(text_of(desk.world, id).find("may not name \"poet\"; there are: loner, helper") !=
        std::string::npos);
}

TEST_CASE("a model that may reply later is asked again then, and given up after its attempts") {
  ModelWorld desk;
  int asked = 0;
  desk.model.script = [&](const Json&, std::size_t) {
    return ++asked == 1 ? std::string("HTTP 529") : says("at last");
  };
  const auto id = desk.world.trigger("thinker");
  desk.world.run_until_idle();
  CHECK(asked == 1);
  CHECK(desk.world.session(id).status == SessionStatus::running);
  desk.world.clock.advance(1s);
  desk.world.run_until_idle();
  CHECK(text_of(desk.world, id) == "at last");

  desk.model.script = [&](const Json&, std::size_t) { return std::string("HTTP 503"); };
  const auto lost = desk.world.trigger("thinker");
  for (int i = 0; i < 4; ++i) {
    desk.world.run_until_idle();
    desk.world.clock.advance(10s);
  }
  CHECK(desk.world.session(lost).status == SessionStatus::failed);
  CHECK(desk.world.session(lost).error->find("HTTP 503") != std::string::npos);
  CHECK(desk.world.count_events(lost, "turn_failed") == 3);
}

TEST_CASE(
    "attempts are counted for each step: a long conversation is not given up for old trouble") {
  ModelWorld desk;
  int asked = 0;
  desk.model.script = [&](const Json&, std::size_t replies) {
    if (++asked % 3 != 0) return std::string("HTTP 500");  // Each step takes three attempts.
    if (replies < 5) return calls({{"l" + std::to_string(replies), "look", "{}"}});
    return says("through");
  };
  const auto id = desk.world.trigger("thinker");
  for (int i = 0; i < 20; ++i) {
    desk.world.run_until_idle();
    desk.world.clock.advance(10s);
  }
  CHECK(text_of(desk.world, id) == "through");
}

TEST_CASE(
    "a reply that cannot be used ends the session with the reason, is paid for, and not kept") {
  for (const auto& [stop, why] :
       std::map<std::string, std::string>{{"max_tokens", "cut off at 8192 tokens"},
                                          {"refusal", "refused to go on"},
                                          {"model_context_window_exceeded", "no longer fits"}}) {
    CAPTURE(stop);
    ModelWorld desk;
    desk.model.script = [&, s = stop](const Json&, std::size_t) { return says("half a", s); };
    const auto id = desk.world.trigger("thinker");
    desk.world.run_until_idle();
    CHECK(desk.world.session(id).status == SessionStatus::failed);
    CHECK(desk.world.session(id).error->find(why) != std::string::npos);
    CHECK(desk.world.session(id).spent.output_tokens == 20);
    CHECK(desk.state(id)["messages"].size() == 1);
    desk.model.script = [](const Json&, std::size_t) { return says("whole"); };
    desk.world.process().control.retry(id, kAdmin, desk.world.now());
    desk.world.run_until_idle();
    CHECK(text_of(desk.world, id) == "whole");
  }
}

TEST_CASE("budgets end a session with the key to raise, and a questions' budget refuses asks") {
  const auto run = [](Budget budget, Duration step) {
    ModelWorld desk;
    AgentDefinition agent = model_agent();
    agent.budget = budget;
    desk.define(agent);
    desk.model.script = [&](const Json&, std::size_t replies) {
      desk.world.clock.advance(step);
      return calls({{"l" + std::to_string(replies), "look", "{}"}});
    };
    const auto id = desk.world.trigger("thinker");
    desk.world.run_until_idle();
    CHECK(desk.world.session(id).status == SessionStatus::failed);
    return std::pair(desk.world.session(id).error.value(), desk.world.session(id).spent.steps);
  };
  const auto steps = run({3, {}, {}, {}}, 0ms);
  CHECK(steps.first.find("the budget of 3 model requests is used up; raise budget.steps") == 0);
  CHECK(steps.second == 3);
  CHECK(run({{}, 500, {}, {}}, 0ms).second == 5);
  CHECK(run({{}, {}, 60, {}}, 25s).second == 3);
  CHECK(run({{}, {}, {}, {}}, 0ms).second == 20);  // The settings'.

  ModelWorld desk;
  AgentDefinition agent = model_agent();
  agent.budget.questions = 1;
  desk.define(agent);
  desk.model.script = [](const Json& request, std::size_t replies) {
    if (replies < 2) return calls({kAskStyleCall});
    return says(results_of(request).at("ask_1"));
  };
  const auto id = desk.world.trigger("thinker");
  desk.world.run_until_idle();
  desk.world.answer(id, "haiku");
  desk.world.run_until_idle();
  CHECK(text_of(desk.world, id) == "No more questions may be asked. Go on without.");
}

TEST_CASE("waiting for people costs nothing of the time budget") {
  ModelWorld desk;
  AgentDefinition agent = model_agent();
  agent.budget.seconds = 60;
  agent.question_timeout = std::chrono::hours{5};
  desk.define(agent);
  desk.model.script = ask_then_say;
  const auto id = desk.world.trigger("thinker");
  desk.world.run_until_idle();
  desk.world.clock.advance(4h);
  desk.world.answer(id, "haiku");
  desk.world.run_until_idle();
  CHECK(desk.world.session(id).status == SessionStatus::completed);
}

TEST_CASE("a conversation that outgrows what is kept ends the session with the setting's name") {
  ModelWorld desk;
  desk.model.script = [](const Json&, std::size_t) { return says(std::string(2 << 20, 'x')); };
  const auto id = desk.world.trigger("thinker");
  desk.world.run_until_idle();
  CHECK(desk.world.session(id).status == SessionStatus::failed);
  CHECK(desk.world.session(id).error->find("max_state_bytes") != std::string::npos);
}

TEST_CASE("a turn that has taken its time goes on in another, from where it was") {
  ModelWorld desk;
  desk.model.script = [&](const Json&, std::size_t replies) {
    desk.world.clock.advance(4min);
    if (replies < 2) return calls({{"l" + std::to_string(replies), "look", "{}"}});
    return says("through");
  };
  AgentDefinition agent = model_agent();
  agent.budget.seconds = 3600;
  desk.define(agent);
  const auto id = desk.world.trigger("thinker");
  desk.world.run_until_idle();
  CHECK(text_of(desk.world, id) == "through");
  CHECK(desk.world.count_events(id, "turn_continued") == 1);
  CHECK(desk.model.requests.size() == 3);
}
