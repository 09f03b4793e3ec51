#pragma once

#include <filesystem>
#include <string>

#include "agents/definition.h"
#include "agents/runner.h"

namespace holdpoint {

// Runs a command tool in the agent's folder, without a shell: the input on its standard input, the
// result on its standard output; it finds `key` in HOLDPOINT_TOOL_CALL and the session in
// HOLDPOINT_SESSION. Whatever goes wrong is a result; throws TurnFailed only when the turn is
// stopped. The result's id is left to the caller.
ToolResult run_command_tool(const CommandTool& tool, const std::filesystem::path& folder,
                            Duration timeout, const std::string& input, const std::string& key,
                            const TurnContext& context);

}  // namespace holdpoint
