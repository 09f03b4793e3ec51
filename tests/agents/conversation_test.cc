#include "agents/llm/conversation.h"

#include <doctest/doctest.h>

#include <functional>
#include <map>

#include "domain/bad_request.h"
#include "wire/json.h"

using namespace holdpoint;

namespace {

const Provider& kApi = anthropic_messages();
const ToolCall kAskCall{"a", "ask_user_question", "{}"};
const ToolCall kToolCall{"b", "get_issue", R"({"n": 1.50})"};

ModelReply said(std::string text, std::vector<ToolCall> calls = {},
                ModelStop stop = ModelStop::done) {
  return {R"({"role":"assistant","content":[{"type":"odd","x":1e2}]})",
          std::move(text),
          std::move(calls),
          stop,
          "",
          {}};
}

// A conversation in the given phase, with the calls a and b open where there are calls.
Conversation in(Phase phase) {
  auto talk = Conversation::begin({R"({"role":"user","content":"hi"})"});
  if (phase == Phase::requesting) return talk;
  if (phase == Phase::done) {
    talk.reply(said("all"));
    return talk;
  }
  talk.reply(said("", {kAskCall, kToolCall}, ModelStop::tools));
  if (phase == Phase::awaiting_person) talk.await_person();
  if (phase == Phase::awaiting_agents) talk.await_agents();
  return talk;
}

using Move = std::function<void(Conversation&)>;
const std::map<std::string, Move> kMoves{
    {"reply", [](Conversation& t) { t.reply(said("x")); }},
    {"reply with calls", [](Conversation& t) { t.reply(said("", {kToolCall})); }},
    {"pause", [](Conversation& t) { t.reply(said("", {}, ModelStop::paused)); }},
    {"finish_tool",
     [](Conversation& t) {
       t.finish_tool({"a", "1", false}, kApi);
     }},
    {"await_person", [](Conversation& t) { t.await_person(); }},
    {"await_agents", [](Conversation& t) { t.await_agents(); }},
    {"resume",
     [](Conversation& t) {
       t.resume({"a", "1", false}, kApi);
     }},
    {"say", [](Conversation& t) { t.say({"more"}, kApi); }},
    {"close", [](Conversation& t) { t.close("over"); }},
};

// Where each move leads from each phase; what is not here is refused.
const std::map<std::pair<Phase, std::string>, Phase> kTable{
    {{Phase::requesting, "reply"}, Phase::done},
    {{Phase::requesting, "reply with calls"}, Phase::executing},
    {{Phase::requesting, "pause"}, Phase::requesting},
    {{Phase::requesting, "close"}, Phase::done},
    {{Phase::executing, "finish_tool"}, Phase::executing},
    {{Phase::executing, "await_person"}, Phase::awaiting_person},
    {{Phase::executing, "await_agents"}, Phase::awaiting_agents},
    {{Phase::executing, "close"}, Phase::done},
    {{Phase::awaiting_person, "resume"}, Phase::executing},
    {{Phase::awaiting_person, "close"}, Phase::done},
    {{Phase::awaiting_agents, "resume"}, Phase::executing},
    {{Phase::awaiting_agents, "close"}, Phase::done},
    {{Phase::done, "say"}, Phase::requesting},
    {{Phase::done, "close"}, Phase::done},
};

}  // namespace

TEST_CASE("every move of a conversation from every phase leads where the table says, or nowhere") {
  for (const Phase phase : kPhases) {
    for (const auto& [name, move] : kMoves) {
      CAPTURE(to_text(phase));
      CAPTURE(name);
      Conversation talk = in(phase);
      const std::string before = talk.state();
      const auto target = kTable.find({phase, name});
      if (target == kTable.end()) {
        CHECK_THROWS_AS(move(talk), WrongMove);
        CHECK(talk.state() == before);
      } else {
        move(talk);
        CHECK(talk.phase() == target->second);
      }
    }
  }
}

