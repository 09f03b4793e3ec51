#include "agents/model_definition.h"

#include <doctest/doctest.h>
#include <stdlib.h>

#include <fstream>

#include "tests/support/temp_dir.h"

namespace holdpoint {
namespace {

using namespace std::chrono_literals;

constexpr auto kMaxTimeout = 3600s;

// A model agent with these lines in its front matter; they begin in line 4.
std::string llm(const std::string& lines) {
  return "---\nrunner: llm\nmodel: sonnet\n" + lines + "\n---\nYou sort issues.\n";
}
AgentDefinition parse(const std::string& text) {
  return parse_definition("/agents/triage.md", text, kMaxTimeout);
}
// What is wrong, without the file's name; empty if nothing is.
std::string complaint_about(const std::string& text) {
  try {
    parse(text);
  } catch (const DefinitionError& e) {
    const std::string what = e.what();
    CHECK(what.starts_with("/agents/triage.md:"));
    return what.substr(18);
  }
  return "";
}
std::string tool(const std::string& lines) {
  return llm("tools:\n  - name: get\n    description: Gets it.\n" + lines);
}
std::string server(const std::string& lines) {
  return llm("mcp_servers:\n  - name: hub\n" + lines);
}

TEST_CASE("a model agent is read whole") {
  setenv("HOLDPOINT_TEST_TOOL_TOKEN", "Bearer secret", 1);
  const AgentDefinition agent = parse(llm(R"(description: Sorts issues.
async_questions: true
max_reply_tokens: 4096
budget: {steps: 30, tokens: 200000, seconds: 1800, questions: 10}
sub_agents: [researcher, poet]
tools:
  - name: get_issue
    description: Reads an issue.
    input: {type: object, properties: {number: {type: integer}}, required: [number]}
    http: {method: PUT, url: "https://api.example.com/issues/{number}?full={number}", headers: {Authorization: "env:HOLDPOINT_TEST_TOOL_TOKEN"}}
    timeout: 30
  - name: count
    description: Counts.
    command: [./count.sh, --all]
mcp_servers:
  - {name: hub, url: "https://example.com/mcp", headers: {X-Key: plain}, tools: [search, read], timeout: 5}
  - {name: other, url: "http://127.0.0.1:9/mcp"})"));
  unsetenv("HOLDPOINT_TEST_TOOL_TOKEN");
  CHECK(agent.runner == RunnerKind::llm);
  CHECK(agent.model == "sonnet");
  CHECK(agent.description == "Sorts issues.");
  CHECK(agent.prompt == "You sort issues.\n");
  CHECK(agent.max_reply_tokens == 4096);
  CHECK(agent.budget.steps == 30);
  CHECK(agent.budget.tokens == 200000);
  CHECK(agent.budget.seconds == 1800);
  CHECK(agent.budget.questions == 10);
  CHECK(agent.sub_agents == std::vector<std::string>{"researcher", "poet"});
  REQUIRE(agent.tools.size() == 2);
  CHECK(agent.tools[0].spec.name == "get_issue");
  CHECK(agent.tools[0].spec.description == "Reads an issue.");
  CHECK(agent.tools[0].spec.schema ==
        R"({"type":"object","properties":{"number":{"type":"integer"}},"required":["number"]})");
  CHECK(agent.tools[0].timeout == 30s);
  const auto& http = std::get<HttpTool>(agent.tools[0].how);
  CHECK(http.method == "PUT");
  CHECK(http.url == "https://api.example.com/issues/{number}?full={number}");
  CHECK(http.headers.at("Authorization").reveal() == "Bearer secret");
  CHECK(agent.tools[1].spec.schema == R"({"type":"object"})");
  CHECK(agent.tools[1].timeout == 60s);
  CHECK(std::get<CommandTool>(agent.tools[1].how).command ==
        std::vector<std::string>{"./count.sh", "--all"});
  REQUIRE(agent.mcp_servers.size() == 2);
  CHECK(agent.mcp_servers[0].name == "hub");
  CHECK(agent.mcp_servers[0].url == "https://example.com/mcp");
  CHECK(agent.mcp_servers[0].headers.at("X-Key").reveal() == "plain");
  CHECK(agent.mcp_servers[0].tools == std::vector<std::string>{"search", "read"});
  CHECK(agent.mcp_servers[0].timeout == 5s);
  CHECK(agent.mcp_servers[1].tools.empty());
}

TEST_CASE("a model agent needs a model and a prompt, and nothing else") {
  const AgentDefinition agent = parse("---\nrunner: llm\nmodel: a/b\n---\nHi\n");
  CHECK(agent.model == "a/b");
  CHECK_FALSE(agent.async_questions);
  CHECK_FALSE(agent.max_reply_tokens);
  CHECK_FALSE(agent.budget.steps);
  CHECK(agent.tools.empty());
  CHECK(complaint_about("---\nrunner: llm\n---\nHi\n").starts_with("2: runner: llm needs a model"));
  CHECK(complaint_about("---\nrunner: llm\nmodel: a\n---\n \n")
            .starts_with("2: runner: llm needs a prompt"));
  CHECK(complaint_about("---\nrunner: llm\nmodel: a\n---")
            .starts_with("2: runner: llm needs a prompt"));
}

TEST_CASE("a model is told of a timeout unless its agent says otherwise; other agents are not") {
  CHECK(parse(llm("")).on_timeout == OnTimeout::carry_on);
  CHECK(parse(llm("on_timeout: fail")).on_timeout == OnTimeout::fail);
  CHECK_FALSE(parse("---\nrunner: external\n---\n").on_timeout);
}

TEST_CASE("what is wrong in a model agent is told with its line") {
  const std::string http = "    http: {url: \"http://h/\"}";
  for (const auto& [text, complaint] : std::vector<std::pair<std::string, std::string>>{
           {llm("url: http://h/"), "4: url goes with runner: http only"},
           {llm("description: |\n  two\n  lines"), "4: description must be one line"},
           {llm("max_reply_tokens: 0"), "4: max_reply_tokens must be 1 to"},
           {llm("max_reply_tokens: many"), "4: max_reply_tokens must be a whole number"},
           {llm("budget: 5"), "4: budget must be keys and values"},
           {llm("budget:\n  steps: 3\n  tokens: 0"), "6: budget.tokens must be 1 to"},
           {llm("budget:\n  steps:"), "5: budget.steps must be a whole number"},
           {llm("budget:\n  dollars: 3"), "5: unknown key \"budget.dollars\""},
           {llm("budget:\n  steps: 3\n  steps: 4"), "6: the key \"budget.steps\" is there twice"},
           {llm("sub_agents: [triage]"), "4: sub_agents must not name the agent itself"},
           {llm("sub_agents: [a, a]"), "4: sub_agents names \"a\" twice"},
           {llm("sub_agents: a"), "4: sub_agents must be a list"},
           {llm("tools: get"), "4: tools must be a list"},
           {llm("tools:\n  - get"), "5: tools[0] must be keys and values"},
           {llm("tools:\n  - description: x"), "5: tools[0].name is missing"},
           {llm("tools:\n  - name: a b"), "5: tools[0].name has 1 to 64"},
           {llm("tools:\n  - name: " + std::string(65, 'x')), "5: tools[0].name has 1 to 64"},
           {llm("tools:\n  - name: a__b"), "5: tools[0].name must not have __"},
           {llm("tools:\n  - name: ask_user_question"), "ask_user_question is a tool of ours"},
           {llm("tools:\n  - name: spawn_agents"), "5: tools[0].name: spawn_agents is a tool of"},
           {llm("tools:\n  - name: a\n" + http), "5: tools[0].description is missing"},
           {tool(""), "5: tools[0] needs either http: {method, url} or command"},
           {tool(http + "\n    command: [x]"), "5: tools[0] needs either"},
           {tool("    command: []"), "7: tools[0].command must be [program, argument"},
           {tool("    command: run me"), "7: tools[0].command must be a list"},
           {tool(http + "\n    colour: red"), "8: unknown key \"tools[0].colour\""},
           {tool(http + "\n    timeout: 0"), "8: tools[0].timeout must be 1 to 600"},
           {tool(http + "\n    timeout: 601"), "8: tools[0].timeout must be 1 to 600"},
           {tool(http + "\n    input: [1]"), "8: tools[0].input must be a JSON Schema with type"},
           {tool(http + "\n    input: {type: string}"), "8: tools[0].input must be a JSON Schema"},
           {tool(http + "\n    input: {}"), "8: tools[0].input must be a JSON Schema"},
           {tool(http + "\n    input: {type: object, properties: 5}"), "input.properties must be"},
           {tool(http + "\n    input: {type: object, required: [5]}"), "input.required must be a"},
           {tool(http + "\n    input: {type: object, properties: {a: {}}, required: [b]}"),
            "8: tools[0].input.required names \"b\""},
           {tool(http + "\n    input:\n      type: object\n      type: object"),
            "10: tools[0].input has \"type\" twice"},
           {tool(http + "\n    input:\n      type: object\n      [a]: b"),
            "10: tools[0].input has a key that is no text"},
           {tool(http + "\n    input: {type: object, maximum: 1e999}"), "8: tools[0].input is not"},
           {tool("    http: {url: ftp://h/}"), "7: tools[0].http.url must be an http"},
           {tool("    http: {method: GET}"), "7: tools[0].http.url is missing"},
           {tool("    http: {url: \"http://h/\", method: HEAD}"), "7: tools[0].http.method must"},
           {tool("    http: {url: \"http://h/\", body: x}"), "7: unknown key \"tools[0].http.body"},
           {tool("    http: {url: \"http://h/{a\"}"), "7: tools[0].http.url has a { or }"},
           {tool("    http: {url: \"http://h/a}\"}"), "7: tools[0].http.url has a { or }"},
           {tool("    http: {url: \"http://h/{}\"}"), "7: tools[0].http.url has a { or }"},
           {tool("    http: {url: \"http://h/{a}\"}"), "7: tools[0].http.url has {a}, and that is"},
           {tool(
                "    http: {url: \"http://{a}/\"}\n    input: {type: object, properties: {a: {}}}"),
            "7: tools[0].http.url may have placeholders in its path and query only"},
           {tool("    http: {url: \"{a}://h/\"}\n    input: {type: object, properties: {a: {}}}"),
            "7: tools[0].http.url may have placeholders in its path and query only"},
           {tool("    http: {url: \"http://h/#{a}\"}\n    input: {type: object, properties: {a: "
                 "{}}}"),
            "7: tools[0].http.url may have placeholders in its path and query only"},
           {tool("    http:\n      url: http://h/\n      headers:\n        a b: c"),
            "10: tools[0].http.headers: a header's name"},
           {tool("    http:\n      url: http://h/\n      headers:\n        a: \"b\\nc\""),
            "10: tools[0].http.headers.a: must be a text of one line"},
           {tool("    http:\n      url: http://h/\n      headers:\n        a: b\n        A: c"),
            "11: tools[0].http.headers: the header A is there twice"},
           {tool("    http:\n      url: http://h/\n      headers:\n        a: [b]"),
            "10: tools[0].http.headers.a must be a text"},
           {tool("    http:\n      url: http://h/\n      headers:\n        a: "
                 "env:HOLDPOINT_NO_SUCH"),
            "10: tools[0].http.headers.a: the environment has no HOLDPOINT_NO_SUCH"},
           {tool("    http:\n      url: http://h/\n      headers: {idempotency-key: a}"),
            "9: tools[0].http.headers: the header idempotency-key is set by us"},
           {tool(http + "\n  - name: get\n    description: Again.\n" + http),
            "8: tools has two of the name get"},
           {llm("mcp_servers:\n  - url: http://h/"), "5: mcp_servers[0].name is missing"},
           {llm("mcp_servers:\n  - name: a__b"), "5: mcp_servers[0].name has 1 to 32"},
           {llm("mcp_servers:\n  - name: a_"), "5: mcp_servers[0].name has 1 to 32"},
           {server(""), "5: mcp_servers[0].url is missing"},
           {server("    url: stdio"), "6: mcp_servers[0].url must be an http"},
           {server("    url: http://h/\n    tools: []"), "7: mcp_servers[0].tools is empty"},
           {server("    url: http://h/\n    transport: sse"), "7: unknown key \"mcp_servers[0].tr"},
           {server("    url: http://h/\n  - {name: hub, url: http://i/}"),
            "7: mcp_servers has two of the name hub"}}) {
    CAPTURE(text);
    const std::string got = complaint_about(text);
    CAPTURE(got);
    CHECK(got.find(complaint) != std::string::npos);
  }
}

TEST_CASE("what belongs to model agents is refused for all others") {
  for (const std::string key :
       {"model: a", "max_reply_tokens: 5", "budget: {steps: 1}", "tools: []", "mcp_servers: []"}) {
    const std::string name = key.substr(0, key.find(':'));
    CHECK(complaint_about("---\nrunner: command\ncommand: [x]\n" + key + "\n---\n") ==
          "4: " + name + " goes with runner: llm only");
  }
}

TEST_CASE("a complaint about a header does not tell its value") {
  CHECK(complaint_about(tool("    http: {url: \"http://h/\", headers: {a: \"hunter2\\n\"}}"))
            .find("hunter2") == std::string::npos);
}

TEST_CASE("a schema keeps the order and the kinds of its values") {
  const auto schema = [](const std::string& extra) {
    const auto agent =
        parse(tool("    command: [x]\n    input:\n      type: object\n      x:\n" + extra));
    return agent.tools.at(0).spec.schema;
  };
  CHECK(
      schema("        - 1\n        - '1'\n        - -2.5e3\n        - true\n        - 'true'\n"
             "        - null\n        - ~\n        -\n        - \"\"\n        - 01\n        - .5\n"
             "        - yes\n        - !!str 7\n        - 0x1f\n        - a \"b\"\n") ==
      R"({"type":"object","x":[1,"1",-2.5e3,true,"true",null,null,null,"","01",".5","yes","7",)"
      R"("0x1f","a \"b\""]})");
  CHECK(schema("        {z: 1, a: {}, m: []}") == R"({"type":"object","x":{"z":1,"a":{},"m":[]}})");
}

TEST_CASE("aliases that would grow without end are refused") {
  std::string lines = "    input:\n      type: object\n      a0: &a0 [x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 12; ++i) {
    const std::string before = "*a" + std::to_string(i - 1);
    lines += "      a" + std::to_string(i) + ": &a" + std::to_string(i) + " [" + before;
    for (int k = 0; k < 7; ++k) lines += ", " + before;
    lines += "]\n";
  }
  CHECK(complaint_about(tool("    command: [x]\n" + lines)).find("has more than 65536 bytes") !=
        std::string::npos);
  std::string deep = "    input: {type: object, x: ";
  deep += std::string(70, '[') + std::string(70, ']') + "}";
  CHECK(complaint_about(tool("    command: [x]\n" + deep))
            .find("8: tools[0].input is nested too deeply") == 0);
}

