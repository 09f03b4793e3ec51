#include "agents/llm/http_tool.h"

#include "domain/text.h"
#include "tests/agents/toolbox.h"

namespace holdpoint {
namespace {

using namespace std::chrono_literals;
using test::ToolAgent;

// A tool `t` with this method and URL; `a`, `b` and `c` may be anything.
std::string tool(const std::string& method, const std::string& url) {
  return "tools:\n  - name: t\n    description: Does.\n    timeout: 7\n"
         "    input: {type: object, properties: {a: {}, b: {}, c: {}}}\n    http: {method: " +
         method + ", url: \"" + url + "\", headers: {X-Key: k, accept: text/csv}}";
}
std::string url_of(const std::string& url, const std::string& input) {
  ToolAgent agent(tool("GET", url));
  agent.run("t", input);
  return agent.http.seen().size() == 1 ? agent.http.seen()[0].url : "";
}

TEST_CASE("an http tool gets its input, the agent's headers and the key of the call") {
  ToolAgent agent(tool("POST", "http://h/x/{a}"));
  agent.http.respond = [](const HttpRequest&) {
    return HttpResponse{201, "", R"({"done":true})", std::nullopt};
  };
  CHECK(agent.content_of("t", R"({"b":[1,{"x":null}],"a":"7"})") == R"({"done":true})");
  REQUIRE(agent.http.seen().size() == 1);
  const HttpRequest sent = agent.http.seen()[0];
  CHECK(sent.method == "POST");
  CHECK(sent.url == "http://h/x/7");
  CHECK(Json::parse(sent.body) == Json::parse(R"({"a":"7","b":[1,{"x":null}]})"));
  CHECK(sent.headers == std::map<std::string, std::string>{{"Content-Type", "application/json"},
                                                           {"Idempotency-Key", "s-1:4:call_1"},
                                                           {"X-Key", "k"},
                                                           {"accept", "text/csv"}});
  CHECK(sent.total_timeout == 7s);
}

TEST_CASE("what the URL of a GET or DELETE has no place for goes into its query") {
  CHECK(url_of("http://h/{a}", R"({"a":1})") == "http://h/1");
  CHECK(url_of("http://h/{a}", R"({"a":1,"b":"x y","c":[1,"ü"]})") ==
        "http://h/1?b=x%20y&c=%5B1%2C%22%C3%BC%22%5D");
  CHECK(url_of("http://h/?q={a}", R"({"a":true,"b":1.5})") == "http://h/?q=true&b=1.5");
  CHECK(url_of("http://h/?", R"({"b":null})") == "http://h/?b=null");
  CHECK(url_of("http://h", R"({"b":"="})") == "http://h?b=%3D");
  CHECK(url_of("http://h/{a}#top", R"({"a":1,"b":2})") == "http://h/1?b=2");
  ToolAgent agent(tool("DELETE", "http://h/{a}"));
  agent.run("t", R"({"a":1,"b":2})");
  CHECK(agent.http.seen().at(0).method == "DELETE");
  CHECK(agent.http.seen().at(0).url == "http://h/1?b=2");
  CHECK(agent.http.seen().at(0).body == "");
}

TEST_CASE("a placeholder's value cannot leave its place in the URL") {
  CHECK(url_of("http://h/{a}/x", R"({"a":"../../b?c#d&e=f%2e@é{b}"})") ==
        "http://h/..%2F..%2Fb%3Fc%23d%26e%3Df%252e%40%C3%A9%7Bb%7D/x");
  for (const std::string value : {R"(["x"])", R"({"x":1})", "null"}) {
    ToolAgent agent(tool("GET", "http://h/{a}"));
    CHECK(agent.error_of("t", "{\"a\":" + value + "}") ==
          "a must be a string, a number or a boolean: it is a part of the URL");
    CHECK(agent.http.seen().empty());
  }
  for (const std::string value : {"", ".", "..", "..."}) {
    ToolAgent agent(tool("DELETE", "http://h/items/{a}"));
    CHECK(agent.error_of("t", "{\"a\":\"" + value + "\"}") ==
          "a must not be empty or dots alone: it is a part of the URL's path");
    CHECK(agent.http.seen().empty());
  }
  CHECK(url_of("http://h/?x={a}", R"({"a":""})") == "http://h/?x=");
  CHECK(ToolAgent(tool("GET", "http://h/{a}")).error_of("t", "{}") ==
        "a is missing: it is a part of the URL");
}

TEST_CASE("the key of a call cannot end its header") {
  ToolAgent agent(tool("GET", "http://h/"));
  agent.toolbox.run(agent.agent, {"x", "t", "{}"}, "s:1:a\r\nX: y %é", agent.context);
  CHECK(agent.http.seen().at(0).headers.at("Idempotency-Key") == "s:1:a%0D%0AX:%20y%20%25%C3%A9");
}

TEST_CASE("what the other side of an http tool says is told to the model") {
  const auto said = [](HttpResponse response) {
    ToolAgent agent(tool("GET", "http://h/"));
    agent.http.respond = [&](const HttpRequest&) { return response; };
    return agent.run("t", "{}");
  };
  const auto check = [&](HttpResponse response, bool is_error, const std::string& content) {
    const ToolResult result = said(std::move(response));
    CHECK(result.is_error == is_error);
    CHECK(result.content == content);
  };
  check({200, "", "text", std::nullopt}, false, "text");
  check({204, "", "", std::nullopt}, false, "HTTP 204");
  check({200, "", " \n", std::nullopt}, false, "HTTP 200");
  check({404, "", "no such thing", std::nullopt}, true, "HTTP 404: no such thing");
  check({500, "", "", std::nullopt}, true, "HTTP 500");
  check({302, "", "", std::nullopt}, true, "HTTP 302");
  check({0, "timed out", "", std::nullopt}, true, "the tool could not be reached: timed out");
  check({200, "", "a\xff", std::nullopt}, false, "a\uFFFD");
  // The client stops at its bound, and says so.
  const auto cut = said({200, "too much", std::string(400'004, 'x'), std::nullopt});
  CHECK_FALSE(cut.is_error);
  CHECK(cut.content ==
        std::string(100'000, 'x') + "\n[cut: the tool said more than 100000 characters]");
}

TEST_CASE("an input that does not fit is told to the model, and nobody is called") {
  ToolAgent agent(
      "tools:\n  - name: t\n    description: Does.\n    input: {type: object, properties: {n: "
      "{type: "
      "integer}}, required: [n]}\n    http: {url: \"http://h/{n}\"}");
  CHECK(agent.error_of("t", "{}") == "n is missing: it is required");
  CHECK(agent.error_of("t", R"({"n":"1"})") == "n must be of type integer, not string");
  CHECK(agent.error_of("t", "{\"n\":").starts_with("the input is not valid JSON"));
  CHECK(agent.error_of("t", "[1]") == "the input must be a JSON object");
  CHECK(agent.http.seen().empty());
}

TEST_CASE("a turn that is stopped stops its http tool, and there is no result") {
  ToolAgent agent(tool("GET", "http://h/"));
  bool stopped = false;
  agent.stopped = [&] { return stopped; };
  agent.http.respond = [&](const HttpRequest& request) {
    CHECK_FALSE(request.cancelled());
    stopped = true;
    CHECK(request.cancelled());
    return HttpResponse{0, "aborted", "", std::nullopt};
  };
  CHECK_THROWS_WITH_AS(agent.toolbox.run(agent.agent, {"x", "t", "{}"}, "k", agent.context),
                       "the turn was stopped", TurnFailed);
}

TEST_CASE("a tool that the agent does not have is nobody's to run") {
  ToolAgent agent(tool("GET", "http://h/"));
  CHECK_FALSE(agent.toolbox.run(agent.agent, {"x", "other", "{"}, "k", agent.context));
  CHECK_FALSE(agent.toolbox.run(agent.agent, {"x", "hub__search", "{}"}, "k", agent.context));
  CHECK(agent.toolbox.offered(agent.agent, agent.context).size() == 1);
}

}  // namespace
}  // namespace holdpoint
