#include "agents/llm/toolbox.h"

#include <algorithm>
#include <map>
#include <memory>

#include "agents/llm/command_tool.h"
#include "agents/llm/http_tool.h"
#include "agents/llm/mcp_client.h"
#include "agents/llm/tool_input.h"
#include "base/guarded.h"
#include "base/log.h"
#include "domain/bad_request.h"
#include "domain/text.h"

namespace holdpoint {
namespace {

constexpr std::size_t kMaxName = 64;
constexpr std::size_t kManyClients = 100;

// `server__tool` in the letters that both APIs take.
std::string offered_name(const McpServer& server, const std::string& tool) {
  std::string name = server.name + "__";
  for (const char c : tool) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '_' || c == '-';
    name += plain ? c : '_';
  }
  return name.substr(0, kMaxName);
}

// A server's tool by the name that the model knows it under.
struct Offered {
  std::string name;
  const McpTool* tool;
};

// Those that the agent lets its model have. Of two that would have the same name, the first. Throws
// TurnFailed for a name in the agent's list that the server does not have.
std::vector<Offered> allowed(const McpServer& server, const std::vector<McpTool>& tools) {
  std::vector<std::string> wanted = server.tools;
  std::string names;
  std::vector<Offered> offered;
  for (const auto& tool : tools) {
    names.append(names.empty() ? "" : ", ").append(tool.name);
    if (!server.tools.empty() &&
        std::find(server.tools.begin(), server.tools.end(), tool.name) == server.tools.end()) {
      continue;
    }
    std::erase(wanted, tool.name);
    const std::string name = offered_name(server, tool.name);
    const auto same = [&](const Offered& other) { return other.name == name; };
    if (std::none_of(offered.begin(), offered.end(), same)) offered.push_back({name, &tool});
  }
  if (wanted.empty()) return offered;
  throw TurnFailed("mcp_servers: " + server.name + " has no tool \"" + wanted[0] +
                       "\"; it has: " + (names.empty() ? "none" : shorten(names, 1000)),
                   false);
}

void log_left_out(const McpServer& server, const std::vector<McpTool>& tools,
                  const std::vector<Offered>& offered) {
  for (const auto& tool : tools) {
    const auto is = [&](const Offered& other) { return other.tool == &tool; };
    if (std::any_of(offered.begin(), offered.end(), is)) continue;
    log(Level::warning, "mcp_tool_left_out",
        {{"server", server.name},
         {"tool", shorten(tool.name, 100)},
         {"reason", "another is offered as " + offered_name(server, tool.name)}});
  }
}

ToolResult run_own(HttpClient& client, const AgentDefinition& agent, const OwnTool& tool,
                   const ToolCall& call, const std::string& key, const TurnContext& context) {
  const Json input = parse_tool_input(call.input);
  if (const auto wrong = complaint_about_input(read_json(tool.spec.schema), input)) {
    return {"", *wrong, true};
  }
  if (const auto* http = std::get_if<HttpTool>(&tool.how)) {
    return run_http_tool(client, *http, tool.timeout, input, key, context);
  }
  return run_command_tool(std::get<CommandTool>(tool.how), agent.folder, tool.timeout, input.dump(),
                          key, context);
}

}  // namespace

// The servers of all agents; those that name the same url and headers share one.
class Toolbox::McpServers {
 public:
  explicit McpServers(HttpClient& client) : client_(client) {}

  // Shared: it may be dropped here while a turn still uses it.
  std::shared_ptr<McpClient> find(const McpServer& server) {
    std::string key = server.url;
    for (const auto& [name, value] : server.headers) key += "\n" + name + ": " + value.reveal();
    return clients_.with([&](Clients& clients) {
      // Definitions come and go; what nobody uses now can connect again.
      if (clients.size() >= kManyClients && !clients.count(key)) {
        std::erase_if(clients, [](const auto& entry) { return entry.second.use_count() == 1; });
      }
      auto& client = clients[key];
      if (!client) client = std::make_shared<McpClient>(client_, server);
      return client;
    });
  }

  // Nothing if none of the agent's servers has a tool of this name.
  std::optional<ToolResult> run(const AgentDefinition& agent, const ToolCall& call,
                                const std::string& key, const TurnContext& context) {
    for (const auto& server : agent.mcp_servers) {
      if (!call.name.starts_with(server.name + "__")) continue;
      const auto client = find(server);
      // The list that the model was told of will do, however old it is.
      for (const bool anew : {false, true}) {
        const auto tools = anew ? client->tools(server.timeout, context) : client->known_tools();
        if (!tools) continue;
        for (const auto& offered : allowed(server, *tools)) {
          if (offered.name != call.name) continue;
          const std::string input = parse_tool_input(call.input).dump();
          return client->call(offered.tool->name, input, key, server.timeout, context);
        }
      }
    }
    return std::nullopt;
  }

 private:
  using Clients = std::map<std::string, std::shared_ptr<McpClient>>;

  HttpClient& client_;
  Guarded<Clients> clients_;
};

Toolbox::Toolbox(HttpClient& client)
    : client_(client), mcp_(std::make_unique<McpServers>(client)) {}
Toolbox::~Toolbox() = default;

std::vector<ToolSpec> Toolbox::offered(const AgentDefinition& agent, const TurnContext& context) {
  std::vector<ToolSpec> specs;
  for (const auto& tool : agent.tools) specs.push_back(tool.spec);
  for (const auto& server : agent.mcp_servers) {
    const auto tools = mcp_->find(server)->tools(server.timeout, context);
    const auto offered = allowed(server, *tools);
    // An agent's own list says already what it leaves out.
    if (server.tools.empty()) log_left_out(server, *tools, offered);
    for (const auto& [name, tool] : offered) {
      specs.push_back({name, tool->description, tool->schema});
    }
  }
  return specs;
}

std::optional<ToolResult> Toolbox::run(const AgentDefinition& agent, const ToolCall& call,
                                       const std::string& key, const TurnContext& context) {
  const auto own = std::find_if(agent.tools.begin(), agent.tools.end(),
                                [&](const OwnTool& tool) { return tool.spec.name == call.name; });
  std::optional<ToolResult> result;
  try {
    result = own != agent.tools.end() ? run_own(client_, agent, *own, call, key, context)
                                      : mcp_->run(agent, call, key, context);
  } catch (const BadRequest& e) {
    result = ToolResult{"", e.field() + " " + e.what(), true};
  } catch (const TurnFailed& e) {
    if (context.cancelled()) throw;
    result = ToolResult{"", e.what(), true};
  }
  if (result) result->id = call.id;
  return result;
}

}  // namespace holdpoint
