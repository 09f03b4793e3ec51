#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "agents/definition.h"
#include "agents/llm/mcp_message.h"
#include "agents/runner.h"
#include "base/guarded.h"
#include "net/http_client.h"

namespace holdpoint {

// One MCP server over streamable HTTP: its session, and the tools it has. Connects when it is first
// used, and again when the server has forgotten the session. Safe to share between threads.
class McpClient {
 public:
  using Now = std::function<std::chrono::steady_clock::time_point()>;
  using Tools = std::shared_ptr<const std::vector<McpTool>>;  // Shared by who uses an older list.

  // The server's url and headers count; the rest is an agent's business.
  McpClient(HttpClient& client, const McpServer& server, Now now = std::chrono::steady_clock::now);

  // The server's tools, as they were at most five minutes ago; at most 500. Each request has
  // `timeout`. Throws TurnFailed, to be tried again.
  Tools tools(Duration timeout, const TurnContext& context);
  // As they were when they were last listed; null if they never were.
  Tools known_tools();
  // Whatever goes wrong is a result; throws TurnFailed only when the turn is stopped. `input` is a
  // JSON object. The result's id is left to the caller.
  ToolResult call(const std::string& tool, const std::string& input, const std::string& key,
                  Duration timeout, const TurnContext& context);

 private:
  struct Session {
    std::optional<std::string> id;  // Servers without sessions give none.
    std::string version;
    std::int64_t number = 0;
  };
  struct State {
    std::optional<Session> session;
    std::int64_t sessions = 0;
    std::int64_t last_id = 0;
    Tools tools;
    std::chrono::steady_clock::time_point listed_at;
  };

  Session connect(Duration timeout, const TurnContext& context);
  void forget(const Session& session);
  // The result as JSON text. Throws McpError; TurnFailed when the turn is stopped.
  std::string request(const std::string& method, const std::string& params, Duration timeout,
                      const TurnContext& context);
  HttpResponse post(const std::string& body, const Session* session, Duration timeout,
                    const TurnContext& context);
  std::int64_t next_id();
  Tools list(Duration timeout, const TurnContext& context);

  HttpClient& client_;
  const std::string url_;
  const std::map<std::string, Secret> headers_;
  const Now now_;
  Guarded<State> state_;
};

}  // namespace holdpoint
