#include "flow/discord_desk.h"

#include <doctest/doctest.h>

#include "domain/bad_request.h"
#include "tests/channels/discord_sample.h"
#include "tests/support/world.h"

using namespace holdpoint;
using namespace holdpoint::test;

namespace {

// A world in which `poet` asks what the test says, and its messages are on Discord.
struct Server {
  explicit Server(const std::string& questions) {
    world.runner.reply = [questions](const AgentDefinition&, const TurnRequest& request,
                                     const TurnContext&) {
      if (request.reason != TurnReason::start) return std::string(R"({"result":{}})");
      return R"({"ask":{"questions":)" + questions + R"(},"state":{}})";
    };
    session = world.trigger();
    world.run_until_idle();
  }

  QuestionId id(std::size_t i = 0) { return world.questions(session).at(i).id; }
  Question question(std::size_t i = 0) { return world.questions(session).at(i); }

  // What Discord hears when somebody uses a component.
  Json click(const std::string& what, const std::string& more = "", std::size_t i = 0,
             const std::string& who = "7") {
    return send(3, what, more, i, who);
  }
  Json submit(const std::string& inputs, std::size_t i = 0) {
    return send(5, "m", R"(,"components":[)" + inputs + "]", i, "7");
  }
  Json send(int type, const std::string& what, const std::string& more, std::size_t i,
            const std::string& who) {
    const std::string body = R"({"type":)" + std::to_string(type) + R"(,"member":{"user":{"id":")" +
                             who + R"(","username":"ana"}},"data":{"custom_id":"hp:)" +
                             id(i).text() + ":" + what + "\"" + more + "}}";
    return Json::parse(desk.take(body, "203.0.113.9", world.now()));
  }

  World world;
  SessionId session;
  Clicks clicks{world.process().answers,
                world.process().control,
                world.process().views,
                {{"discord", {{"8", "bo"}}}}};
  DiscordDesk desk{clicks, world.process().views, world.agents, "https://hold.example.org"};
};

const std::string kStyleQuestion = R"([{"question":"What style?","options":["haiku","sonnet"]}])";

std::string notice_of(const Json& response) {
  CHECK(response["type"] == 4);
  CHECK(response["data"]["flags"] == 64);
  return response["data"]["content"];
}

}  // namespace

TEST_CASE("Discord's ping is answered") {
  Server s(kStyleQuestion);
  CHECK(s.desk.take(R"({"type":1})", "", s.world.now()) == R"({"type":1})");
}

TEST_CASE("a click on an option answers, and the message says so at once") {
  Server s(kStyleQuestion);
  const Json response = s.click("o:1");
  CHECK(response["type"] == 7);
  CHECK(components_of(response["data"], 10).back()["content"] == "Answered by ana (7): sonnet");
  CHECK(labels_of(response["data"]) == std::vector<std::string>{"Answered"});
  const Question q = s.question();
  CHECK(q.status == QuestionStatus::answered);
  CHECK(q.choice == Choice{{"sonnet"}, std::nullopt});
  CHECK(q.answered_by == "ana (7)");
  CHECK(q.answered_via == "discord");
}

TEST_CASE("the same click sent again changes nothing and looks the same") {
  Server s(kStyleQuestion);
  const Json first = s.click("o:1");
  CHECK(s.click("o:1") == first);
  CHECK(s.click("o:1") == first);
  CHECK(s.world.count_events(s.session, "question_answered") == 1);
}

TEST_CASE("whoever comes too late is told so alone") {
  Server s(kStyleQuestion);
  s.click("o:1");
  CHECK(notice_of(s.click("o:0", "", 0, "8")) == "Too late: Answered by ana (7): sonnet.");
  CHECK(notice_of(s.click("f")).starts_with("Too late"));
  CHECK(s.question().choice == Choice{{"sonnet"}, std::nullopt});
}

