#include <doctest/doctest.h>

#include "tests/http/mcp_site.h"

using namespace holdpoint;
using namespace holdpoint::test;
using namespace std::chrono_literals;

namespace {

const std::string kForms = R"({"elicitation":{"form":{}}})";
const std::string kTasks = R"({"extensions":{"io.modelcontextprotocol/tasks":{}}})";

// A request as the revision wants it; `params` is an object without its `_meta`.
Call stateless(const McpSite& site, const std::string& method, const std::string& params,
               const std::string& name = "", const std::string& capabilities = "{}") {
  const std::string meta =
      R"("_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":)" +
      capabilities + "}";
  Call call =
      site.message(R"({"jsonrpc":"2.0","id":1,"method":")" + method + R"(","params":)" +
                   params.substr(0, params.size() - 1) + (params == "{}" ? "" : ",") + meta + "}}");
  call.with("MCP-Protocol-Version", "2026-07-28").with("Mcp-Method", method);
  if (!name.empty()) call.with("Mcp-Name", name);
  return call;
}

Response ask(McpSite& site, const std::string& arguments, const std::string& more = "",
             const std::string& capabilities = "{}") {
  return site.send(stateless(site, "tools/call",
                             R"({"name":"ask_user_question","arguments":)" + arguments + more + "}",
                             "ask_user_question", capabilities));
}

Json result_of(const Response& response) {
  const Json json = Json::parse(response.body);
  CAPTURE(response.body);
  REQUIRE(json.contains("result"));
  return json["result"];
}

Json task(McpSite& site, const std::string& method, const std::string& id,
          const std::string& capabilities = kTasks) {
  return Json::parse(
      site.send(stateless(site, method, R"({"taskId":")" + id + "\"}", id, capabilities)).body);
}

}  // namespace

TEST_CASE("without a session a client discovers us, and every result says whose it is") {
  McpSite site;
  const Json found = result_of(site.send(stateless(site, "server/discover", "{}")));
  CHECK(found["supportedVersions"].back() == "2026-07-28");
  CHECK(found["resultType"] == "complete");
  CHECK(found["_meta"]["io.modelcontextprotocol/serverInfo"]["name"] == "holdpoint");
  const Json tools = result_of(site.send(stateless(site, "tools/list", "{}")));
  CHECK(tools["tools"].size() == 5);
  CHECK(tools["ttlMs"] > 0);
}

TEST_CASE("what headers and body must both say is compared") {
  McpSite site;
  const auto code = [&](Call call) {
    const Response response = site.send(std::move(call));
    CHECK(response.status >= 400);
    return Json::parse(response.body)["error"]["code"].get<int>();
  };
  const auto without = [](Call call, const std::string& name) {
    std::erase_if(call.headers, [&](const auto& header) { return header.first == name; });
    return call;
  };
  const Call good = stateless(site, "tools/call", R"({"name":"get_answer"})", "get_answer");
  CHECK(site.send(good).status == 200);
  CHECK(code(without(good, "Mcp-Method")) == -32020);
  CHECK(code(without(good, "Mcp-Name")) == -32020);
  CHECK(code(without(good, "MCP-Protocol-Version")) == -32020);
  CHECK(code(Call(good).with("Mcp-Name", "get_answer")) == -32020);
  CHECK(code(without(good, "Mcp-Name").with("Mcp-Name", "ask_user_question")) == -32020);
  Call bare = site.message(R"({"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}})");
  CHECK(code(Call(bare).with("MCP-Protocol-Version", "2026-07-28")) == -32602);
  CHECK(code(stateless(site, "tasks/result", R"({"taskId":"x"})", "", kTasks)) == -32601);
  CHECK(code(stateless(site, "ping", "{}")) == -32601);
}

TEST_CASE("a client that hangs up has cancelled, and one whose server stops has not") {
  for (const bool stops : {false, true}) {
    McpSite site;
    {
      const Response response = ask(site, ask_with(R"("on_cancel":"withdraw")"));
      CHECK(write_next(response).text.find("id: ") == std::string::npos);
      CHECK(site.last_question().status == QuestionStatus::pending);
      if (stops) site.site.world.process().journal.close();
    }
    CHECK(site.last_question().status ==
          (stops ? QuestionStatus::pending : QuestionStatus::cancelled));
  }
}

