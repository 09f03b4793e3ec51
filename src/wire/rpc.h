#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

#include "wire/json.h"

namespace holdpoint {

// A JSON-RPC 2.0 message, as MCP sends them one at a time.
struct RpcMessage {
  enum class Kind { request, notification, response };
  Kind kind = Kind::request;
  std::string id;  // As it is written: `1` or `"a"`; empty for a notification.
  std::string method;
  Json params = Json::object();
  std::string params_text = "{}";  // The same as it came.
  Json result;                     // Of a response that is no error; else null.
};

// What is answered with an error. `id` as in RpcMessage, `data` JSON or empty.
class RpcError : public std::runtime_error {
 public:
  RpcError(int error_code, const std::string& what, std::string error_data = "",
           int http_status = 200)
      : std::runtime_error(what),
        code(error_code),
        data(std::move(error_data)),
        status(http_status) {}
  int code;
  std::string data;
  int status;
};
inline constexpr int kRpcParseError = -32700, kRpcInvalidRequest = -32600,
                     kRpcUnknownMethod = -32601, kRpcInvalidParams = -32602, kRpcInternal = -32603;

// Throws RpcError for what is no message.
RpcMessage parse_rpc(std::string_view body);

std::string rpc_result(const std::string& id, std::string_view result);
std::string rpc_error(const std::string& id, const RpcError& error);
std::string rpc_request(const std::string& id, std::string_view method, std::string_view params);
std::string rpc_notification(std::string_view method, std::string_view params);

// A member of an object as it is written; empty if it is not there.
std::string member_text(std::string_view object, std::string_view name);

}  // namespace holdpoint
