#include <doctest/doctest.h>

#include "tests/http/site.h"

using namespace holdpoint;
using namespace holdpoint::test;

namespace {

Json poet(Site& site, const std::string& authorization = "") {
  Call call = get("/agent/agents");
  if (!authorization.empty()) call.with("Authorization", authorization);
  const Response response = site.send(call);
  CAPTURE(response.body);
  REQUIRE(response.status == 200);
  const Json body = Json::parse(response.body);
  for (const auto& agent : body["agents"]) {
    if (agent["name"] == "poet") return agent;
  }
  FAIL("poet is not listed");
  return {};
}

// What the answer of the open caller, who gives this name or none, comes to.
int answers(Site& site, const std::string& by) {
  site.world.runner.reply = [](const AgentDefinition&, const TurnRequest& request,
                               const TurnContext&) { return ask_then_tell(request); };
  const auto session = site.world.trigger();
  site.world.run_until_idle();
  const std::string name = by.empty() ? "" : R"(,"answered_by":")" + by + "\"";
  return site
      .send(post("/agent/answer/" + session.text()).json(R"({"answer":"haiku")" + name + "}"))
      .status;
}

}  // namespace

TEST_CASE("the agents are listed by name, with what an ask of theirs would be") {
  Site site;
  const Response response = site.send(get("/agent/agents"));
  const Json agents = Json::parse(response.body)["agents"];
  std::vector<std::string> names;
  for (const auto& agent : agents) names.push_back(agent["name"]);
  // Three are there without a file.
  REQUIRE(names ==
          std::vector<std::string>{"external", "humanlayer", "loner", "mcp", "pager", "poet"});
  CHECK(agents[0]["about"] != "");
  CHECK(agents[2]["callback"] == false);
  CHECK(agents[4]["runner"] == "external");
  CHECK(agents[4]["may_start"] == false);
  CHECK(agents[5]["callback"] == true);
  CHECK(agents[5]["question_timeout"] == 3600);
  CHECK(agents[5]["on_timeout"] == "fail");
  CHECK(response.body.find("receiver.example") == std::string::npos);
}

TEST_CASE("an agent's own timeout and policy stand in for the settings'") {
  Site site;
  site.change_poet([](AgentDefinition& agent) {
    agent.question_timeout = 90s;
    agent.on_timeout = OnTimeout::carry_on;
    agent.allow_cancel = false;
  });
  CHECK(poet(site)["question_timeout"] == 90);
  CHECK(poet(site)["on_timeout"] == "continue");
  CHECK(poet(site)["allow_cancel"] == false);
}

TEST_CASE("what is told about an agent is the first paragraph of its file's text") {
  Site site;
  CHECK(poet(site)["about"] == "");
  site.change_poet(
      [](AgentDefinition& agent) { agent.prompt = "\n Writes poems\nthat rhyme. \n\nMore.\n"; });
  CHECK(poet(site)["about"] == "Writes poems\nthat rhyme.");
}

TEST_CASE("a description stands before the text, and a model agent's prompt is never told") {
  Site site;
  site.change_poet([](AgentDefinition& agent) {
    agent.prompt = "You are a poet. The magic word is xyzzy.";
    agent.runner = RunnerKind::llm;
  });
  CHECK(poet(site)["about"] == "");
  CHECK(site.send(get("/agent/agents")).body.find("xyzzy") == std::string::npos);
  site.change_poet([](AgentDefinition& agent) { agent.description = "Writes poems."; });
  CHECK(poet(site)["about"] == "Writes poems.");
  site.change_poet([](AgentDefinition& agent) { agent.runner = RunnerKind::command; });
  CHECK(poet(site)["about"] == "Writes poems.");
}

TEST_CASE("a model agent shows its model and what it may use by name, and nothing secret of them") {
  Site site;
  CHECK(poet(site)["model"] == nullptr);
  CHECK(poet(site)["tools"] == Json::array());
  CHECK(poet(site)["mcp_servers"] == Json::array());
  CHECK(poet(site)["sub_agents"] == Json::array());
  site.change_poet([](AgentDefinition& agent) {
    agent.runner = RunnerKind::llm;
    agent.model = "sonnet";
    const HttpTool http{"GET", "https://api.example/xyzzy/{n}", {{"X-Key", Secret("xyzzy")}}};
    agent.tools = {{{"get_rhymes", "xyzzy", R"({"title":"xyzzy"})"}, http},
                   {{"count", "xyzzy", "{}"}, CommandTool{{"./xyzzy.sh"}}}};
    McpServer library;
    library.name = "library";
    library.url = "https://mcp.example/xyzzy";
    library.headers = {{"X-Key", Secret("xyzzy")}};
    agent.mcp_servers = {library};
    agent.sub_agents = {"critic"};
  });
  const Json shown = poet(site);
  CHECK(shown["runner"] == "llm");
  CHECK(shown["model"] == "sonnet");
  CHECK(shown["tools"] == Json({"get_rhymes", "count"}));
  CHECK(shown["mcp_servers"] == Json::array({"library"}));
  CHECK(shown["sub_agents"] == Json::array({"critic"}));
  CHECK(shown["may_start"] == true);
  CHECK(shown.dump().find("xyzzy") == std::string::npos);
}

TEST_CASE("nobody is named on an open server, and who may answer is who would be let") {
  Site site;
  CHECK(poet(site)["may_answer"] == true);
  CHECK(poet(site)["named"] == false);
  CHECK(answers(site, "") == 200);
  site.change_poet([](AgentDefinition& agent) { agent.answerers = {"ana"}; });
  CHECK(poet(site)["may_answer"] == false);
  CHECK(poet(site)["named"] == false);
  CHECK(answers(site, "") == 403);
  CHECK(answers(site, "ana") == 200);  // Where all are trusted, so is the name they give.
}

TEST_CASE("a caller is told whether the answerers name them, and whether they may answer") {
  Site site;
  const std::string key = site.key({"questions:answer", "questions:read"});
  const std::string looker = site.key({"questions:read"});
  CHECK(poet(site, key)["may_answer"] == true);
  CHECK(poet(site, key)["named"] == false);
  CHECK(poet(site, looker)["may_answer"] == false);
  site.change_poet([](AgentDefinition& agent) { agent.answerers = {"ana", "key:ci"}; });
  CHECK(poet(site, key)["may_answer"] == true);
  CHECK(poet(site, key)["named"] == true);
  CHECK(poet(site, looker)["named"] == true);  // The key is called the same, but may not answer.
  CHECK(poet(site, looker)["may_answer"] == false);
  site.change_poet([](AgentDefinition& agent) { agent.answerers = {"ana"}; });
  CHECK(poet(site, key)["may_answer"] == false);
  CHECK(poet(site, key)["named"] == false);
}

TEST_CASE("an agent that wants its webhooks signed is started by those with a credential alone") {
  Site site;
  const auto signed_ones = [](AgentDefinition& agent) {
    agent.webhook_verify = WebhookScheme::bearer;
  };
  CHECK(poet(site)["may_start"] == true);
  site.change_poet(signed_ones);
  CHECK(poet(site)["may_start"] == false);
  CHECK(poet(site)["webhook_verify"] == "bearer");
  CHECK(site.send(post("/agent/webhook/poet").json("{}")).status == 401);
  const std::string key = site.key({"webhook:poet", "sessions:read"});
  CHECK(poet(site, key)["may_start"] == true);
  CHECK(site.send(post("/agent/webhook/poet").json("{}").with("Authorization", key)).status == 202);
}
