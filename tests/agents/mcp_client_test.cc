#include "agents/llm/mcp_client.h"

#include <thread>

#include "tests/agents/toolbox.h"

namespace holdpoint {
namespace {

using namespace std::chrono_literals;
using test::FakeHttp;
using test::ToolAgent;

HttpResponse json(const std::string& body) {
  return {200, "", body, std::nullopt, {{"content-type", "application/json"}}};
}
HttpResponse stream(const std::string& body) {
  return {200, "", body, std::nullopt, {{"content-type", "text/event-stream; charset=utf-8"}}};
}
HttpResponse status(int code, const std::string& body = "") {
  return {code, "", body, std::nullopt};
}

// `@` stands for the id of the request.
std::string with_id(std::string text, const Json& request) {
  for (auto at = text.find('@'); at != std::string::npos; at = text.find('@')) {
    text.replace(at, 1, request.value("id", Json(0)).dump());
  }
  return text;
}

constexpr const char* kTools =
    R"({"jsonrpc":"2.0","id":@,"result":{"tools":[{"name":"search","description":"Finds.",)"
    R"("inputSchema":{"type":"object","properties":{"z":{},"a":{}}}},)"
    R"({"name":"read.file","inputSchema":{"properties":{}}},{"name":"bad","inputSchema":[]},)"
    R"({"name":"","inputSchema":{"type":"object"}},{"name":"text","inputSchema":{"type":"string"}},)"
    R"(5]}})";

// A server that does as the test says, but for its handshake.
class Server {
 public:
  Server() {
    http.respond = [this](const HttpRequest& request) {
      const Json message = Json::parse(request.body);
      const std::string method = message["method"];
      methods.with([&](auto& all) { all.push_back(method); });
      HttpResponse response = respond(method, message, request);
      response.body = with_id(response.body, message);
      return response;
    };
    context.cancelled = [] { return false; };
  }

  HttpResponse respond(const std::string& method, const Json& message, const HttpRequest& request) {
    if (method == "initialize") return initialize(request);
    if (method == "notifications/initialized") return status(202);
    return on(method, message);
  }
  std::vector<std::string> seen() {
    return methods.with([](auto& all) { return all; });
  }
  // Why its tools could not be listed.
  std::string listing_failure() {
    try {
      client.tools(9s, context);
    } catch (const TurnFailed& e) {
      CHECK(e.retryable());
      return e.what();
    }
    return "";
  }
  ToolResult call() { return client.call("search", R"({"q":1})", "s:1:c", 9s, context); }
  std::string call_error() {
    const ToolResult result = call();
    CHECK(result.is_error);
    return result.content;
  }

