#include <doctest/doctest.h>

#include "agents/llm/provider.h"
#include "domain/bad_request.h"
#include "wire/json.h"

namespace holdpoint {
namespace {

const Provider& provider = anthropic_messages();

ModelReply read(const std::string& content, const std::string& stop = R"("end_turn")",
                const std::string& more = "") {
  return provider.read(R"({"id":"msg_1","content":)" + content + R"(,"stop_reason":)" + stop +
                       more + "}");
}

std::string complaint(const std::string& body) {
  try {
    provider.read(body);
  } catch (const BadRequest& e) {
    return e.what();
  }
  return "";
}

TEST_CASE("Anthropic gets what it knows, and nothing that is empty") {
  ModelRequest request;
  request.model = "claude";
  request.max_tokens = 100;
  request.messages = provider.user_messages({"Hello\n\"you\""});
  CHECK(provider.path() == "/v1/messages");
  CHECK(provider.body(request) ==
        R"({"model":"claude","max_tokens":100,"messages":[{"role":"user","content":)"
        R"([{"type":"text","text":"Hello\n\"you\""}]}]})");
  request.system = "Be kind.";
  request.tools = {{"add", "Adds.", R"({"type":"object","properties":{"a":{"type":"number"}}})"}};
  request.messages.push_back(R"({"role" : "assistant","content":[ ]})");
  CHECK(provider.body(request) ==
        R"({"model":"claude","max_tokens":100,"system":"Be kind.","tools":[{"name":"add",)"
        R"("description":"Adds.","input_schema":{"type":"object","properties":{"a":)"
        R"({"type":"number"}}}}],"messages":[{"role":"user","content":)"
        R"([{"type":"text","text":"Hello\n\"you\""}]},{"role" : "assistant","content":[ ]}]})");
}

TEST_CASE("Anthropic's reply goes back byte for byte, unknown blocks too") {
  const std::string content =
      R"([ {"type":"thinking","thinking":"hm","signature":"s\/=="}, {"text" : "a\u00e9","type":"text"},)"
      R"({"type":"server_tool_use","id":"srv","name":"web","input":{}},{"type":"not_yet_known","n":1.50},)"
      R"({"type":"tool_use","id":"t1","name":"add","input":{"b":2, "a":1e2}},)"
      R"({"type":"text","text":" and b"} ])";
  const ModelReply reply = read(content, R"("tool_use")");
  CHECK(reply.message == R"({"role":"assistant","content":)" + content + "}");
  CHECK(reply.text == "aé and b");
  REQUIRE(reply.calls.size() == 1);
  CHECK(reply.calls[0].id == "t1");
  CHECK(reply.calls[0].name == "add");
  CHECK(reply.calls[0].input == R"({"b":2, "a":1e2})");
  CHECK(reply.stop == ModelStop::tools);
  CHECK(reply.stop_reason == "tool_use");
}

TEST_CASE("Anthropic takes back no empty text and no empty message") {
  CHECK(read(R"([{"type":"text","text":" "},{"type":"x"}])").message ==
        R"({"role":"assistant","content":[{"type":"x"}]})");
  for (const std::string content : {"[]", R"([{"type":"text","text":""}])"}) {
    const ModelReply reply = read(content);
    CHECK(reply.stop == ModelStop::done);
    CHECK(reply.text == "");
    CHECK(reply.message ==
          R"({"role":"assistant","content":[{"type":"text","text":"No words."}]})");
  }
  CHECK(provider.user_messages({" "})[0] ==
        R"({"role":"user","content":[{"type":"text","text":"Nothing."}]})");
}

TEST_CASE("why Anthropic's model stopped") {
  const std::string text = R"([{"type":"text","text":"a"}])";
  const std::string call = R"([{"type":"tool_use","id":"t","name":"n","input":{}}])";
  CHECK(read(text, R"("end_turn")").stop == ModelStop::done);
  CHECK(read(text, R"("stop_sequence")").stop == ModelStop::done);
  CHECK(read(text, R"("max_tokens")").stop == ModelStop::max_tokens);
  CHECK(read(text, R"("pause_turn")").stop == ModelStop::paused);
  CHECK(read(text, R"("refusal")").stop == ModelStop::refusal);
  CHECK(read(text, R"("model_context_window_exceeded")").stop == ModelStop::context_full);
  CHECK(read(text, R"("tool_use")").stop == ModelStop::done);  // There is nothing to do for it.
  CHECK(read(text, R"("one_day_new")").stop == ModelStop::done);
  CHECK(read(text, "null").stop == ModelStop::done);
  CHECK(read(call, R"("tool_use")").stop == ModelStop::tools);
  CHECK(read(call, R"("end_turn")").stop == ModelStop::tools);
  CHECK(read(call, R"("pause_turn")").stop == ModelStop::tools);
  CHECK(read(call, R"("max_tokens")").stop == ModelStop::max_tokens);  // It may be cut off.
  CHECK(read(call, R"("refusal")").stop == ModelStop::refusal);
}

