#pragma once

#include <string>

#include "agents/definition.h"
#include "agents/runner.h"
#include "net/http_client.h"
#include "wire/json.h"

namespace holdpoint {

// Calls an http tool with an input that fits its schema. What the other side says or does is a
// result; throws TurnFailed only when the turn is stopped. The result's id is left to the caller.
ToolResult run_http_tool(HttpClient& client, const HttpTool& tool, Duration timeout,
                         const Json& input, const std::string& key, const TurnContext& context);

// Ours and the agent's; where both name one, whatever its case, the agent's.
std::map<std::string, std::string> with_headers(std::map<std::string, std::string> ours,
                                                const std::map<std::string, Secret>& agents);

}  // namespace holdpoint