  std::function<HttpResponse(const HttpRequest&)> initialize = [](const HttpRequest&) {
    HttpResponse response = json(
        R"({"jsonrpc":"2.0","id":@,"result":{"protocolVersion":"2025-06-18","capabilities":{}}})");
    response.headers["mcp-session-id"] = "one";
    return response;
  };
  std::function<HttpResponse(const std::string& method, const Json& message)> on =
      [](const std::string&, const Json&) { return json(kTools); };
  FakeHttp http;
  TurnContext context;
  std::chrono::steady_clock::time_point now{};
  Guarded<std::vector<std::string>> methods;
  McpClient client{http, McpServer{"hub", "http://h/mcp", {{"X-Key", Secret("k")}}, {}, 9s},
                   [this] { return now; }};
};

TEST_CASE("the handshake goes as the protocol says, and each request carries what came of it") {
  Server server;
  server.on = [](const std::string& method, const Json& message) {
    if (method == "tools/list") return json(kTools);
    CHECK(message["params"] == Json::parse(R"({"name":"search","arguments":{"q":1},)"
                                           R"("_meta":{"holdpoint/call":"s:1:c"}})"));
    return json(R"({"jsonrpc":"2.0","id":@,"result":{"content":[{"type":"text","text":"hi"}]}})");
  };
  server.client.tools(9s, server.context);
  CHECK(server.call().content == "hi");
  CHECK(server.seen() == std::vector<std::string>{"initialize", "notifications/initialized",
                                                  "tools/list", "tools/call"});
  const auto calls = server.http.seen();
  const Json hello = Json::parse(calls[0].body);
  CHECK(hello["params"]["protocolVersion"] == "2025-06-18");
  CHECK(hello["params"]["clientInfo"]["name"] == "holdpoint");
  CHECK(calls[0].headers.count("Mcp-Session-Id") == 0);
  CHECK(calls[0].headers.count("MCP-Protocol-Version") == 0);
  CHECK_FALSE(Json::parse(calls[1].body).contains("id"));
  for (const auto& call : calls) {
    CHECK(call.url == "http://h/mcp");
    CHECK(call.method == "POST");
    CHECK(call.headers.at("X-Key") == "k");
    CHECK(call.headers.at("Accept") == "application/json, text/event-stream");
    CHECK(call.headers.at("Content-Type") == "application/json");
    CHECK(call.total_timeout == 9s);
    if (&call == &calls[0]) continue;
    CHECK(call.headers.at("Mcp-Session-Id") == "one");
    CHECK(call.headers.at("MCP-Protocol-Version") == "2025-06-18");
  }
}

TEST_CASE("a server may choose another version that we speak, and no other") {
  for (const std::string version : {"2025-03-26", "2025-06-18", "2025-11-25"}) {
    Server server;
    server.initialize = [&](const HttpRequest&) {
      return json(R"({"jsonrpc":"2.0","id":@,"result":{"protocolVersion":")" + version + "\"}}");
    };
    CHECK(server.listing_failure() == "");
    CHECK(server.http.seen().back().headers.at("MCP-Protocol-Version") == version);
    CHECK(server.http.seen().back().headers.count("Mcp-Session-Id") == 0);
  }
  Server server;
  server.initialize = [&](const HttpRequest&) {
    return json(R"({"jsonrpc":"2.0","id":@,"result":{"protocolVersion":"2024-11-05"}})");
  };
  CHECK(server.listing_failure().find("it speaks version \"2024-11-05\"") != std::string::npos);
}

TEST_CASE("tools are listed once in five minutes, page by page") {
  Server server;
  server.on = [](const std::string&, const Json& message) {
    const bool first = !message["params"].contains("cursor");
    if (!first) CHECK(message["params"]["cursor"] == "p2");
    return json(std::string(R"({"jsonrpc":"2.0","id":@,"result":{"tools":[{"name":")") +
                (first ? "a" : "b") + R"(","inputSchema":{"type":"object"}}])" +
                (first ? R"(,"nextCursor":"p2")" : "") + "}}");
  };
  CHECK_FALSE(server.client.known_tools());
  const auto tools = server.client.tools(9s, server.context);
  REQUIRE(tools->size() == 2);
  CHECK(tools->at(1).name == "b");
  CHECK(server.seen().size() == 4);
  server.now += 5min - 1ms;
  CHECK(server.client.tools(9s, server.context) == tools);
  CHECK(server.seen().size() == 4);
  server.now += 1ms;
  CHECK(server.client.tools(9s, server.context) != tools);
  CHECK(server.seen().size() == 6);
}

TEST_CASE("a listing without end is left where it has gone on for long enough") {
  Server server;
  server.on = [](const std::string&, const Json&) {
    return json(R"({"jsonrpc":"2.0","id":@,"result":{"tools":[],"nextCursor":"again"}})");
  };
  CHECK(server.client.tools(9s, server.context)->empty());
  CHECK(server.seen().size() == 2 + 20);
  Server many;
  many.on = [](const std::string&, const Json&) {
    std::string tools;
    for (int i = 0; i < 300; ++i) {
      tools += std::string(i ? "," : "") + R"({"name":"t","inputSchema":{"type":"object"}})";
    }
    return json(R"({"jsonrpc":"2.0","id":@,"result":{"tools":[)" + tools +
                R"(],"nextCursor":"again"}})");
  };
  CHECK(many.client.tools(9s, many.context)->size() == 500);
  CHECK(many.seen().size() == 2 + 2);
}

