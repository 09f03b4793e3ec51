#include "wire/rpc.h"

#include <doctest/doctest.h>

using namespace holdpoint;

namespace {

// The code and the words that a message is refused with.
std::pair<int, std::string> refusal(const std::string& body) {
  try {
    parse_rpc(body);
  } catch (const RpcError& e) {
    CHECK(e.status == 400);
    return {e.code, e.what()};
  }
  return {0, ""};
}

}  // namespace

TEST_CASE("a request has its id as it is written, its method and its params byte for byte") {
  const auto message =
      parse_rpc(R"({"jsonrpc":"2.0","id":"a\u0062","method":"m","params":{ "b": 1.0, "a":[] }})");
  CHECK(message.kind == RpcMessage::Kind::request);
  CHECK(message.id == R"("ab")");
  CHECK(message.method == "m");
  CHECK(message.params_text == R"({ "b": 1.0, "a":[] })");
  CHECK(message.params["b"] == 1.0);
  CHECK(parse_rpc(R"({"jsonrpc":"2.0","id":-7,"method":"m"})").id == "-7");
}

TEST_CASE("a message without an id is a notification, and one without a method a response") {
  const auto note = parse_rpc(R"({"jsonrpc":"2.0","method":"notifications/initialized"})");
  CHECK(note.kind == RpcMessage::Kind::notification);
  CHECK(note.params.empty());
  CHECK(note.params_text == "{}");
  const auto result = parse_rpc(R"({"jsonrpc":"2.0","id":1,"result":{"action":"accept"}})");
  CHECK(result.kind == RpcMessage::Kind::response);
  CHECK(result.result["action"] == "accept");
  const auto error = parse_rpc(R"({"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"no"}})");
  CHECK(error.kind == RpcMessage::Kind::response);
  CHECK(error.result.is_null());
}

TEST_CASE("params whose name is written with escapes count all the same") {
  const auto message = parse_rpc(R"({"jsonrpc":"2.0","id":1,"method":"m","p\u0061rams":{"a":1}})");
  CHECK(message.params["a"] == 1);
  CHECK(message.params_text == R"({"a":1})");
}

TEST_CASE("what is no message is refused with the reason") {
  CHECK(refusal("").first == kRpcParseError);
  CHECK(refusal("nonsense").first == kRpcParseError);
  CHECK(refusal(R"({"jsonrpc":"2.0","id":1,"id":2,"method":"m"})").first == kRpcParseError);
  CHECK(refusal(std::string(100, '[')).first == kRpcParseError);
  CHECK(refusal(R"([{"jsonrpc":"2.0","id":1,"method":"m"}])").second.find("batches") !=
        std::string::npos);
  for (const char* body :
       {"{}", "null", "1", R"({"jsonrpc":"1.0","id":1,"method":"m"})", R"({"jsonrpc":"2.0"})",
        R"({"jsonrpc":"2.0","id":null,"method":"m"})", R"({"jsonrpc":"2.0","id":1.5,"method":"m"})",
        R"({"jsonrpc":"2.0","id":{},"method":"m"})", R"({"jsonrpc":"2.0","id":1,"method":2})",
        R"({"jsonrpc":"2.0","id":1,"method":"m","params":[]})",
        R"({"jsonrpc":"2.0","id":1,"method":"m","params":null})", R"({"jsonrpc":"2.0","id":1})",
        R"({"jsonrpc":"2.0","result":{}})", R"({"jsonrpc":"2.0","id":1,"result":{},"error":{}})"}) {
    CAPTURE(body);
    CHECK(refusal(body).first == kRpcInvalidRequest);
  }
  const std::string long_id(300, 'x');
  CHECK(refusal(R"({"jsonrpc":"2.0","id":")" + long_id + R"(","method":"m"})").first ==
        kRpcInvalidRequest);
}

TEST_CASE("what we write reads back") {
  const auto result = parse_rpc(rpc_result("7", R"({"a":1})"));
  CHECK(result.id == "7");
  CHECK(result.result["a"] == 1);
  const auto request = parse_rpc(rpc_request("\"f\"", "elicitation/create", R"({"m":"?"})"));
  CHECK(request.kind == RpcMessage::Kind::request);
  CHECK(request.id == "\"f\"");
  CHECK(request.params_text == R"({"m":"?"})");
  CHECK(parse_rpc(rpc_notification("n", "{}")).kind == RpcMessage::Kind::notification);
  CHECK(rpc_error("1", RpcError(-5, "no \"way\"", R"({"x":[]})")) ==
        R"({"jsonrpc":"2.0","id":1,"error":{"code":-5,"message":"no \"way\"","data":{"x":[]}}})");
  CHECK(rpc_error("", RpcError(kRpcParseError, "what?")) ==
        R"({"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"what?"}})");
}

TEST_CASE("a member's text is what stands there, and empty where nothing does") {
  CHECK(member_text(R"({"a":{"b":[1, 2]},"b":"x"})", "a") == R"({"b":[1, 2]})");
  CHECK(member_text(R"({"a":{"b":[1, 2]},"b":"x"})", "b") == R"("x")");
  CHECK(member_text(R"({"a":1})", "c").empty());
  CHECK(member_text("[]", "a").empty());
}