TEST_CASE("whom an agent may start is checked when all are known") {
  const test::TempDir dir;
  const auto write = [&](const std::string& name, const std::string& front) {
    std::ofstream(dir.path() / (name + ".md")) << "---\n" << front << "\n---\nprompt\n";
  };
  const auto complaint = [&] {
    try {
      load_definitions(dir.path(), kMaxTimeout);
    } catch (const DefinitionError& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  write("boss", "runner: command\ncommand: [x]\nsub_agents: [worker]");
  CHECK(complaint() == (dir.path() / "boss.md").string() +
                           ": sub_agents names \"worker\", and there is no worker.md");
  write("worker", "runner: external");
  CHECK(complaint().find("boss.md: sub_agents names \"worker\", which is external") !=
        std::string::npos);
  // What cannot be read is told once.
  write("worker", "runner: magic");
  CHECK(complaint().find("sub_agents") == std::string::npos);
  CHECK(complaint().find("worker.md:2: runner must be") != std::string::npos);
  write("worker", "runner: llm\nmodel: a");
  CHECK(complaint() == "");
  CHECK(load_definitions(dir.path(), kMaxTimeout).at("boss").sub_agents ==
        std::vector<std::string>{"worker"});
  write("worker", "runner: external\nsub_agents: [boss]");
  CHECK(complaint().find("worker.md:3: sub_agents goes with runner: http, command or llm") !=
        std::string::npos);
}

}  // namespace
}  // namespace holdpoint
