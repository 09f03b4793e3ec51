#include "agents/model_definition.h"

#include <algorithm>

#include "agents/llm/url_template.h"
#include "net/http_client.h"
#include "wire/json.h"

namespace holdpoint {
namespace {

constexpr std::size_t kMaxTools = 100;
constexpr std::size_t kMaxServers = 20;
constexpr std::int64_t kMaxNumber = 1'000'000'000'000;
constexpr std::int64_t kMaxTimeoutSeconds = 600;

bool is_tool_name(const std::string& text, std::size_t most) {
  return !text.empty() && text.size() <= most &&
         text.find_first_not_of(
             "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") ==
             std::string::npos;
}

void read_timeout(FrontMatter& reader, std::chrono::seconds& timeout) {
  if (const auto seconds = reader.number("timeout", 1, kMaxTimeoutSeconds)) {
    timeout = std::chrono::seconds{*seconds};
  }
}

std::string read_tool_name(FrontMatter& reader) {
  const auto name = reader.text("name");
  if (!name) reader.fail(reader.root(), reader.path("name") + " is missing");
  const YAML::Node at = reader.get("name");
  if (!is_tool_name(*name, 64)) {
    reader.fail(at, reader.path("name") + " has 1 to 64 letters, digits, - and _");
  }
  if (*name == "ask_user_question" || *name == "spawn_agents") {
    reader.fail(at, reader.path("name") + ": " + *name + " is a tool of ours: choose another name");
  }
  if (name->find("__") != std::string::npos) {
    reader.fail(at, reader.path("name") + " must not have __: that is for tools of MCP servers");
  }
  return *name;
}

// The schema, which must be that of an object; and the names of its properties.
std::set<std::string> read_input(FrontMatter& reader, ToolSpec& spec) {
  spec.schema = reader.json("input").value_or(R"({"type":"object"})");
  const Json schema = read_json(spec.schema);
  const auto fail = [&](const std::string& reason) {
    reader.fail(reader.get("input"), reader.path("input") + reason);
  };
  if (!schema.is_object() || schema.value("type", Json()) != "object") {
    fail(" must be a JSON Schema with type: object");
  }
  const Json properties = schema.value("properties", Json::object());
  if (!properties.is_object()) fail(".properties must be keys and values");
  std::set<std::string> names;
  for (const auto& [name, property] : properties.items()) names.insert(name);
  const Json required = schema.value("required", Json::array());
  if (!required.is_array()) fail(".required must be a list of names");
  for (const auto& name : required) {
    if (!name.is_string()) fail(".required must be a list of names");
    if (!properties.empty() && !names.count(name.get<std::string>())) {
      fail(".required names \"" + name.get<std::string>() + "\", which is none of the properties");
    }
  }
  return names;
}

HttpTool read_http(FrontMatter& reader, const std::set<std::string>& properties,
                   const std::filesystem::path& folder) {
  HttpTool tool;
  tool.method = reader.text("method").value_or("GET");
  static const std::set<std::string> methods{"GET", "POST", "PUT", "PATCH", "DELETE"};
  if (!methods.count(tool.method)) {
    reader.fail(reader.get("method"),
                reader.path("method") + " must be GET, POST, PUT, PATCH or DELETE");
  }
  const auto url = reader.text("url");
  if (!url) reader.fail(reader.root(), reader.path("url") + " is missing");
  tool.url = *url;
  const YAML::Node at = reader.get("url");
  const auto parts = parse_url_template(tool.url);
  if (!parts) {
    reader.fail(at, reader.path("url") +
                        " has a { or } that is no placeholder: write {name} for a property of the "
                        "input, and %7B and %7D for the signs themselves");
  }
  for (const auto& name : parts->names()) {
    if (!properties.count(name)) {
      reader.fail(at, reader.path("url") + " has {" + name +
                          "}, and that is none of the input's properties");
    }
  }
  if (!parts->only_after_host()) {
    reader.fail(at, reader.path("url") + " may have placeholders in its path and query only");
  }
  if (!host_of(parts->fill([](const std::string&) { return std::string("x"); }))) {
    reader.fail(at, reader.path("url") + " must be an http or https URL with a plain host");
  }
  tool.headers = reader.headers("headers", folder);
  reader.refuse_unknown();
  return tool;
}

OwnTool read_tool(FrontMatter& reader, const std::filesystem::path& folder) {
  OwnTool tool;
  tool.spec.name = read_tool_name(reader);
  tool.spec.description = reader.text("description").value_or("");
  if (tool.spec.description.empty()) {
    reader.fail(reader.root(), reader.path("description") +
                                   " is missing: it tells the model when to use the tool");
  }
  const auto properties = read_input(reader, tool.spec);
  read_timeout(reader, tool.timeout);
  auto http = reader.section("http");
  const auto command = reader.texts("command", false);
  if (http.has_value() == reader.get("command").IsDefined()) {
    reader.fail(reader.root(), reader.at() +
                                   " needs either http: {method, url} or command: "
                                   "[program, argument, …]");
  }
  if (http) {
    tool.how = read_http(*http, properties, folder);
  } else {
    if (command.empty() || command[0].empty()) {
      reader.fail(reader.get("command"),
                  reader.path("command") + " must be [program, argument, …]");
    }
    tool.how = CommandTool{command};
  }
  reader.refuse_unknown();
  return tool;
}

McpServer read_server(FrontMatter& reader, const std::filesystem::path& folder) {
  McpServer server;
  const auto name = reader.text("name");
  if (!name) reader.fail(reader.root(), reader.path("name") + " is missing");
  // Its tools are offered as name__tool: that has to stay within 64, and to be clear.
  if (!is_tool_name(*name, 32) || name->find("__") != std::string::npos || name->ends_with('_')) {
    reader.fail(reader.get("name"), reader.path("name") +
                                        " has 1 to 32 letters, digits, - and _, no __ and no _ at "
                                        "its end");
  }
  server.name = *name;
  const auto url = reader.text("url");
  if (!url) reader.fail(reader.root(), reader.path("url") + " is missing");
  if (!host_of(*url)) {
    reader.fail(reader.get("url"),
                reader.path("url") + " must be an http or https URL with a plain host");
  }
  server.url = *url;
  server.headers = reader.headers("headers", folder);
  server.tools = reader.texts("tools", false);
  if (const YAML::Node node = reader.get("tools"); node && server.tools.empty()) {
    reader.fail(node, reader.path("tools") + " is empty: leave it out to offer all, or list some");
  }
  read_timeout(reader, server.timeout);
  reader.refuse_unknown();
  return server;
}

void read_budget(FrontMatter& reader, Budget& budget) {
  auto section = reader.section("budget");
  if (!section) return;
  budget.steps = section->number("steps", 1, kMaxNumber);
  budget.tokens = section->number("tokens", 1, kMaxNumber);
  budget.seconds = section->number("seconds", 1, kMaxNumber);
  budget.questions = section->number("questions", 1, kMaxNumber);
  section->refuse_unknown();
}

}  // namespace

void read_model_agent(FrontMatter& reader, AgentDefinition& agent) {
  if (agent.runner != RunnerKind::llm) {
    for (const char* key : {"model", "max_reply_tokens", "budget", "tools", "mcp_servers"}) {
      const YAML::Node node = reader.get(key);
      if (node) reader.fail(node, std::string(key) + " goes with runner: llm only");
    }
    return;
  }
  agent.model = reader.text("model").value_or("");
  if (agent.model.empty()) {
    reader.fail(reader.get("runner"),
                "runner: llm needs a model: an alias of [llm.*] in the settings");
  }
  agent.max_reply_tokens = reader.number("max_reply_tokens", 1, kMaxNumber);
  read_budget(reader, agent.budget);
  for (auto& section : reader.sections("tools")) {
    agent.tools.push_back(read_tool(section, agent.folder));
    const auto same = [&](const OwnTool& tool) {
      return tool.spec.name == agent.tools.back().spec.name;
    };
    if (std::count_if(agent.tools.begin(), agent.tools.end(), same) > 1) {
      section.fail(section.get("name"),
                   "tools has two of the name " + agent.tools.back().spec.name);
    }
  }
  for (auto& section : reader.sections("mcp_servers")) {
    agent.mcp_servers.push_back(read_server(section, agent.folder));
    const auto same = [&](const McpServer& server) {
      return server.name == agent.mcp_servers.back().name;
    };
    if (std::count_if(agent.mcp_servers.begin(), agent.mcp_servers.end(), same) > 1) {
      section.fail(section.get("name"),
                   "mcp_servers has two of the name " + agent.mcp_servers.back().name);
    }
  }
  if (agent.tools.size() > kMaxTools) {
    reader.fail(reader.get("tools"), "tools has more than " + std::to_string(kMaxTools));
  }
  if (agent.mcp_servers.size() > kMaxServers) {
    reader.fail(reader.get("mcp_servers"),
                "mcp_servers has more than " + std::to_string(kMaxServers));
  }
}

}  // namespace holdpoint
