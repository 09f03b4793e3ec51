#include <doctest/doctest.h>

#include "agents/llm/provider.h"
#include "domain/bad_request.h"
#include "wire/json.h"

namespace holdpoint {
namespace {

const Provider& provider = chat_completions();

std::string body_with(const std::string& message, const std::string& finish,
                      const std::string& more = "") {
  return R"({"id":"c","choices":[{"index":0,"message":)" + message + R"(,"finish_reason":)" +
         finish + "}]" + more + "}";
}
ModelReply read(const std::string& message, const std::string& finish = R"("stop")",
                const std::string& more = "") {
  return provider.read(body_with(message, finish, more));
}

std::string complaint(const std::string& body) {
  try {
    provider.read(body);
  } catch (const BadRequest& e) {
    return e.what();
  }
  return "";
}

std::string call(const std::string& id, const std::string& arguments = "{}") {
  return R"({"id":")" + id + R"(","type":"function","function":{"name":"add","arguments":)" +
         Json(arguments).dump() + "}}";
}

TEST_CASE("chat completions get what they know, and nothing that is empty") {
  ModelRequest request;
  request.model = "gpt";
  request.max_tokens = 100;
  request.messages = provider.user_messages({"Hello"});
  CHECK(provider.path() == "/chat/completions");
  CHECK(provider.body(request) ==
        R"({"model":"gpt","max_tokens":100,"messages":[{"role":"user","content":"Hello"}]})");
  request.system = "Be kind.";
  request.tools = {{"add", "Adds.", R"({"type":"object"})"}};
  CHECK(provider.body(request) ==
        R"({"model":"gpt","max_tokens":100,"tools":[{"type":"function","function":{"name":"add",)"
        R"("description":"Adds.","parameters":{"type":"object"}}}],"messages":[)"
        R"({"role":"system","content":"Be kind."},{"role":"user","content":"Hello"}]})");
}

TEST_CASE("OpenAI itself is told the bound by the name that its newer models take, and only that") {
  ModelRequest request;
  request.max_tokens = 100;
  const Json body = Json::parse(openai_chat_completions().body(request));
  CHECK(body.at("max_completion_tokens") == 100);
  CHECK_FALSE(body.contains("max_tokens"));
}

TEST_CASE("a completion's message goes back byte for byte, what only its service knows too") {
  const ModelReply reply = read(
      R"({"role":"assistant", "content" : "a\u00e9","refusal":null,"reasoning_content":"h\/m ",)"
      R"("x":{"y":1.50},"tool_calls":[ )" +
          call("c1", R"({"b":2, "a":1e2})") + " ]}",
      R"("tool_calls")");
  CHECK(reply.message ==
        R"({"role":"assistant","content":"a\u00e9","refusal":null,"reasoning_content":"h\/m ",)"
        R"("x":{"y":1.50},"tool_calls":[ )" +
            call("c1", R"({"b":2, "a":1e2})") + " ]}");
  CHECK(reply.text == "aé");
  REQUIRE(reply.calls.size() == 1);
  CHECK(reply.calls[0].id == "c1");
  CHECK(reply.calls[0].name == "add");
  CHECK(reply.calls[0].input == R"({"b":2, "a":1e2})");
  CHECK(reply.stop == ModelStop::tools);
  CHECK(reply.stop_reason == "tool_calls");
}

TEST_CASE("what a request may not hold does not go back") {
  CHECK(read(R"({"role":"assistant","content":"a","annotations":[{"type":"url_citation"}],)"
             R"("audio":{"id":"au","data":"AAAA","expires_at":1},"tool_calls":[]})")
            .message == R"({"role":"assistant","content":"a","audio":{"id":"au"}})");
  CHECK(read(R"({"content":"a","tool_calls":null})").message ==
        R"({"role":"assistant","content":"a"})");
  // Without calls it must have content; with calls it need not.
  CHECK(read(R"({"role":"assistant","content":null})").message ==
        R"({"role":"assistant","content":""})");
  CHECK(read(R"({"content":null,"tool_calls":[)" + call("c") + "]}").message ==
        R"({"role":"assistant","content":null,"tool_calls":[)" + call("c") + "]}");
}

TEST_CASE("a completion's content is null, a text or parts") {
  CHECK(read(R"({"content":null})").text == "");
  CHECK(read(R"({"content":"a"})").text == "a");
  CHECK(
      read(
          R"({"content":[{"type":"text","text":"a"},{"type":"image"},{"type":"text","text":"b"}]})")
          .text == "ab");
  CHECK(complaint(body_with(R"({"content":5})", "null")) == "has a message without content");
  CHECK(complaint(body_with(R"({"role":"assistant"})", "null")) == "has a message without content");
}

TEST_CASE("arguments are kept as the model wrote them, be they JSON or not") {
  const auto input = [](const std::string& arguments) {
    return read(R"({"tool_calls":[)" + call("c", arguments) + "]}").calls.at(0).input;
  };
  CHECK(input(R"({"a": )") == R"({"a": )");
  CHECK(input("not json") == "not json");
  CHECK(input("") == "{}");
}

TEST_CASE("why a completion ended") {
  const std::string text = R"({"content":"a"})";
  const std::string calls = R"({"content":null,"tool_calls":[)" + call("c") + "]}";
  CHECK(read(text, R"("stop")").stop == ModelStop::done);
  CHECK(read(text, R"("length")").stop == ModelStop::max_tokens);
  CHECK(read(text, R"("content_filter")").stop == ModelStop::refusal);
  CHECK(read(text, R"("tool_calls")").stop == ModelStop::done);
  CHECK(read(text, R"("one_day_new")").stop == ModelStop::done);
  CHECK(read(text, "null").stop == ModelStop::done);
  CHECK(read(calls, R"("tool_calls")").stop == ModelStop::tools);
  CHECK(read(calls, R"("stop")").stop == ModelStop::tools);
  CHECK(read(calls, R"("length")").stop == ModelStop::max_tokens);
  const ModelReply refusal = read(R"({"content":null,"refusal":"I will not."})");
  CHECK(refusal.stop == ModelStop::refusal);
  CHECK(refusal.text == "I will not.");
  CHECK(read(R"({"content":"a","refusal":""})").stop == ModelStop::done);
}

TEST_CASE("what a completion took") {
  const auto usage = [](const std::string& json) {
    return read(R"({"content":"a"})", "null", ",\"usage\":" + json).usage;
  };
  const ModelUsage all = usage(
      R"({"prompt_tokens":100,"completion_tokens":7,"prompt_tokens_details":{"cached_tokens":64}})");
  CHECK(all.input_tokens == 100);
  CHECK(all.output_tokens == 7);
  CHECK(all.cached_tokens == 64);
  CHECK(
      usage(R"({"prompt_tokens":1,"prompt_tokens_details":{"cached_tokens":64}})").cached_tokens ==
      1);
  CHECK(usage(R"({"prompt_tokens":5,"prompt_tokens_details":null})").cached_tokens == 0);
  CHECK(usage(R"({"prompt_tokens":-5,"completion_tokens":1e18})").input_tokens == 0);
  CHECK(usage(R"({"prompt_tokens":-5,"completion_tokens":1e18})").output_tokens == 1'000'000'000);
  CHECK(usage("null").input_tokens == 0);
  CHECK(read(R"({"content":"a"})").usage.output_tokens == 0);
}

TEST_CASE("what is no completion is none") {
  for (const std::string body :
       {"", "null", "[]", "<html>", "{}", R"({"choices":null})", R"({"choices":[]})",
        R"({"choices":[null]})", R"({"choices":[{}]})", R"({"choices":[{"message":null}]})",
        R"({"choices":{"message":{"content":"a"}}})", R"({"error":{"message":"no"}})",
        "{\"choices\":[{\"message\":{\"content\":\"\xff\"}}]}"}) {
    CAPTURE(body);
    CHECK(complaint(body) != "");
  }
  const auto of_calls = [](const std::string& calls) {
    return complaint(body_with(R"({"tool_calls":)" + calls + "}", "null"));
  };
  CHECK(of_calls("[" + call("a") + "," + call("b") + "]") == "");
  CHECK(of_calls("[" + call("a") + "," + call("a") + "]") == "has two tool calls with the id a");
  CHECK(of_calls("[" + call("") + "]") == "has a tool call without an id of 1 to 256 bytes");
  CHECK(of_calls(R"([{"type":"function","function":{"name":"n","arguments":"{}"}}])") != "");
  CHECK(of_calls(R"([{"id":"c","type":"custom","custom":{"name":"n","input":""}}])") ==
        "has a tool call without a name");
  CHECK(of_calls("5") == "has tool_calls that are no list");
  CHECK(of_calls("[5]") != "");
  CHECK(complaint(body_with(R"({"content":)" + std::string(46, '[') + std::string(46, ']') + "}",
                            "null")) == "is nested deeper than 48 levels");
}

TEST_CASE("names with escapes hide nothing from the message that goes back") {
  CHECK(complaint(body_with("{\"tool\\u005fcalls\":[" + call("c") + "]}", "null")) != "");
  CHECK(complaint("{\"choices\":[{\"m\\u0065ssage\":{\"content\":\"a\"}}]}") != "");
}

TEST_CASE("each result is a message of its own to chat completions, and an error says so") {
  const auto messages = provider.result_messages({{"c1", "3", false}, {"c2", "no", true}});
  REQUIRE(messages.size() == 2);
  CHECK(messages[0] == R"({"role":"tool","tool_call_id":"c1","content":"3"})");
  CHECK(messages[1] == R"({"role":"tool","tool_call_id":"c2","content":"Error: no"})");
  CHECK(provider.user_messages({"a", "b"}).size() == 2);
}

TEST_CASE("the words of chat completions for a conversation that is too long") {
  CHECK(provider.is_context_full(
      400, R"({"error":{"message":"too many","code":"context_length_exceeded"}})"));
  CHECK(provider.is_context_full(
      400, R"({"error":{"message":"This model's maximum context length is 4096 tokens."}})"));
  CHECK(provider.is_context_full(400, R"({"error":{"type":"exceed_context_size_error"}})"));
  CHECK_FALSE(provider.is_context_full(400, R"({"error":{"message":"no","code":"other"}})"));
  CHECK_FALSE(provider.is_context_full(
      500, R"({"error":{"message":"no","code":"context_length_exceeded"}})"));
}

}  // namespace
}  // namespace holdpoint
