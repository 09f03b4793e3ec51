#include <doctest/doctest.h>

#include "tests/http/mcp_site.h"

using namespace holdpoint;
using namespace holdpoint::test;

TEST_CASE("a client gets the revision that it wants, or the newest with sessions") {
  McpSite site;
  for (const auto& [wanted, given] :
       std::vector<std::pair<std::string, std::string>>{{"2025-06-18", "2025-06-18"},
                                                        {"2025-11-25", "2025-11-25"},
                                                        {"2024-11-05", "2025-11-25"},
                                                        {"2031-01-01", "2025-11-25"}}) {
    const Response response =
        site.request("initialize", R"({"protocolVersion":")" + wanted + R"(","capabilities":{}})");
    const Json result = Json::parse(response.body)["result"];
    CHECK(result["protocolVersion"] == given);
    CHECK(result["capabilities"].contains("tools"));
    CHECK(result["serverInfo"]["name"] == "holdpoint");
  }
  const Response response = site.request("initialize", "{}");
  CHECK(Json::parse(response.body)["error"]["code"] == -32602);
  CHECK(header_of(response, "Mcp-Session-Id").empty());
}

TEST_CASE("a session is known to every server with the same secret, and to no other") {
  McpSite first, same, other({}, "another");
  first.open();
  same.session = other.session = first.session;
  CHECK(same.request("ping").status == 200);
  CHECK(other.request("ping").status == 404);
  same.session += "x";
  CHECK(same.request("ping").status == 404);
  same.session.clear();
  const Response missing = same.request("ping");
  CHECK(missing.status == 400);
  CHECK(missing.body.find("Mcp-Session-Id") != std::string::npos);
}

TEST_CASE("a session belongs to the key that opened it") {
  McpSite site;
  const std::string first = site.site.key({"questions:ask"});
  const std::string second = site.site.key({"questions:ask"});
  site.key = first;
  site.open();
  CHECK(site.request("ping").status == 200);
  site.key = second;
  CHECK(site.request("ping").status == 404);
  site.key = site.site.key({"questions:read", "questions:answer"});
  CHECK(site.request("ping").status == 403);
  site.key.clear();
  CHECK(site.request("ping").status == 401);
}

TEST_CASE("a session that was ended is over, and others are not") {
  McpSite site;
  site.open();
  const std::string ended = site.session;
  Call end{"DELETE", "/mcp", {{"Mcp-Session-Id", ended}}, "", "127.0.0.1"};
  CHECK(site.send(end).status == 200);
  CHECK(site.send(end).status == 404);
  CHECK(site.request("ping").status == 404);
  site.open();
  CHECK(site.request("ping").status == 200);
  CHECK(site.send(Call{"DELETE", "/mcp", {}, "", "127.0.0.1"}).status == 400);
}

TEST_CASE("a revision that is not ours is refused with those that are") {
  McpSite site;
  site.open();
  Call call = site.message(R"({"jsonrpc":"2.0","id":1,"method":"ping"})");
  const Response known = site.send(Call(call).with("MCP-Protocol-Version", "2025-06-18"));
  CHECK(known.status == 200);
  const Response unknown = site.send(Call(call).with("MCP-Protocol-Version", "2024-11-05"));
  CHECK(unknown.status == 400);
  const Json error = Json::parse(unknown.body)["error"];
  CHECK(error["code"] == -32022);
  CHECK(error["data"]["supported"] == Json({"2025-06-18", "2025-11-25", "2026-07-28"}));
}

TEST_CASE("pages of other sites do not get in, unless they are listed") {
  McpDesk::Options options;
  options.allowed_origins = {"https://app.example"};
  options.allowed_hosts = {"holdpoint:8080"};
  McpSite site(options);
  site.key = site.site.key({"questions:ask"});  // While the server is open its gate lets none in.
  const Call call = site.message(
      R"({"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25"}})");
  const auto status = [&](const std::string& name, const std::string& value) {
    return site.send(Call(call).with(name, value)).status;
  };
  CHECK(status("Origin", "https://evil.example") == 403);
  CHECK(status("Origin", "null") == 403);
  CHECK(status("Origin", "https://app.example.evil.example") == 403);
  CHECK(status("Origin", "http://localhost:8080") == 200);
  CHECK(status("Origin", "HTTPS://APP.example") == 200);
  CHECK(
      site.send(
              Call(call).with("Origin", "https://app.example").with("Origin", "https://x.example"))
          .status == 403);
  CHECK(status("Host", "evil.example") == 403);
  CHECK(status("Host", "evil.example:8080") == 403);
  CHECK(status("Host", "holdpoint:8080") == 200);
  CHECK(status("Host", "127.0.0.1:8080") == 200);
  CHECK(status("Host", "[::1]:8080") == 200);
}

TEST_CASE("what is no message is a 400 that says why, and batches are not taken") {
  McpSite site;
  site.open();
  CHECK(site.send("nonsense").status == 400);
  CHECK(Json::parse(site.send("nonsense").body)["error"]["code"] == -32700);
  const Response batch = site.send(R"([{"jsonrpc":"2.0","id":1,"method":"ping"}])");
  CHECK(batch.status == 400);
  CHECK(batch.body.find("batches") != std::string::npos);
  const Response unknown = site.request("resources/list", "{}", "\"seven\"");
  CHECK(unknown.status == 200);
  CHECK(Json::parse(unknown.body)["id"] == "seven");
  CHECK(Json::parse(unknown.body)["error"]["code"] == -32601);
  for (const char* params :
       {R"({"_meta":5})", R"({"_meta":[],"name":"get_answer"})", R"({"name":7})",
        R"({"name":"get_answer","arguments":[]})",
        R"({"name":"get_answer","arguments":null,"_meta":{"progressToken":{}}})"}) {
    CAPTURE(params);
    const Json reply = Json::parse(site.request("tools/call", params).body);
    CHECK((reply.contains("error") || reply["result"]["isError"] == true));
  }
}

TEST_CASE("notifications and answers that nobody waits for are taken") {
  McpSite site;
  site.open();
  for (const char* body :
       {R"({"jsonrpc":"2.0","method":"notifications/initialized"})",
        R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":99}})",
        R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":{}}})",
        R"({"jsonrpc":"2.0","method":"notifications/whatever","params":{}})",
        R"({"jsonrpc":"2.0","id":"form-1","result":{"action":"accept"}})"}) {
    const Response response = site.send(body);
    CHECK(response.status == 202);
    CHECK(response.body.empty());
  }
}

TEST_CASE("there is no stream to listen to but those that broke") {
  McpSite site;
  site.open();
  Call listen{"GET",
              "/mcp",
              {{"Accept", "text/event-stream"}, {"Mcp-Session-Id", site.session}},
              "",
              "127.0.0.1"};
  const Response response = site.send(listen);
  CHECK(response.status == 405);
  CHECK(header_of(response, "Allow") == "POST, DELETE");
  CHECK(site.send(Call(listen).with("Last-Event-ID", "1")).status == 404);
}

TEST_CASE("without a desk there is no such route") {
  Site site;
  CHECK(site.send(post("/mcp").json("{}")).status == 404);
}
