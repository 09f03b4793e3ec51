#pragma once

#include "http/mcp_desk.h"
#include "http/router.h"
#include "wire/rpc.h"

// Which revision of MCP a request speaks, and whether it keeps to it.
namespace holdpoint {

// The `_meta` of a request's params; null if there is none.
const Json* find_meta(const RpcMessage& message);
// What progress is to be told by, as it is written; empty: by nothing.
std::string progress_token(const RpcMessage& message);

// Whether it is of the revision without sessions, or of one that we do not know but like it.
bool is_stateless(const Request& request, const RpcMessage& message);
// Who sends a request of that revision. Throws RpcError unless all that it must say is there.
McpPeer read_stateless_peer(const Request& request, const RpcMessage& message);

// Who opens a session: by the revision that they want, or the newest that we have.
McpPeer read_initialize(const RpcMessage& message);
// Throws RpcError for a revision that has sessions and is not ours.
void check_revision(const Request& request);

// What is thrown at a client that has not declared `capabilities`, an object.
RpcError missing_capability(const std::string& what, const std::string& capabilities);

}  // namespace holdpoint
