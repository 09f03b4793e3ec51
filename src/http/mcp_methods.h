#pragma once

#include <string>

#include "http/api.h"
#include "http/mcp_desk.h"
#include "wire/rpc.h"

namespace holdpoint {

// What an MCP request asks of us, once it is known who asks. `agent_name` is whose questions these
// are.
struct McpRequest {
  const Request& http;
  const RpcMessage& message;
  const McpPeer& peer;
  std::string agent_name;
};

// Answers a request. Throws RpcError.
Response answer_mcp(Api& api, McpDesk& desk, const McpRequest& request);

// The client cancels a call of its session.
void cancel_mcp(Api& api, McpDesk& desk, const McpRequest& request);

// `"capabilities":…,"serverInfo":…` and so on, of either way to say hello.
std::string initialize_result(const McpDesk& desk, const McpPeer& peer);

}  // namespace holdpoint