TEST_CASE("a tool without a name or without an object's schema is left out") {
  Server server;
  const auto tools = server.client.tools(9s, server.context);
  REQUIRE(tools->size() == 2);
  CHECK(tools->at(0).name == "search");
  CHECK(tools->at(0).description == "Finds.");
  CHECK(tools->at(0).schema == R"({"type":"object","properties":{"z":{},"a":{}}})");
  CHECK(tools->at(1).name == "read.file");
  CHECK(tools->at(1).schema == R"({"properties":{},"type":"object"})");
}

TEST_CASE("whatever a server answers instead of tools fails the turn, and it may be tried again") {
  for (const auto& [response, reason] : std::vector<std::pair<HttpResponse, std::string>>{
           {json("<html>"), "is not valid JSON"},
           {json(""), "is empty where JSON is expected"},
           {json("null"), "no response to our request"},
           {json(std::string(100'000, '[')), "is nested deeper"},
           {json("{\"id\":@,\"result\":\"\xff\"}"), "is not valid JSON"},
           {json(R"({"jsonrpc":"2.0","id":99,"result":{"tools":[]}})"), "no response to our"},
           {json(R"({"jsonrpc":"2.0","id":"@","result":{"tools":[]}})"), "no response to our"},
           {json(R"({"jsonrpc":"2.0","id":@})"), "neither a result nor an error"},
           {json(R"({"jsonrpc":"2.0","id":@,"method":"ping"})"), "no response to our request"},
           {json(R"({"jsonrpc":"2.0","id":@,"result":{"tools":5}})"), "has no list of tools"},
           {json(R"({"jsonrpc":"2.0","id":@,"result":[]})"), "has no list of tools"},
           {json(R"([[[{"jsonrpc":"2.0","id":@,"result":{"tools":[]}}]]])"), "no response to our"},
           {json(R"({"id":@,"error":{"code":-32601,"message":"no tools here"}})"),
            "an error: no tools here"},
           {json(R"({"id":@,"error":null})"), "an error: null"},
           {json(R"({"id":@,"error":{"message":5}})"), "an error: {\"message\":5}"},
           {stream(""), "no response to our request"},
           {stream("data: {\"id\":@,\"result\":{\"tools\":[]}}\n"), "no response to our"},
           {stream("event: x\nid: 5\nretry: 1\n:\n\ndata\n\ndata: nope\n\n\xff\xfe\n\n"),
            "no response to our request"},
           {stream("data: {\"id\":@,\"error\":{\"message\":\"broken\"}}\n\n"), "an error: broken"},
           {status(500, "down\xff"), "HTTP 500: down\uFFFD"},
           {status(500), "HTTP 500"},
           {status(401, R"({"error":"invalid_token"})"), "HTTP 401: \"invalid_token\""},
           {status(403, R"({"error":{"message":"not you"}})"), "HTTP 403: not you"},
           {status(302), "HTTP 302"},
           {status(202), "is empty where JSON is expected"},
           {{200, "the response has more than 4194304 bytes", "{", std::nullopt},
            "more than 4194304 bytes"},
           {{0, "connection refused", "", std::nullopt}, "connection refused"}}) {
    CAPTURE(response.body.substr(0, 200));
    Server server;
    server.on = [&](const std::string&, const Json&) { return response; };
    const std::string got = server.listing_failure();
    CAPTURE(got);
    CHECK(got.starts_with("the MCP server at http://h/mcp did not list its tools: "));
    CHECK(got.find(reason) != std::string::npos);
    Server unfriendly;
    unfriendly.initialize = [&](const HttpRequest&) { return response; };
    CHECK(unfriendly.listing_failure() != "");
    CHECK(unfriendly.seen() == std::vector<std::string>{"initialize"});
  }
}

TEST_CASE("whatever a server answers to a call is a result") {
  for (const auto& response :
       std::vector<HttpResponse>{json("<html>"),
                                 json(R"({"id":@,"result":[]})"),
                                 json(R"({"id":7000,"result":{}})"),
                                 json(R"({"id":@,"error":{"code":-32602,"message":"no"}})"),
                                 stream("data: x\n\n"),
                                 status(500, "down"),
                                 {0, "timed out", "", std::nullopt}}) {
    Server server;
    server.on = [&](const std::string&, const Json&) { return response; };
    CHECK(server.call_error().starts_with("the MCP server did not do it: "));
  }
  Server server;
  server.initialize = [](const HttpRequest&) { return status(503); };
  CHECK(server.call_error() == "the MCP server did not do it: it answered with HTTP 503");
}

TEST_CASE("the response is found in a stream among all else that is said there") {
  Server server;
  server.on = [](const std::string&, const Json&) {
    return stream(
        "\xef\xbb\xbf: hello\r\nevent: message\r\ndata: "
        "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\"}\r\n\r\n"
        "data: {\"jsonrpc\":\"2.0\",\"id\":@,\"method\":\"sampling/createMessage\"}\n\n"
        "data: {\"jsonrpc\":\"2.0\",\"id\":12345,\"result\":{\"content\":[]}}\n\n"
        "data: garbage\n\nid: 7\ndata:{\"jsonrpc\":\"2.0\",\"id\":@,\ndata: "
        "\"result\":{\"content\":"
        "[{\"type\":\"text\",\"text\":\"found\"}]}}\n\n"
        "data: {\"jsonrpc\":\"2.0\",\"id\":@,\"result\":{\"content\":[{\"type\":\"text\",\"text\":"
        "\"late\"}]}}\n\n");
  };
  CHECK(server.call().content == "found");
}

TEST_CASE("a stream that stays open has said what it has said") {
  Server server;
  HttpResponse response = stream(
      "data: {\"id\":@,\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"yes\"}]}}\n\n");
  response.status = 0;
  response.error = "timed out";
  server.on = [&](const std::string&, const Json&) { return response; };
  CHECK(server.call().content == "yes");
  response.body = "data: {\"id\":";
  CHECK(server.call_error().find("timed out") != std::string::npos);
}

TEST_CASE("the response is found in a list of messages") {
  Server server;
  server.on = [](const std::string&, const Json&) {
    return json(R"([{"method":"x"},5,{"id":@,"result":{"content":[{"type":"text","text":"y"}]}}])");
  };
  CHECK(server.call().content == "y");
}

TEST_CASE("what a call returns is text for the model") {
  for (const auto& [result, content, is_error] :
       std::vector<std::tuple<std::string, std::string, bool>>{
           {R"({"content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]})", "a\nb",
            false},
           {R"({"content":[{"type":"text","text":"no"}],"isError":true})", "no", true},
           {R"({"content":[],"structuredContent":{"z":1,"a":2}})", R"({"z":1,"a":2})", false},
           {R"({"content":[{"type":"text","text":"t"}],"structuredContent":{"a":1}})", "t", false},
           {R"({"content":[{"type":"image","mimeType":"image/png","data":"QUJDRA=="}]})",
            "[image image/png, 4 bytes]", false},
           {R"({"content":[{"type":"audio","data":"===="},{"type":"hologram"},7,{"type":5}]})",
            "[audio, 1 bytes]\n[hologram]\n[something]\n[something]", false},
           {R"({"content":[{"type":"resource_link","uri":"file:///a","name":"A"}]})",
            "[resource_link A file:///a]", false},
           {R"({"content":[{"type":"resource","resource":{"uri":"u:1","text":"in"}}]})",
            "[resource u:1]\nin", false},
           {R"({"content":[{"type":"resource","resource":5}]})", "[resource]", false},
           {R"({})", "(no content)", false},
           {R"({"content":"x","isError":"x"})", "(no content)", false}}) {
    CAPTURE(result);
    Server server;
    const std::string body = R"({"jsonrpc":"2.0","id":@,"result":)" + result + "}";
    server.on = [&](const std::string&, const Json&) { return json(body); };
    const ToolResult got = server.call();
    CHECK(got.content == content);
    CHECK(got.is_error == is_error);
  }
}

TEST_CASE("a session that the server has forgotten is begun again, once") {
  for (const int code : {404, 400}) {
    Server server;
    int sessions = 0;
    server.initialize = [&](const HttpRequest& request) {
      CHECK(request.headers.count("Mcp-Session-Id") == 0);
      HttpResponse response =
          json(R"({"jsonrpc":"2.0","id":@,"result":{"protocolVersion":"2025-06-18"}})");
      response.headers["mcp-session-id"] = "s" + std::to_string(++sessions);
      return response;
    };
    bool lost = false;
    server.on = [&](const std::string&, const Json&) {
      if (lost && server.http.seen().back().headers.at("Mcp-Session-Id") == "s1")
        return status(code);
      return json(R"({"id":@,"result":{"content":[{"type":"text","text":"ok"}]}})");
    };
    CHECK(server.call().content == "ok");
    lost = true;
    CHECK(server.call().content == "ok");
    CHECK(sessions == 2);
    server.on = [&](const std::string&, const Json&) { return status(code, "gone"); };
    CHECK(server.call_error().find("HTTP " + std::to_string(code) + ": gone") != std::string::npos);
    CHECK(sessions == 3);
  }
}

TEST_CASE("without a session a 404 is just that") {
  Server server;
  server.initialize = [](const HttpRequest&) {
    return json(R"({"id":@,"result":{"protocolVersion":"2025-06-18"}})");
  };
  server.on = [](const std::string&, const Json&) { return status(404); };
  CHECK(server.call_error().find("HTTP 404") != std::string::npos);
  CHECK(server.seen() ==
        std::vector<std::string>{"initialize", "notifications/initialized", "tools/call"});
}

TEST_CASE("a session id that would end its header is refused") {
  Server server;
  server.initialize = [](const HttpRequest&) {
    HttpResponse response = json(R"({"id":@,"result":{"protocolVersion":"2025-06-18"}})");
    response.headers["mcp-session-id"] = "a\r\nX: y";
    return response;
  };
  CHECK(server.listing_failure().find("its session id is not printable ASCII") !=
        std::string::npos);
}

TEST_CASE("a turn that is stopped stops the call, and there is no result") {
  Server server;
  bool stopped = false;
  server.context.cancelled = [&] { return stopped; };
  server.on = [&](const std::string&, const Json&) {
    CHECK_FALSE(server.http.seen().back().cancelled());
    stopped = true;
    CHECK(server.http.seen().back().cancelled());
    return HttpResponse{0, "aborted", "", std::nullopt};
  };
  CHECK_THROWS_WITH_AS(server.call(), "the turn was stopped", TurnFailed);
}

TEST_CASE("many threads may use one server at once") {
  Server server;
  server.on = [](const std::string& method, const Json&) {
    if (method == "tools/list") return json(kTools);
    return json(R"({"id":@,"result":{"content":[{"type":"text","text":"ok"}]}})");
  };
  std::atomic<int> good = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      for (int k = 0; k < 20; ++k) {
        good +=
            server.client.tools(9s, server.context)->size() == 2 && server.call().content == "ok";
      }
    });
  }
  for (auto& thread : threads) thread.join();
  CHECK(good == 160);
}

}  // namespace
}  // namespace holdpoint