TEST_CASE("a conversation that is saved and read goes on from the same place, in every phase") {
  for (const Phase phase : kPhases) {
    CAPTURE(to_text(phase));
    Conversation talk = in(phase);
    talk.queue(3, {"one", "t\xc3\xbc"});
    talk.used = {4, 1200, 5000, 2};
    const std::string saved = talk.state();
    const Conversation read = Conversation::parse(saved);
    CHECK(read.state() == saved);
    CHECK(read.phase() == phase);
    CHECK(read.used.tokens == 1200);
  }
}

TEST_CASE("what the model said is kept byte for byte, unknown blocks and odd numbers too") {
  const Conversation talk = Conversation::parse(in(Phase::executing).state());
  CHECK(talk.messages().back() == R"({"role":"assistant","content":[{"type":"odd","x":1e2}]})");
  CHECK(talk.remaining_tools().back().input == R"({"n": 1.50})");
}

TEST_CASE("the results of all calls go to the model together, in the order of the calls") {
  Conversation talk = in(Phase::executing);
  talk.await_person();
  talk.resume({"a", "haiku", false}, kApi);
  CHECK(talk.phase() == Phase::executing);
  CHECK(talk.messages().size() == 2);
  CHECK(talk.tool_results().size() == 1);
  talk.finish_tool({"b", "no such issue", true}, kApi);
  CHECK(talk.phase() == Phase::requesting);
  REQUIRE(talk.messages().size() == 3);
  const Json told = Json::parse(talk.messages()[2]);
  CHECK(told["content"][0]["tool_use_id"] == "a");
  CHECK(told["content"][0]["content"] == "haiku");
  CHECK(told["content"][1]["tool_use_id"] == "b");
  CHECK(told["content"][1]["is_error"] == true);
  CHECK(talk.tool_results().empty());
}

TEST_CASE("a result of another call than the one that is open is refused") {
  Conversation talk = in(Phase::executing);
  CHECK_THROWS_AS(talk.finish_tool({"b", "", false}, kApi), WrongMove);
  Conversation waiting = in(Phase::awaiting_person);
  CHECK_THROWS_AS(waiting.resume({"b", "", false}, kApi), WrongMove);
}

TEST_CASE("messages queue up in order, once for each turn that brings them") {
  Conversation talk = in(Phase::awaiting_person);
  talk.queue(2, {"a", "b"});
  talk.queue(2, {"a", "b"});
  talk.queue(3, {"c"});
  talk = Conversation::parse(talk.state());
  talk.queue(3, {"c"});
  CHECK(talk.has_queue());
  CHECK(talk.take_queue() == std::vector<std::string>{"a", "b", "c"});
  CHECK_FALSE(talk.has_queue());
}

TEST_CASE("a conversation that is closed has a result for every call, and tells them before more") {
  Conversation talk = Conversation::parse(
      close_conversation(in(Phase::awaiting_person).state(), "The user cancelled the question."));
  CHECK(talk.phase() == Phase::done);
  REQUIRE(talk.tool_results().size() == 2);
  CHECK(talk.tool_results()[0].id == "a");
  CHECK(talk.tool_results()[0].is_error);
  CHECK(talk.tool_results()[1].content == "The user cancelled the question.");
  talk.say({"go on"}, kApi);
  const auto& messages = talk.messages();
  CHECK(Json::parse(messages[messages.size() - 2])["content"].size() == 2);
  CHECK(Json::parse(messages.back())["content"][0]["text"] == "go on");
}

TEST_CASE("a state that is not a conversation's is refused, not half read") {
  for (
      const char* state :
      {"{}", "[]", "1", R"({"phase":"dreaming","messages":[{}]})",
       R"({"phase":"executing","messages":[{}],"remaining_tools":[]})",
       R"({"phase":"requesting","messages":[]})",
       R"({"phase":"done","messages":[{}],"remaining_tools":[{"id":"a","name":"b","input":"{}"}]})",
       R"({"phase":"executing","messages":[{}],"remaining_tools":[{"id":1}]})"}) {
    CAPTURE(state);
    CHECK_THROWS_AS(Conversation::parse(state), BadRequest);
  }
}
