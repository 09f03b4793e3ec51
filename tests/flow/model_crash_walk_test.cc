#include <set>

#include "tests/flow/crash_walk.h"
#include "tests/support/scripted_model.h"

using namespace holdpoint;
using namespace holdpoint::test;

namespace {

// Looks, asks, looks again and starts two sub-agents in one reply, and tells all of it.
std::string plan(const Json& request, std::size_t replies) {
  if (request["system"].get<std::string>().find("sub-agent") != std::string::npos) {
    if (replies == 0) return calls({{"in", "look", R"({"from":"helper"})"}});
    return says("helped: " + results_of(request).at("in"));
  }
  if (replies == 0) {
    return calls({{"l1", "look", R"({"n":1})"},
                  kAskStyleCall,
                  {"l2", "look", R"({"n":2})"},
                  {"s1", "spawn_agents", R"({"agents":[{"agent":"helper"},{"agent":"loner"}]})"}});
  }
  const auto results = results_of(request);
  std::string all;
  for (const char* id : {"l1", "ask_1", "l2", "s1"}) all += results.at(id) + "\n";
  return says(all);
}

// Upstream, the person, and the tool, who remember what a crash must not undo.
struct Client {
  explicit Client(World& given) : desk(std::make_unique<ModelWorld>(&given)) {
    desk->model.script = plan;
    desk->model.others = [this](const HttpRequest& request) {
      if (request.url != "https://tool.example/look") return HttpResponse{200, "", "", {}};
      const std::string key = request.headers.at("Idempotency-Key");
      REQUIRE_FALSE(finished.count(key));
      ++runs[key];
      return HttpResponse{200, "", "saw " + request.body, {}};
    };
  }

  // The calls whose results are on disk, by the key that their tools see.
  void look_what_is_finished() {
    World& world = desk->world;
    for (const auto& each : world.process().views.sessions({})) {
      std::int64_t steps = 0;
      const auto events = world.process().views.events(each.id, 0, 500);
      for (const auto& event : events.value()) {
        if (event.type == "model_replied") ++steps;
        if (event.type != "tool_ran") continue;
        finished.insert(each.id.text() + ":" + std::to_string(steps) + ":" +
                        Json::parse(event.data)["tool_call_id"].get<std::string>());
      }
    }
  }

  void act() {
    World& world = desk->world;
    look_what_is_finished();
    if (!session) session = world.trigger("thinker", "{}", "walk");
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

  std::unique_ptr<ModelWorld> desk;  // Stays where it is: the world calls into it.
  std::optional<SessionId> session;
  bool answered = false;
  std::map<std::string, int> runs;
  std::set<std::string> finished;
};

void check_story(World& world, const SessionId& id) {
  const auto sessions = world.process().views.sessions({});
  REQUIRE(sessions.size() == 3);
  for (const auto& session : sessions) REQUIRE(session.status == SessionStatus::completed);
  const std::string text = Json::parse(world.session(id).result.value())["text"];
  REQUIRE(text.find(R"(saw {"n":1})") == 0);
  REQUIRE(text.find(R"({"answered":true,"answers":{"What style?":"haiku"}})") != std::string::npos);
  REQUIRE(text.find(R"(saw {"n":2})") != std::string::npos);
  REQUIRE(text.find(R"(helped: saw)") != std::string::npos);
  REQUIRE(text.find(R"("did":{})") != std::string::npos);
  REQUIRE(world.questions(id).size() == 1);
  REQUIRE(world.session(id).spent.steps == 2);
  for (const char* once : {"session_started", "question_asked", "question_answered",
                           "agents_spawned", "session_completed"}) {
    CAPTURE(once);
    REQUIRE(world.count_events(id, once) == 1);
  }
  REQUIRE(world.count_events(id, "model_replied") == 2);
  REQUIRE(world.count_events(id, "tool_ran") == 2);
  REQUIRE(world.count_events(id, "sub_session_ended") == 2);
}

std::int64_t walk_all(bool with_seats) {
  return walk([](World& world) { return std::make_unique<Client>(world); },
              [](std::unique_ptr<Client>& client) { client->act(); }, check_story, with_seats);
}

}  // namespace

TEST_CASE(
    "the store dies at every point of a model's session with tools, an ask and sub-agents: no "
    "finished tool runs again, and all is told") {
  const auto points = walk_all(false);
  MESSAGE("points walked: " << points);
  CHECK(points > 150);
}

TEST_CASE("the same where turns are claimed as they become due") {
  const auto points = walk_all(true);
  MESSAGE("points walked: " << points);
  CHECK(points > 120);
}
