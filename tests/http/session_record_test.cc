#include <doctest/doctest.h>

#include "tests/http/site.h"

using namespace holdpoint;
using namespace holdpoint::test;

namespace {

// Sessions of `poet` in every state, and what the record promises of each beside what comes of it.
struct Stage {
  Stage() {
    site.world.runner.reply = [this](const AgentDefinition&, const TurnRequest& request,
                                     const TurnContext&) {
      return reply.empty() ? ask_then_tell(request) : reply;
    };
  }
  SessionId parked() {
    const auto id = site.world.trigger();
    site.world.run_until_idle();
    REQUIRE(site.world.session(id).status == SessionStatus::pending_input);
    return id;
  }
  SessionId failed() {
    reply = R"({"error":"no luck","retry":false})";
    const auto id = site.world.trigger();
    site.world.run_until_idle();
    reply.clear();
    REQUIRE(site.world.session(id).status == SessionStatus::failed);
    return id;
  }
  Json record(const SessionId& id, const std::string& reader) {
    const Response response =
        site.send(get("/agent/session/" + id.text() + "/record").with("Authorization", reader));
    CAPTURE(response.body);
    REQUIRE(response.status == 200);
    return Json::parse(response.body);
  }
  // Whether the call does what it is for; a repeat that changes nothing does not count.
  bool works(const SessionId& id, const std::string& what, const std::string& body,
             const std::string& caller) {
    const auto before = site.world.event_types(id).size();
    const Response response = site.send(
        post("/agent/session/" + id.text() + "/" + what).json(body).with("Authorization", caller));
    return response.status < 300 && site.world.event_types(id).size() > before;
  }
  // What the record of a session made by `make` promises is what comes of the call.
  template <class Make>
  void agrees(Make make, const std::string& caller) {
    const auto keeps = [&](const char* member, const char* what, const char* body) {
      const auto id = make();
      const bool promised = record(id, caller)[member].template get<bool>();
      CAPTURE(what);
      CAPTURE(static_cast<int>(site.world.session(id).status));
      CHECK(works(id, what, body, caller) == promised);
    };
    keeps("may_cancel", "cancel", "{}");
    keeps("may_retry", "retry", "{}");
    keeps("may_message", "message", R"({"message":1})");
  }
  // In every state that a session can be in.
  void agrees_always(const std::string& caller) {
    agrees([&] { return site.world.trigger(); }, caller);
    agrees([&] { return parked(); }, caller);
    agrees([&] { return failed(); }, caller);
    agrees(
        [&] {
          reply = R"({"result":1})";
          const auto id = site.world.trigger();
          site.world.run_until_idle();
          reply.clear();
          REQUIRE(site.world.session(id).status == SessionStatus::completed);
          return id;
        },
        caller);
    agrees(
        [&] {
          const auto id = parked();
          CHECK(site.world.process()
                    .control.cancel(id, "enough", kAdmin, Control::As::owner, site.world.now())
                    .outcome == Control::Outcome::done);
          return id;
        },
        caller);
  }

  Site site;
  std::string reply;  // Empty: asks first, and then tells.
};

}  // namespace

TEST_CASE("a record says of every session what its caller may do, as the calls then show") {
  Stage stage;
  const std::string starter = stage.site.key({"sessions:create", "sessions:read"});
  const std::string answerer = stage.site.key({"questions:answer", "sessions:read"});
  const std::string reader = stage.site.key({"sessions:read"});
  const std::string admin = stage.site.key({"admin"});
  for (const auto& caller : {starter, answerer, reader, admin}) stage.agrees_always(caller);
  // Not all of them are refused everything.
  CHECK(stage.record(stage.parked(), answerer)["may_cancel"] == true);
  CHECK(stage.record(stage.failed(), starter)["may_retry"] == true);
  CHECK(stage.record(stage.parked(), admin)["may_message"] == true);
  CHECK(stage.record(stage.parked(), reader)["may_cancel"] == false);
}

TEST_CASE("an answerer may cancel only within the agent's answerers and allow_cancel") {
  Stage stage;
  const std::string answerer = stage.site.key({"questions:answer", "sessions:read"});
  stage.site.change_poet([](AgentDefinition& agent) { agent.answerers = {"key:ci"}; });
  CHECK(stage.record(stage.parked(), answerer)["may_cancel"] == true);
  stage.agrees_always(answerer);
  stage.site.change_poet([](AgentDefinition& agent) { agent.answerers = {"ana"}; });
  CHECK(stage.record(stage.parked(), answerer)["may_cancel"] == false);
  stage.agrees_always(answerer);
  stage.site.change_poet([](AgentDefinition& agent) {
    agent.answerers = {"key:ci"};
    agent.allow_cancel = false;
  });
  CHECK(stage.record(stage.parked(), answerer)["may_cancel"] == false);
  stage.agrees_always(answerer);
}

TEST_CASE("a failed session of an agent that lives elsewhere is not run again") {
  Stage stage;
  const std::string starter = stage.site.key({"sessions:create", "sessions:read"});
  const auto id = stage.failed();
  stage.site.change_poet([](AgentDefinition& agent) { agent.runner = RunnerKind::external; });
  CHECK(stage.record(id, starter)["may_retry"] == false);
  CHECK_FALSE(stage.works(id, "retry", "{}", starter));
}

TEST_CASE("an open server lets everybody do what can be done") {
  Stage stage;
  stage.site.change_poet([](AgentDefinition& agent) { agent.answerers = {"ana"}; });
  const Json record = stage.record(stage.parked(), "");
  CHECK(record["may_cancel"] == true);
  CHECK(record["may_retry"] == false);
  CHECK(record["may_message"] == true);
}
