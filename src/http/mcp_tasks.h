#pragma once

#include <optional>
#include <string>

#include "http/mcp_methods.h"

// What the revision without sessions has instead of a connection that stays: asks as tasks that a
// client polls, and forms that its next call brings back.
namespace holdpoint {

inline constexpr const char* kTasksExtension = "io.modelcontextprotocol/tasks";

// The result of a call that goes on as a task.
std::string created_task(Api& api, McpDesk& desk, const SessionId& ask);
// Of `tasks/get`, `tasks/update` and `tasks/cancel`; nothing for any other method. Throws RpcError.
std::optional<std::string> answer_task(Api& api, McpDesk& desk, const McpRequest& request);

// A form that a result asks for, and the next call brings back under this name.
struct FormRound {
  std::string name;
  std::int64_t number = 1;
};
// What the client's user made of it; nothing if this call brings none. Throws RpcError for one that
// is not ours, or not of this call.
std::optional<Json> read_form(const McpDesk& desk, const McpRequest& request,
                              const std::string& arguments, const FormRound& round, Time now);
// The result that asks for it; `params` are those of elicitation/create.
std::string form_round(const McpDesk& desk, const McpRequest& request, const std::string& arguments,
                       const FormRound& round, const std::string& params, Time now);

// Throws RpcError unless the client has declared the extension.
void require_tasks(const McpRequest& request);

}  // namespace holdpoint
