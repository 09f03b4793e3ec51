#include "wire/rpc.h"

#include "domain/bad_request.h"
#include "wire/json_writer.h"

namespace holdpoint {
namespace {

[[noreturn]] void refuse(const char* what) { throw RpcError(kRpcInvalidRequest, what, "", 400); }

Json read_body(std::string_view body) {
  try {
    return parse_json(body, "body");
  } catch (const BadRequest& e) {
    throw RpcError(kRpcParseError, std::string("the message ") + e.what(), "", 400);
  }
}

JsonWriter envelope(const std::string& id) {
  JsonWriter out;
  out.begin_object().member("jsonrpc", "2.0").raw_member("id", id.empty() ? "null" : id);
  return out;
}

}  // namespace

std::string member_text(std::string_view object, std::string_view name) {
  for (const auto& [written, value] : members_of(object)) {
    if (written == name) return std::string(value);
  }
  return "";
}

RpcMessage parse_rpc(std::string_view body) {
  const Json json = read_body(body);
  if (json.is_array()) refuse("messages come one at a time: batches are not taken");
  if (!json.is_object() || json.value("jsonrpc", Json()) != "2.0") {
    refuse("this is no JSON-RPC 2.0 message");
  }
  RpcMessage message;
  if (json.contains("id")) {
    const Json& id = json["id"];
    if (!id.is_string() && !id.is_number_integer()) refuse("id must be a string or a whole number");
    message.id = id.dump();
    if (message.id.size() > 200) refuse("id is too long");
  }
  if (!json.contains("method")) {
    if (message.id.empty() || json.contains("result") == json.contains("error")) {
      refuse("a message needs a method, or an id and a result");
    }
    message.kind = RpcMessage::Kind::response;
    if (json.contains("result")) message.result = json["result"];
    return message;
  }
  if (!json["method"].is_string()) refuse("method must be a string");
  message.method = json["method"].get<std::string>();
  if (message.id.empty()) message.kind = RpcMessage::Kind::notification;
  if (json.contains("params")) {
    if (!json["params"].is_object()) refuse("params must be an object");
    message.params = json["params"];
    message.params_text = member_text(body, "params");
    // Written with escapes in its name: what it says is the same, if not byte for byte.
    if (message.params_text.empty()) message.params_text = message.params.dump();
  }
  return message;
}

std::string rpc_result(const std::string& id, std::string_view result) {
  return envelope(id).raw_member("result", result).end_object().take();
}

std::string rpc_error(const std::string& id, const RpcError& error) {
  JsonWriter out = envelope(id);
  out.key("error").begin_object().member("code", std::int64_t{error.code});
  out.member("message", error.what());
  if (!error.data.empty()) out.raw_member("data", error.data);
  return out.end_object().end_object().take();
}

std::string rpc_request(const std::string& id, std::string_view method, std::string_view params) {
  return envelope(id).member("method", method).raw_member("params", params).end_object().take();
}

std::string rpc_notification(std::string_view method, std::string_view params) {
  JsonWriter out;
  out.begin_object().member("jsonrpc", "2.0").member("method", method);
  return out.raw_member("params", params).end_object().take();
}

}  // namespace holdpoint
