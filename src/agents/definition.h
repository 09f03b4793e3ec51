#pragma once

#include <array>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "agents/llm/tool.h"
#include "base/guarded.h"
#include "base/secret.h"
#include "domain/question.h"
#include "domain/target.h"
#include "wire/signature.h"

namespace holdpoint {

enum class RunnerKind { http, command, llm, external };
std::string_view to_text(RunnerKind kind);

// A tool of a model agent's own.
struct HttpTool {
  std::string method;  // GET, POST, PUT, PATCH or DELETE.
  std::string url;     // `{name}` stands for a member of the input; none before the path.
  std::map<std::string, Secret> headers;
};
struct CommandTool {
  std::vector<std::string> command;  // Runs in the agent's folder.
};
struct OwnTool {
  ToolSpec spec;
  std::variant<HttpTool, CommandTool> how;
  std::chrono::seconds timeout{60};
};

// A server whose tools a model agent may use, over streamable HTTP.
struct McpServer {
  std::string name;
  std::string url;
  std::map<std::string, Secret> headers;
  std::vector<std::string> tools;  // The server's names of those offered; empty: all.
  std::chrono::seconds timeout{60};
};

// What one session of a model agent may use up; nothing: as the settings say.
struct Budget {
  std::optional<std::int64_t> steps;      // Model requests.
  std::optional<std::int64_t> tokens;     // In and out.
  std::optional<std::int64_t> seconds;    // At work: waiting for people or sub-agents is free.
  std::optional<std::int64_t> questions;  // Asked of people.
};

// An agent as its markdown file defines it.
struct AgentDefinition {
  std::string name;
  RunnerKind runner = RunnerKind::external;
  std::vector<std::string> command;
  std::string url;
  std::filesystem::path folder;  // Where a command runs.
  bool async_questions = false;
  std::optional<std::string> question_callback;
  std::vector<WebhookSecret> callback_secrets;
  std::vector<std::string> callback_events;  // Besides question_pending.
  std::optional<std::chrono::seconds> question_timeout;
  std::optional<OnTimeout> on_timeout;
  std::vector<std::string> answerers;  // Who may answer; empty: everybody who may answer at all.
  std::vector<Target> channels;        // Where its questions go; empty: where the settings say.
  bool allow_cancel = true;            // Whether those who may answer may call the question off.
  bool callback_link = false;          // Callbacks carry a link with which its holder may answer.
  WebhookScheme webhook_verify = WebhookScheme::none;
  std::vector<Secret> webhook_keys;     // As verify_webhook wants them.
  std::string description;              // For people; empty: the prompt says it.
  std::vector<std::string> sub_agents;  // Whom it may start; empty: nobody.
  std::string prompt;

  // Of model agents alone.
  std::string model;  // As Models::find takes it.
  std::optional<std::int64_t> max_reply_tokens;
  Budget budget;
  std::vector<OwnTool> tools;
  std::vector<McpServer> mcp_servers;
};

// A file that does not parse: what() is `file:line: what is wrong`.
class DefinitionError : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

// `max_timeout` bounds question_timeout.
AgentDefinition parse_definition(const std::filesystem::path& file, const std::string& text,
                                 std::chrono::seconds max_timeout);

// Every `*.md` of the folder; throws DefinitionError with all that is wrong, a line each.
std::map<std::string, AgentDefinition> load_definitions(const std::filesystem::path& folder,
                                                        std::chrono::seconds max_timeout);

// The agents of a running server. Safe to share between threads.
class Agents {
 public:
  explicit Agents(std::map<std::string, AgentDefinition> definitions);
  // Null if there is none. Shared, since a reload may replace it while a turn still uses it.
  std::shared_ptr<const AgentDefinition> find(const std::string& name);
  std::vector<std::string> names();
  // Whether those who may answer its questions may call them off.
  bool may_cancel(const std::string& name);
  void replace(std::map<std::string, AgentDefinition> definitions);

 private:
  using Map = std::map<std::string, std::shared_ptr<const AgentDefinition>>;
  static Map share(std::map<std::string, AgentDefinition> definitions);
  Guarded<Map> agents_;
};

// Agents that are there without a file, for those who live elsewhere and only ask: of asks that
// name none, of MCP clients, and of HumanLayer's SDK. A file of that name says where their
// questions go.
inline constexpr const char* kExternalAgent = "external";
inline constexpr const char* kMcpAgent = "mcp";
inline constexpr const char* kHumanLayerAgent = "humanlayer";
struct BuiltInAgent {
  const char* name;
  const char* description;
};
inline constexpr std::array kBuiltInAgents{
    BuiltInAgent{kExternalAgent, "Asks that name no agent: from shells, scripts and programs."},
    BuiltInAgent{kMcpAgent, "What MCP clients ask at /mcp."},
    BuiltInAgent{kHumanLayerAgent, "What HumanLayer's SDK asks at /humanlayer/v1."}};

}  // namespace holdpoint
