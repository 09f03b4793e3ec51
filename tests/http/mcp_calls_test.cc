#include <doctest/doctest.h>

#include "tests/http/mcp_site.h"

using namespace holdpoint;
using namespace holdpoint::test;
using namespace std::chrono_literals;

namespace {

const std::string kToken = R"(,"_meta":{"progressToken":"t"})";

Json result_in(const std::string& text) {
  const auto messages = messages_in(text);
  REQUIRE_FALSE(messages.empty());
  REQUIRE(messages.back().contains("result"));
  return messages.back()["result"];
}

Response resume(McpSite& site, const std::string& event) {
  Call call{"GET", "/mcp?agent=pager", {{"Accept", "text/event-stream"}}, "", "127.0.0.1"};
  return site.send(call.with("Mcp-Session-Id", site.session).with("Last-Event-ID", event));
}

void cancel(McpSite& site, const std::string& id) {
  CHECK(site.send(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":)" +
                  id + "}}")
            .status == 202);
}

}  // namespace

TEST_CASE("a call says that it waits, and then what a person answered") {
  McpSite site;
  site.open();
  const Response response = site.call_tool("ask_user_question", kAsk, "7", kToken);
  CHECK(response.content_type == "text/event-stream");
  const Written first = write_next(response);
  CHECK(first.more);
  CHECK(first.text.starts_with("id: "));
  const auto waiting = messages_in(first.text);
  REQUIRE(waiting.size() == 1);
  CHECK(waiting[0]["method"] == "notifications/progress");
  CHECK(waiting[0]["params"]["progressToken"] == "t");
  CHECK(waiting[0]["params"]["total"] == 55.0);
  const Question question = site.last_question();
  site.site.world.answer(question.session_id, "Yes");
  const Written last = write_next(response);
  CHECK_FALSE(last.more);
  const Json message = messages_in(last.text).at(0);
  CHECK(message["id"] == 7);
  CHECK(message["result"]["structuredContent"]["id"] == question.session_id.text());
  CHECK(message["result"]["structuredContent"]["answers"]["Go on?"] == "Yes");
}

TEST_CASE("clients from before 2025-11-25 get no event without data") {
  McpSite site;
  site.open("2025-06-18");
  const Response response = site.call_tool("ask_user_question", kAsk, "1", kToken);
  const Written first = write_next(response);
  CHECK(first.text.find("data: \n") == std::string::npos);
  CHECK(messages_in(first.text).size() == 1);
  CHECK(event_id_in(first.text).size() > 40);
}

TEST_CASE("a client that takes JSON alone gets the answer as JSON") {
  McpSite site;
  site.open();
  Call call = site.message(
      R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ask_user_question","arguments":)" +
      ask_with(R"("wait_seconds":0)") + "}}");
  for (auto& [name, value] : call.headers) {
    if (name == "Accept") value = "application/json";
  }
  const Response response = site.send(call);
  CHECK(response.content_type == "application/json");
  CHECK(Json::parse(response.body)["result"]["structuredContent"]["status"] == "pending");
}

TEST_CASE("the same call again is the same question, and another under its number is another") {
  McpSite site;
  site.open();
  const Response first = site.call_tool("ask_user_question", kAsk, "1");
  const Response again = site.call_tool("ask_user_question", kAsk, "1");
  CHECK(site.asked() == 1);
  const Response other =
      site.call_tool("ask_user_question", R"({"questions":[{"question":"Something else?"}]})", "1");
  CHECK(site.asked() == 2);
  const Response same_again =
      site.call_tool("ask_user_question", R"({"questions":[{"question":"Something else?"}]})", "1");
  CHECK(site.asked() == 2);
  site.open();
  const Response elsewhere = site.call_tool("ask_user_question", kAsk, "1");
  CHECK(site.asked() == 3);
}

TEST_CASE("a cancelled call keeps its question, or withdraws it if it said so") {
  for (const bool withdraw : {false, true}) {
    for (const std::string key : {"", R"(,"idempotency_key":"mine")"}) {
      McpSite site;
      site.open();
      const Response response = site.call_tool(
          "ask_user_question",
          ask_with(std::string(R"("on_cancel":")") + (withdraw ? "withdraw\"" : "keep\"") + key),
          "1");
      write_next(response);
      cancel(site, "1");
      CHECK(site.last_question().status ==
            (withdraw ? QuestionStatus::cancelled : QuestionStatus::pending));
      const Written end = write_next(response);
      CHECK_FALSE(end.more);
      CHECK(end.text.empty());  // Nobody waits for an answer.
    }
  }
}

