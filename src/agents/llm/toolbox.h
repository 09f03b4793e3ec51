#pragma once

#include <optional>
#include <string>
#include <vector>

#include "agents/definition.h"
#include "agents/llm/tool.h"
#include "agents/runner.h"
#include "net/http_client.h"

namespace holdpoint {

// The tools that agents bring along: http and command of their front matter, and those of their MCP
// servers. Safe to share between threads.
class Toolbox {
 public:
  explicit Toolbox(HttpClient& client);
  ~Toolbox();

  // What the agent's model is told of. Throws TurnFailed, to be tried again, if an MCP server does
  // not answer.
  std::vector<ToolSpec> offered(const AgentDefinition& agent, const TurnContext& context);

  // Runs the call; nothing if the agent has no such tool. Whatever goes wrong is a result that says
  // so; throws TurnFailed only when the turn is stopped. `key` names this call among all: the same
  // when a crash makes it run again, so that the other side can tell.
  std::optional<ToolResult> run(const AgentDefinition& agent, const ToolCall& call,
                                const std::string& key, const TurnContext& context);

 private:
  class McpServers;
  HttpClient& client_;
  std::unique_ptr<McpServers> mcp_;
};

}  // namespace holdpoint
