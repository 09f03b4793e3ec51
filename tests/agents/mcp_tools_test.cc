#include "tests/agents/toolbox.h"

namespace holdpoint {
namespace {

using namespace std::chrono_literals;
using test::ToolAgent;

// An agent with servers that have tools of these names, and say which was called with what.
class Agent : public ToolAgent {
 public:
  explicit Agent(const std::string& lines, std::vector<std::string> names = {"search", "read.file"})
      : ToolAgent(lines), names_(std::move(names)) {
    http.respond = [this](const HttpRequest& request) { return respond(request); };
  }
  std::vector<std::string> offered_names() {
    std::vector<std::string> found;
    for (const auto& spec : toolbox.offered(agent, context)) found.push_back(spec.name);
    return found;
  }
  std::string offer_failure() {
    try {
      toolbox.offered(agent, context);
    } catch (const TurnFailed& e) {
      return (e.retryable() ? "again: " : "never: ") + std::string(e.what());
    }
    return "";
  }
  std::int64_t count(const std::string& method) {
    std::int64_t found = 0;
    for (const auto& request : http.seen()) found += Json::parse(request.body)["method"] == method;
    return found;
  }
  bool down = false;

 private:
  HttpResponse respond(const HttpRequest& request) {
    if (down) return {0, "connection refused", "", std::nullopt};
    const Json message = Json::parse(request.body);
    if (!message.contains("id")) return {202, "", "", std::nullopt};
    Json result{{"protocolVersion", "2025-06-18"}};
    if (message["method"] == "tools/list") {
      result = {{"tools", Json::array()}};
      for (const auto& name : names_) {
        result["tools"].push_back({{"name", name}, {"inputSchema", {{"type", "object"}}}});
      }
    } else if (message["method"] == "tools/call") {
      const std::string text = request.url + " " + message["params"]["name"].get<std::string>() +
                               " " + message["params"]["arguments"].dump();
      result = {{"content", {{{"type", "text"}, {"text", text}}}}};
    }
    return {200, "", Json{{"id", message["id"]}, {"result", result}}.dump(), std::nullopt};
  }
  std::vector<std::string> names_;
};

const std::string kHub = "mcp_servers: [{name: hub, url: \"http://hub/\"}]";

TEST_CASE("the tools of servers are offered under the server's name beside the agent's own") {
  Agent agent(
      "tools: [{name: own, description: Mine., command: [x]}]\nmcp_servers:\n"
      "  - {name: hub, url: \"http://hub/\"}\n  - {name: lab, url: \"http://lab/\", tools: "
      "[search]}");
  CHECK(agent.offered_names() ==
        std::vector<std::string>{"own", "hub__search", "hub__read_file", "lab__search"});
  CHECK(agent.content_of("hub__read_file", R"({"a":1})") == R"(http://hub/ read.file {"a":1})");
  CHECK(agent.content_of("lab__search", "") == "http://lab/ search {}");
  CHECK(agent.count("tools/list") == 2);
}

TEST_CASE("a tool that the agent does not list, or the server does not have, is not run") {
  Agent agent("mcp_servers: [{name: lab, url: \"http://lab/\", tools: [search]}]");
  for (const std::string name :
       {"lab__read_file", "lab__other", "lab__", "hub__search", "search"}) {
    CHECK_FALSE(agent.toolbox.run(agent.agent, {"c", name, "{}"}, "k", agent.context));
  }
  CHECK(agent.count("tools/call") == 0);
}

TEST_CASE("a name in the agent's list that the server does not have is told with those it has") {
  Agent agent("mcp_servers: [{name: lab, url: \"http://lab/\", tools: [search, dig]}]");
  CHECK(agent.offer_failure() ==
        "never: mcp_servers: lab has no tool \"dig\"; it has: search, read.file");
  CHECK(agent.error_of("lab__search", "{}").find("has no tool \"dig\"") != std::string::npos);
  Agent none("mcp_servers: [{name: lab, url: \"http://lab/\", tools: [dig]}]", {});
  CHECK(none.offer_failure() == "never: mcp_servers: lab has no tool \"dig\"; it has: none");
}

TEST_CASE("names are made to fit, and of two that would be the same the first is offered") {
  const std::string server(32, 's');
  const std::string cut = server + "__" + std::string(30, 'x');
  Agent agent("mcp_servers: [{name: " + server + ", url: \"http://hub/\"}]",
              {std::string(40, 'x'), std::string(31, 'x'), "a/b", "a.b", "é"});
  CHECK(agent.offered_names() == std::vector<std::string>{cut, server + "__a_b", server + "____"});
  CHECK(agent.content_of(cut, "{}") == "http://hub/ " + std::string(40, 'x') + " {}");
  CHECK(agent.content_of(server + "__a_b", "{}") == "http://hub/ a/b {}");
}

TEST_CASE("a server that does not answer fails the turn for now; a call to it is an error") {
  Agent agent(kHub);
  agent.down = true;
  CHECK(agent.offer_failure() ==
        "again: the MCP server at http://hub/ did not list its tools: connection refused");
  CHECK(agent.error_of("hub__search", "{}").find("connection refused") != std::string::npos);
  agent.down = false;
  CHECK(agent.offered_names().size() == 2);
  agent.down = true;
  CHECK(agent.error_of("hub__search", "{}") == "the MCP server did not do it: connection refused");
}

TEST_CASE("after a restart a call is run without its tools having been offered") {
  Agent agent(kHub);
  CHECK(agent.content_of("hub__search", R"({"q":"x"})") == R"(http://hub/ search {"q":"x"})");
}

TEST_CASE("an input that is no object does not go to the server") {
  Agent agent(kHub);
  CHECK(agent.error_of("hub__search", "[1]") == "the input must be a JSON object");
  CHECK(agent.error_of("hub__search", "{").starts_with("the input is not valid JSON"));
  CHECK(agent.count("tools/call") == 0);
}

TEST_CASE("agents with other headers do not share a session") {
  Agent agent(kHub);
  agent.offered_names();
  CHECK(agent.count("initialize") == 1);
  AgentDefinition other = agent.agent;
  other.mcp_servers[0].headers.emplace("Authorization", Secret("b"));
  agent.toolbox.offered(other, agent.context);
  CHECK(agent.count("initialize") == 2);
  agent.toolbox.offered(other, agent.context);
  CHECK(agent.count("initialize") == 2);
}

}  // namespace
}  // namespace holdpoint
