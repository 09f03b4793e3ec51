#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "agents/llm/tool.h"

namespace holdpoint {

// What MCP servers and we write to each other, as JSON-RPC 2.0. Pure: texts in, texts out.

// The other side said something that is no answer to what we asked, or that it will not answer.
class McpError : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

inline constexpr const char* kMcpVersion = "2025-06-18";

std::string mcp_request(std::int64_t id, const std::string& method, const std::string& params);
std::string mcp_notification(const std::string& method);

std::string initialize_params();
// The first page without a cursor.
std::string list_params(const std::optional<std::string>& cursor);
std::string call_params(const std::string& tool, const std::string& input, const std::string& key);

// The result with our id, as JSON text, in a body of application/json or of text/event-stream;
// whatever else the server says there is passed over. Throws McpError if there is none, or if it is
// an error.
std::string result_of(const std::string& body, bool is_event_stream, std::int64_t id);

// What the error of a refused request says; empty if the body has none.
std::string error_text_of(const std::string& body);

// The version that the server chose. Throws McpError if we do not speak it.
std::string read_initialized(const std::string& result);

struct McpTool {
  std::string name;  // The server's.
  std::string description;
  std::string schema;  // An object's.
};
struct McpPage {
  std::vector<McpTool> tools;
  std::vector<std::string> unusable;  // Names of those without a usable schema.
  std::optional<std::string> next;
};
McpPage read_tools(const std::string& result);

// What a call came to, as a model may read it. The result's id is left to the caller.
ToolResult read_call(const std::string& result);

}  // namespace holdpoint
