// Uses the tools of an agent's definition, for tests/clients to be the other side: call_tool FILE.
// A line in is {"list": true} or {"tool", "input"}; a line out is {"offered": […]}, {"content",
// "is_error"}, {"unknown": the tool's name}, or {"failed": why, "retryable"}.
#include <fstream>
#include <iostream>
#include <sstream>

#include "agents/llm/toolbox.h"
#include "wire/json.h"

namespace holdpoint {
namespace {

AgentDefinition read_definition(const std::filesystem::path& file) {
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  return parse_definition(file, text.str(), std::chrono::hours{1});
}

Json answer(Toolbox& toolbox, const AgentDefinition& agent, const Json& wanted) {
  TurnContext context;
  context.cancelled = [] { return false; };
  try {
    if (!wanted.contains("tool")) {
      Json offered = Json::array();
      for (const auto& tool : toolbox.offered(agent, context)) {
        offered.push_back({{"name", tool.name},
                           {"description", tool.description},
                           {"schema", Json::parse(tool.schema)}});
      }
      return {{"offered", offered}};
    }
    const ToolCall call{"call_1", wanted.at("tool"), wanted.at("input").dump()};
    const auto result = toolbox.run(agent, call, "session:1:call_1", context);
    if (!result) return {{"unknown", call.name}};
    return {{"content", result->content}, {"is_error", result->is_error}};
  } catch (const TurnFailed& e) {
    return {{"failed", e.what()}, {"retryable", e.retryable()}};
  }
}

}  // namespace
}  // namespace holdpoint

int main(int, char** argv) {
  using namespace holdpoint;
  try {
    const AgentDefinition agent = read_definition(argv[1]);
    const auto client = make_http_client(AddressGuard({"127.0.0.0/8"}));
    Toolbox toolbox(*client);
    for (std::string line; std::getline(std::cin, line);) {
      std::cout << answer(toolbox, agent, Json::parse(line)).dump() << std::endl;
    }
  } catch (const DefinitionError& e) {
    std::cerr << e.what() << '\n';
    return 1;
  }
}