TEST_CASE("a cancellation that another server hears, or this one after a restart, counts too") {
  McpSite site;
  site.open();
  {
    const Response lost =
        site.call_tool("ask_user_question", ask_with(R"("on_cancel":"withdraw")"));
  }
  CHECK(site.last_question().status == QuestionStatus::pending);
  cancel(site, "1");
  CHECK(site.last_question().status == QuestionStatus::cancelled);
}

TEST_CASE("a cancellation that overtakes its call is found by it") {
  McpSite site;
  site.open();
  cancel(site, "1");
  const Response response =
      site.call_tool("ask_user_question", ask_with(R"("on_cancel":"withdraw")"));
  CHECK(write_next(response).more);
  CHECK_FALSE(write_next(response).more);
  CHECK(site.last_question().status == QuestionStatus::cancelled);
}

TEST_CASE("nobody cancels another session's call, or a question that it only joined") {
  McpSite site;
  site.open();
  const Response first =
      site.call_tool("ask_user_question", ask_with(R"("dedupe":true,"on_cancel":"withdraw")"));
  site.open();
  cancel(site, "1");
  CHECK(site.last_question().status == QuestionStatus::pending);
  const Response joined =
      site.call_tool("ask_user_question", ask_with(R"("dedupe":true,"on_cancel":"withdraw")"), "2");
  CHECK(site.asked() == 1);
  write_next(joined);
  cancel(site, "2");
  CHECK_FALSE(write_next(joined).more);
  CHECK(site.last_question().status == QuestionStatus::pending);
}

TEST_CASE("a cancel that comes after the answer changes nothing") {
  McpSite site;
  site.open();
  const Response response =
      site.call_tool("ask_user_question", ask_with(R"("on_cancel":"withdraw")"));
  site.site.world.answer(site.last_question().session_id, "Yes");
  cancel(site, "1");
  CHECK(site.last_question().status == QuestionStatus::answered);
}

TEST_CASE("a stream that broke goes on from its last event, with its progress and its time") {
  McpSite site;
  site.open();
  std::string event;
  {
    const Response broken =
        site.call_tool("ask_user_question", ask_with(R"("wait_seconds":30)"), "5", kToken);
    event = event_id_in(write_next(broken).text);
  }
  site.site.world.clock.advance(10s);
  const Response resumed = resume(site, event);
  CHECK(resumed.status == 200);
  const Json progress = messages_in(write_next(resumed).text).at(0)["params"];
  CHECK(progress["progressToken"] == "t");
  CHECK(progress["progress"] >= 10.0);
  CHECK(progress["total"] == 30.0);
  site.site.world.answer(site.last_question().session_id, "No");
  const Json message = messages_in(write_next(resumed).text).at(0);
  CHECK(message["id"] == 5);
  CHECK(message["result"]["structuredContent"]["answers"]["Go on?"] == "No");
  // What is over is told at once.
  const Response late = resume(site, event);
  CHECK(result_in(late.body)["structuredContent"]["status"] == "answered");
  CHECK(site.asked() == 1);
}

TEST_CASE("a stream whose time is over says that the question is open") {
  McpSite site;
  site.open();
  const Response broken = site.call_tool("ask_user_question", ask_with(R"("wait_seconds":30)"));
  const std::string event = event_id_in(write_next(broken).text);
  site.site.world.clock.advance(31s);
  const Response resumed = resume(site, event);
  write_next(resumed);
  CHECK(result_in(write_next(resumed).text)["structuredContent"]["status"] == "pending");
}

TEST_CASE("an event is of use to its own session alone") {
  McpSite site;
  site.open();
  const Response first = site.call_tool("ask_user_question", kAsk);
  const std::string event = event_id_in(write_next(first).text);
  CHECK(resume(site, event + "x").status == 404);
  CHECK(resume(site, site.session).status == 404);
  site.open();
  CHECK(resume(site, event).status == 404);
}