TEST_CASE("a call that a stop breaks off is told where its question stands") {
  McpSite site;
  const Response response = ask(site, kAsk);
  write_next(response);
  site.site.world.process().journal.close();
  const Written end = write_next(response);
  CHECK_FALSE(end.more);
  const Json result = messages_in(end.text).at(0)["result"];
  CHECK(result["structuredContent"]["status"] == "pending");
  CHECK(result["structuredContent"]["id"] == site.last_question().session_id.text());
}

TEST_CASE("a form is asked for by a result, and comes back with the next call") {
  McpSite site;
  const std::string arguments = ask_with(R"("elicit":true)");
  const Json wanted = result_of(ask(site, arguments, "", kForms));
  CHECK(wanted["resultType"] == "input_required");
  CHECK(wanted["inputRequests"]["answer"]["method"] == "elicitation/create");
  const std::string state = wanted["requestState"].get<std::string>();
  const auto with = [&](const std::string& words, const std::string& given) {
    return R"(,"inputResponses":{"answer":)" + words + R"(},"requestState":")" + given + "\"";
  };
  const std::string yes = R"({"action":"accept","content":{"answer1":"Yes"}})";
  const Json answered = result_of(ask(site, arguments, with(yes, state), kForms));
  CHECK(answered["structuredContent"]["answered_via"] == "elicitation");
  CHECK(site.asked() == 0);
  const auto refused = [&](const Response& response) {
    return Json::parse(response.body)["error"]["code"] == -32602;
  };
  CHECK(refused(ask(site, arguments, with(yes, state + "x"), kForms)));
  CHECK(refused(ask(site, ask_with(R"("elicit":true,"dedupe":true)"), with(yes, state), kForms)));
  CHECK(refused(ask(site, arguments, with("7", state), kForms)));
  site.site.world.clock.advance(25h);
  CHECK(refused(ask(site, arguments, with(yes, state), kForms)));
  CHECK(site.asked() == 0);
}

TEST_CASE("a form that was declined leads to people, and one that cannot be shown too") {
  McpSite site;
  const std::string arguments = ask_with(R"("elicit":true)");
  const Response declined =
      ask(site, arguments, R"(,"inputResponses":{"answer":{"action":"decline"}})", kForms);
  CHECK(site.asked() == 1);
  const Response unable = ask(site, arguments);
  CHECK(site.asked() == 2);
}

TEST_CASE("an ask is a task for those who know tasks, and the row is all that there is of it") {
  McpSite site;
  const Json made = result_of(ask(site, kAsk, "", kTasks));
  CHECK(made["resultType"] == "task");
  CHECK(made["status"] == "working");
  const std::string id = made["taskId"].get<std::string>();
  CHECK(task(site, "tasks/get", id)["result"]["status"] == "working");
  CHECK(task(site, "tasks/get", id, "{}")["error"]["code"] == -32021);
  CHECK(task(site, "tasks/get", "01890000-0000-7000-8000-000000000000")["error"]["code"] == -32602);
  site.site.world.answer(SessionId(id), "Yes");
  const Json done = task(site, "tasks/get", id)["result"];
  CHECK(done["status"] == "completed");
  CHECK(done["result"]["structuredContent"]["answers"]["Go on?"] == "Yes");
  // What is over stays so.
  CHECK(task(site, "tasks/cancel", id)["result"]["resultType"] == "complete");
  CHECK(task(site, "tasks/get", id)["result"]["status"] == "completed");
}

TEST_CASE("a task that is cancelled withdraws its question") {
  McpSite site;
  const std::string id = result_of(ask(site, kAsk, "", kTasks))["taskId"].get<std::string>();
  CHECK(task(site, "tasks/cancel", id)["result"]["resultType"] == "complete");
  CHECK(task(site, "tasks/get", id)["result"]["status"] == "cancelled");
  CHECK(site.last_question().status == QuestionStatus::cancelled);
}
