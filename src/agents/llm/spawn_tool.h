#pragma once

#include <string>
#include <vector>

#include "agents/definition.h"
#include "agents/llm/tool.h"

namespace holdpoint {

inline constexpr const char* kSpawnTool = "spawn_agents";

// What a model is told of it, with those whom its agent may start.
ToolSpec spawn_tool(const AgentDefinition& agent, Agents& agents);

// The call as the turn's `spawn` (wire/turn_json). Throws BadRequest with the rule that it breaks.
std::string read_spawn_call(const ToolCall& call, const AgentDefinition& agent);

// How the sub-sessions ended, as the tool's result. `resume` is what spawn_resume_json or
// refusal_json made.
ToolResult spawn_result(const ToolCall& call, const std::string& resume);

}  // namespace holdpoint