TEST_CASE("the client's own user is asked by a form, and nobody else if that brings an answer") {
  McpSite site;
  site.open("2025-11-25", R"({"elicitation":{}})");
  const Response response = site.call_tool("ask_user_question", ask_with(R"("elicit":true)"));
  CHECK(write_next(response).more);
  const Json form = messages_in(write_next(response).text).at(0);
  CHECK(form["method"] == "elicitation/create");
  const std::string answer = R"({"jsonrpc":"2.0","id":)" + form["id"].dump() +
                             R"(,"result":{"action":"accept","content":{"answer1":"Yes"}}})";
  McpSite other;  // Another client's answer to it does not count.
  const std::string own = site.session;
  site.open();
  site.send(answer);
  site.session = own;
  site.send(answer);
  const Json result = result_in(write_next(response).text);
  CHECK(result["structuredContent"]["answered_via"] == "elicitation");
  CHECK(site.asked() == 0);
}

TEST_CASE("a form that brings none has people elsewhere asked, by the same call") {
  for (const char* answer :
       {R"("result":{"action":"decline"})", R"("error":{"code":-1,"message":"no"})"}) {
    McpSite site;
    site.open("2025-11-25", R"({"elicitation":{"form":{}}})");
    const Response response = site.call_tool("ask_user_question", ask_with(R"("elicit":true)"));
    write_next(response);
    const Json form = messages_in(write_next(response).text).at(0);
    CHECK(site.asked() == 0);
    site.send(R"({"jsonrpc":"2.0","id":)" + form["id"].dump() + "," + answer + "}");
    CHECK(write_next(response).more);
    CHECK(site.asked() == 1);
    site.site.world.answer(site.last_question().session_id, "No");
    CHECK(result_in(write_next(response).text)["structuredContent"]["status"] == "answered");
  }
}

TEST_CASE("a form that a restart took away is told as an error, and nobody was asked") {
  McpSite site;
  site.open("2025-11-25", R"({"elicitation":{}})");
  std::string event;
  {
    const Response broken = site.call_tool("ask_user_question", ask_with(R"("elicit":true)"));
    event = event_id_in(write_next(broken).text);
  }
  const Json result = result_in(resume(site, event).body);
  CHECK(result["isError"] == true);
  CHECK(result["content"][0]["text"].get<std::string>().find("call again") != std::string::npos);
  CHECK(site.asked() == 0);
}

TEST_CASE("a client that shows no forms, or a call that wants none, goes to people at once") {
  McpSite site;
  site.open("2025-11-25", R"({"elicitation":{"url":{}}})");
  const Response one = site.call_tool("ask_user_question", ask_with(R"("elicit":true)"), "1");
  CHECK(site.asked() == 1);
  site.open("2025-11-25", R"({"elicitation":{}})");
  const Response two = site.call_tool("ask_user_question", kAsk, "2");
  CHECK(site.asked() == 2);
}

TEST_CASE("when the server stops, calls with a session are dropped and those without are told") {
  McpSite site;
  site.open();
  const Response with = site.call_tool("ask_user_question", kAsk);
  write_next(with);
  site.site.world.process().journal.close();
  const Written end = write_next(with);
  CHECK_FALSE(end.more);
  CHECK(end.text.empty());
  CHECK(site.last_question().status == QuestionStatus::pending);
}

TEST_CASE("a permission that nobody gives in time is denied, and its question is over") {
  McpDesk::Options options;
  options.permission_wait = 60s;
  McpSite site(options);
  site.open();
  const Response response =
      site.call_tool("request_permission", R"({"tool_name":"Bash","input":{"command":"ls"}})");
  write_next(response);
  const Question question = site.last_question();
  CHECK(question.deadline_at == site.site.world.now() + 60s);
  site.site.world.clock.advance(61s);
  site.site.world.run_until_idle();
  const Json result = result_in(write_next(response).text);
  CHECK(result["isError"] == false);
  const Json said = Json::parse(result["content"][0]["text"].get<std::string>());
  CHECK(said["behavior"] == "deny");
  CHECK(said["message"].get<std::string>().find("in time") != std::string::npos);
}

TEST_CASE("questions of agents that run here are nobody's to read or withdraw by MCP") {
  McpSite site;
  site.site.world.runner.reply = [](const AgentDefinition&, const TurnRequest& request,
                                    const TurnContext&) { return ask_then_tell(request); };
  const auto session = site.site.world.trigger();
  site.site.world.run_until_idle();
  site.open();
  for (const char* tool : {"get_answer", "cancel_question"}) {
    const Json reply =
        Json::parse(site.call_tool(tool, R"({"id":")" + session.text() + "\"}").body);
    CHECK(reply["result"]["isError"] == true);
    CHECK(reply["result"]["content"][0]["text"] == "id: there is no such question");
  }
  CHECK(site.site.world.session(session).status == SessionStatus::pending_input);
}
