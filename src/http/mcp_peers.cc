#include "http/mcp_peers.h"

#include <algorithm>

#include "domain/text.h"
#include "http/mcp_tasks.h"
#include "wire/json_writer.h"

namespace holdpoint {
namespace {

constexpr int kHeaderMismatch = -32020, kMissingCapability = -32021, kUnsupportedRevision = -32022;

bool is_session_revision(const std::string& revision) {
  return std::find(kMcpSessionRevisions.begin(), kMcpSessionRevisions.end(), revision) !=
         kMcpSessionRevisions.end();
}

constexpr const char* kMetaRevision = "io.modelcontextprotocol/protocolVersion";
constexpr const char* kMetaCapabilities = "io.modelcontextprotocol/clientCapabilities";

bool shows_forms(const Json& capabilities) {
  const auto it = capabilities.find("elicitation");
  if (it == capabilities.end() || !it->is_object()) return false;
  return it->empty() || it->contains("form");
}

[[noreturn]] void refuse_revision(const std::string& requested) {
  JsonWriter out;
  out.begin_object().key("supported").begin_array();
  for (const char* revision : kMcpSessionRevisions) out.value(revision);
  out.value(kMcpStateless).end_array().member("requested", requested).end_object();
  throw RpcError(kUnsupportedRevision, "that revision of MCP is not spoken here", out.take(), 400);
}

// What the headers say for those on the way must be what the body says.
void check_header(const Request& request, const char* name, const std::string& body) {
  std::string value = request.header(name);
  const auto begin = value.find_first_not_of(" \t");
  value = begin == std::string::npos
              ? ""
              : value.substr(begin, value.find_last_not_of(" \t") - begin + 1);
  if (request.header_count(name) == 1 && value == body) return;
  throw RpcError(
      kHeaderMismatch,
      std::string("the header ") + name + " must say what the body says: " + shorten(body, 100), "",
      400);
}

// The member that the header Mcp-Name repeats; null: none.
const char* named_by(const std::string& method) {
  if (method == "tools/call" || method == "prompts/get") return "name";
  if (method == "resources/read") return "uri";
  if (method == "tasks/get" || method == "tasks/update" || method == "tasks/cancel") {
    return "taskId";
  }
  return nullptr;
}

}  // namespace

const Json* find_meta(const RpcMessage& message) {
  const auto it = message.params.find("_meta");
  return it != message.params.end() && it->is_object() ? &*it : nullptr;
}

std::string progress_token(const RpcMessage& message) {
  const Json* meta = find_meta(message);
  if (!meta) return "";
  const Json token = meta->value("progressToken", Json());
  return token.is_string() || token.is_number_integer() ? token.dump() : "";
}

bool is_stateless(const Request& request, const RpcMessage& message) {
  if (request.header("MCP-Protocol-Version") == kMcpStateless) return true;
  const Json* meta = find_meta(message);
  return meta && meta->contains(kMetaRevision);
}

McpPeer read_stateless_peer(const Request& request, const RpcMessage& message) {
  const auto refuse = [](const char* what) {
    throw RpcError(kRpcInvalidParams, std::string("params._meta: needs ") + what, "", 400);
  };
  const Json* meta = find_meta(message);
  if (!meta) refuse(kMetaRevision);
  const Json revision = meta->value(kMetaRevision, Json());
  if (!revision.is_string()) refuse(kMetaRevision);
  const Json capabilities = meta->value(kMetaCapabilities, Json());
  if (!capabilities.is_object()) refuse(kMetaCapabilities);
  McpPeer peer;
  peer.revision = revision.get<std::string>();
  check_header(request, "MCP-Protocol-Version", peer.revision);
  if (!peer.stateless()) refuse_revision(peer.revision);
  check_header(request, "Mcp-Method", message.method);
  if (const char* name = named_by(message.method)) {
    const Json value = message.params.value(name, Json());
    if (value.is_string()) check_header(request, "Mcp-Name", value.get<std::string>());
  }
  peer.elicitation = shows_forms(capabilities);
  const Json extensions = capabilities.value("extensions", Json());
  peer.tasks = extensions.is_object() && extensions.contains(kTasksExtension);
  return peer;
}

McpPeer read_initialize(const RpcMessage& message) {
  const Json wanted = message.params.value("protocolVersion", Json());
  if (!wanted.is_string()) {
    throw RpcError(kRpcInvalidParams, "params.protocolVersion: must be a string");
  }
  McpPeer peer;
  peer.revision = wanted.get<std::string>();
  if (!is_session_revision(peer.revision)) peer.revision = kMcpSessionRevisions.back();
  const Json capabilities = message.params.value("capabilities", Json());
  peer.elicitation = capabilities.is_object() && shows_forms(capabilities);
  return peer;
}

void check_revision(const Request& request) {
  const std::string revision = request.header("MCP-Protocol-Version");
  // What a session has agreed on is in its token; this is what those say who agreed on nothing.
  if (revision.empty() || revision == "2025-03-26" || is_session_revision(revision)) return;
  refuse_revision(revision);
}

RpcError missing_capability(const std::string& what, const std::string& capabilities) {
  JsonWriter out;
  out.begin_object().raw_member("requiredCapabilities", capabilities).end_object();
  return RpcError(kMissingCapability, "the client has not declared " + what, out.take(), 400);
}

}  // namespace holdpoint