TEST_CASE("a select answers by its place, and a place that is not there is refused") {
  Server s(R"([{"question":"Which?","style":"select","options":["a","b","c","d"]}])");
  CHECK(notice_of(s.click("s", R"(,"values":["9"])")).find("no such option") != std::string::npos);
  CHECK(s.question().status == QuestionStatus::pending);
  CHECK(s.click("s", R"(,"values":["3"])")["type"] == 7);
  CHECK(s.question().choice == Choice{{"d"}, std::nullopt});
}

TEST_CASE("Other opens a form, and what is written there is the answer") {
  Server s(kStyleQuestion);
  const Json form = s.click("f");
  CHECK(form["type"] == 9);
  CHECK(form["data"]["custom_id"] == "hp:" + s.id().text() + ":m");
  CHECK(s.submit(
            R"({"type":18,"component":{"type":4,"custom_id":"t","value":"free verse"}})")["type"] ==
        7);
  CHECK(s.question().choice == Choice{{}, "free verse"});
}

TEST_CASE("several choices and a text of one's own come by the form together") {
  Server s(R"([{"question":"Which?","multi_select":true,"options":["a","b","c"]}])");
  CHECK(s.click("f")["type"] == 9);
  CHECK(notice_of(s.submit("")).find("Choose an option") != std::string::npos);
  s.submit(R"({"type":18,"component":{"type":3,"custom_id":"s","values":["0","2"]}},
              {"type":18,"component":{"type":4,"custom_id":"t","value":"d"}})");
  CHECK(s.question().choice == Choice{{"a", "c"}, "d"});
}

TEST_CASE("who cancels is asked back, and calls off what they were asked about") {
  Server s(kStyleQuestion);
  const Json asked = s.click("c");
  CHECK(notice_of(asked).starts_with("Cancel this request?"));
  CHECK(s.question().status == QuestionStatus::pending);
  const Json told = s.click("y");
  CHECK(told["type"] == 7);
  CHECK(told["data"]["content"] == "Cancelled by ana (7).");
  CHECK(told["data"]["components"].empty());
  CHECK(s.question().status == QuestionStatus::cancelled);
  CHECK(s.world.session(s.session).status == SessionStatus::cancelled);
  // The one whose answer came first decides: the notice says so where they asked.
  CHECK(s.click("y", "", 0, "8")["data"]["content"] == "Too late: Cancelled by ana (7).");
}

TEST_CASE("who may not answer is told so, and the question waits on") {
  Server s(kStyleQuestion);
  AgentDefinition poet = *s.world.agents.find("poet");
  poet.answerers = {"bo"};
  s.world.agents.replace({{"poet", poet}});
  CHECK(notice_of(s.click("o:1")).find("not among those who may answer") != std::string::npos);
  CHECK(s.question().status == QuestionStatus::pending);
  CHECK(s.click("o:1", "", 0, "8")["type"] == 7);  // Bo, by the settings' map of users.
}

TEST_CASE("an answer in a batch shows it, and the questions that still wait") {
  Server s(R"([{"question":"One?","options":["a","b"]},{"question":"Two?","options":["a","b"]},
               {"question":"Three?"}])");
  const Json response = s.click("o:0", "", 1);
  REQUIRE(response["type"] == 7);
  CHECK(labels_of(response["data"]) ==
        std::vector<std::string>{"a", "b", "Other…", "Answered", "Answer…", "Cancel all"});
  CHECK(text_of(response["data"]).find("**2/3**\nTwo?\nAnswered by ana (7): a\n") !=
        std::string::npos);
  AgentDefinition poet = *s.world.agents.find("poet");
  poet.allow_cancel = false;
  s.world.agents.replace({{"poet", poet}});
  CHECK(labels_of(s.click("o:0", "", 0)["data"]).back() == "Answer…");
}

TEST_CASE("a click on what is not ours changes nothing, and one on what is gone says so") {
  Server s(kStyleQuestion);
  CHECK(s.click("d")["type"] == 6);
  CHECK(notice_of(Json::parse(
            s.desk.take(R"({"type":3,"user":{"id":"7"},"data":{"custom_id":"hp:gone:o:0"}})", "",
                        s.world.now()))) == "This request is not known here any more.");
  CHECK_THROWS_AS(s.desk.take("{", "", s.world.now()), BadRequest);
}