TEST_CASE("cached tokens are a part of the input's, also where Anthropic counts them apart") {
  const auto usage = [](const std::string& json) {
    return read("[]", "null", ",\"usage\":" + json).usage;
  };
  const ModelUsage all = usage(
      R"({"input_tokens":10,"cache_read_input_tokens":200,"cache_creation_input_tokens":3000,"output_tokens":7})");
  CHECK(all.input_tokens == 3210);
  CHECK(all.cached_tokens == 200);
  CHECK(all.output_tokens == 7);
  for (const std::string odd : {"null", "[]", R"({"input_tokens":null,"output_tokens":"7"})",
                                R"({"input_tokens":-5,"output_tokens":-1e300})"}) {
    CAPTURE(odd);
    CHECK(usage(odd).input_tokens == 0);
    CHECK(usage(odd).output_tokens == 0);
  }
  CHECK(usage(R"({"output_tokens":99999999999999999999})").output_tokens == 1'000'000'000);
  CHECK(read("[]").usage.input_tokens == 0);
}

TEST_CASE("what is no reply of Anthropic's is none") {
  for (const std::string body :
       {"", "null", "[]", "<html>", "{}", R"({"content":null})", R"({"content":"a"})",
        R"({"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}})",
        R"({"content":[],"content":[]})", "{\"content\":[\"\xff\"]}"}) {
    CAPTURE(body);
    CHECK(complaint(body) != "");
  }
  const auto of_calls = [](const std::string& calls) {
    return complaint(R"({"content":[)" + calls + R"(],"stop_reason":"tool_use"})");
  };
  const std::string call = R"({"type":"tool_use","id":"t","name":"n","input":{}})";
  CHECK(of_calls(call) == "");
  CHECK(of_calls(call + "," + call) == "has two tool calls with the id t");
  for (const std::string bad : {
           R"({"type":"tool_use","name":"n","input":{}})",
           R"({"type":"tool_use","id":"","name":"n","input":{}})",
           R"({"type":"tool_use","id":7,"name":"n","input":{}})",
       }) {
    CHECK(of_calls(bad) == "has a tool call without an id of 1 to 256 bytes");
  }
  CHECK(of_calls(R"({"type":"tool_use","id":"t","input":{}})") == "has a tool call without a name");
  CHECK(of_calls(R"({"type":"tool_use","id":"t","name":"n"})") == "has a tool call without input");
}

TEST_CASE("a reply is nested at most 48 levels, so that a state can hold it") {
  const auto nested = [](std::size_t levels) {
    return R"({"content":[)" + std::string(levels - 2, '[') + R"("]]")" +
           std::string(levels - 2, ']') + "]}";
  };
  CHECK(complaint(nested(48)) == "");
  CHECK(complaint(nested(49)) == "is nested deeper than 48 levels");
}

TEST_CASE("all results go to Anthropic in one message, errors with their mark") {
  const auto messages = provider.result_messages({{"t1", "3", false}, {"t2", "no \"way\"", true}});
  REQUIRE(messages.size() == 1);
  CHECK(messages[0] ==
        R"({"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"3"},)"
        R"({"type":"tool_result","tool_use_id":"t2","content":"no \"way\"","is_error":true}]})");
}

TEST_CASE("several texts are one message to Anthropic, in their order") {
  const auto messages = provider.user_messages({"a", "b"});
  REQUIRE(messages.size() == 1);
  CHECK(messages[0] ==
        R"({"role":"user","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]})");
}

TEST_CASE("errors say what they say, in a line that is short enough") {
  CHECK(provider.error_text(
            R"({"type":"error","error":{"type":"overloaded_error","message":"Over\n  loaded"}})") ==
        "overloaded_error: Over loaded");
  CHECK(provider.error_text(R"({"error":"busy"})") == "busy");
  CHECK(provider.error_text(R"({"detail":"Not Found"})") == "Not Found");
  CHECK(provider.error_text("upstream\ttimeout\r\n") == "upstream timeout");
  for (const std::string nothing :
       {"", "<html>no</html>", "\xff\xfe", "{\"error\":", "[1]", "{}"}) {
    CAPTURE(nothing);
    CHECK(provider.error_text(nothing) == "");
  }
  CHECK(provider.error_text(std::string(10'000, 'a')).size() < 410);
}

TEST_CASE("Anthropic's words for a conversation that is too long") {
  const auto error = [](const std::string& message) {
    return R"({"type":"error","error":{"type":"invalid_request_error","message":")" + message +
           "\"}}";
  };
  const std::string long_prompt = error("prompt is too long: 208310 tokens > 200000 maximum");
  CHECK(provider.is_context_full(400, long_prompt));
  CHECK(provider.is_context_full(
      400, error("input length and `max_tokens` exceed context limit: 1 + 2 > 2")));
  CHECK(provider.is_context_full(413, ""));
  CHECK_FALSE(provider.is_context_full(400, error("messages: roles must alternate")));
  CHECK_FALSE(provider.is_context_full(529, long_prompt));
}

}  // namespace
}  // namespace holdpoint
