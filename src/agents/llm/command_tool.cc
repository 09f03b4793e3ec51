#include "agents/llm/command_tool.h"

#include "agents/command_exchange.h"
#include "agents/llm/tool_text.h"
#include "domain/text.h"

namespace holdpoint {
namespace {

constexpr std::size_t kMaxOutputBytes = 4 << 20;

}  // namespace

ToolResult run_command_tool(const CommandTool& tool, const std::filesystem::path& folder,
                            Duration timeout, const std::string& input, const std::string& key,
                            const TurnContext& context) {
  try {
    ChildProcess child(
        tool.command, folder,
        {{"HOLDPOINT_TOOL_CALL", key}, {"HOLDPOINT_SESSION", key.substr(0, key.find(':'))}});
    const auto said =
        CommandExchange(child, input + "\n", {timeout, kMaxOutputBytes}, context).run();
    const auto end = child.wait();
    if (end.clean)
      return {"", is_blank(said.output) ? "(no output)" : tool_text(said.output), false};
    std::string text = "the command ended with " + end.how;
    for (const auto& line : said.last_errors) text += "\n" + line;
    return {"", tool_text(text), true};
  } catch (const TurnFailed& e) {
    if (context.cancelled()) throw;
    return {"", tool_text(e.what()), true};
  } catch (const std::runtime_error& e) {
    return {"", tool_text(e.what()), true};
  }
}

}  // namespace holdpoint
