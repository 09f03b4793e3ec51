#pragma once

#include <memory>
#include <optional>
#include <string>

#include "http/mcp_call.h"
#include "http/mcp_methods.h"

// How answers to MCP requests travel: as JSON, or as a stream of events that ends with the answer.
namespace holdpoint {

// Whether the client takes more than the answer.
bool takes_stream(const Request& request);

// A JSON answer to a request of this peer: with what its revision adds to every result.
std::string mcp_answer(const McpDesk& desk, const McpPeer& peer, const std::string& rpc_id,
                       const std::string& result);

Response done(const McpDesk& desk, const McpRequest& request, const std::string& result);
// A call in progress, in the way that the client takes.
Response run_call(McpDesk& desk, const McpRequest& request, std::unique_ptr<McpWork> call);

// The rest of a stream that broke after this event. Nothing if the event is none of this session's.
std::optional<Response> resume_mcp(Api& api, McpDesk& desk, const Request& http,
                                   const McpPeer& peer, const std::string& agent_name,
                                   const std::string& event);

void write_mcp_server(JsonWriter& out, const McpDesk& desk);

}  // namespace holdpoint
