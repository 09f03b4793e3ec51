#pragma once

#include <doctest/doctest.h>

#include "agents/llm/toolbox.h"
#include "tests/agents/command.h"
#include "tests/support/world.h"

namespace holdpoint::test {

// An agent with tools in a folder of its own, and all that its turn has around it.
class ToolAgent {
 public:
  explicit ToolAgent(const std::string& lines) {
    agent = parse_definition(dir.path() / "agent.md",
                             "---\nrunner: llm\nmodel: m\n" + lines + "\n---\nprompt\n", 1h);
    context.timeout = 30s;
    context.cancelled = [this] { return stopped && stopped(); };
    context.on_output = [this](std::vector<std::string> some) {
      lines_.insert(lines_.end(), some.begin(), some.end());
    };
  }

  ToolResult run(const std::string& tool, const std::string& input) {
    const auto result = toolbox.run(agent, {"call_1", tool, input}, "s-1:4:call_1", context);
    REQUIRE(result);
    CHECK(result->id == "call_1");
    return *result;
  }
  // What the result of a call that must be an error says.
  std::string error_of(const std::string& tool, const std::string& input) {
    const ToolResult result = run(tool, input);
    CHECK(result.is_error);
    return result.content;
  }
  // The same of one that must be none.
  std::string content_of(const std::string& tool, const std::string& input) {
    const ToolResult result = run(tool, input);
    CHECK_FALSE(result.is_error);
    return result.content;
  }

  const std::vector<std::string>& output() const { return lines_; }

  TempDir dir;
  AgentDefinition agent;
  TurnContext context;
  std::function<bool()> stopped;
  FakeHttp http;
  Toolbox toolbox{http};

 private:
  std::vector<std::string> lines_;
};

}  // namespace holdpoint::test
