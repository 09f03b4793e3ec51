#include "flow/slack_desk.h"

#include <doctest/doctest.h>

#include <thread>

#include "channels/slack_form.h"
#include "channels/slack_message.h"
#include "tests/domain/complaint.h"
#include "tests/support/eventually.h"
#include "tests/support/world.h"

using namespace holdpoint;
using namespace holdpoint::test;

namespace {

const std::string kResponseUrl = "https://hooks.slack.example/actions/1";

// A question that waits, and a desk that takes clicks on it.
struct Desk {
  explicit Desk(
      const std::string& questions = R"([{"question":"Style?","options":["a","b"]}])",
      const std::function<void(AgentDefinition&)>& change = [](AgentDefinition&) {}) {
    AgentDefinition poet = *world.agents.find("poet");
    poet.question_callback = std::nullopt;
    change(poet);
    world.agents.replace({{"poet", poet}});
    world.runner.reply = [questions](const AgentDefinition&, const TurnRequest& request,
                                     const TurnContext&) {
      return request.reason == TurnReason::start
                 ? R"({"ask":{"questions":)" + questions + R"(},"state":1})"
                 : std::string(R"({"result":1})");
    };
    world.http.respond = [](const HttpRequest&) {
      return HttpResponse{200, "", R"({"ok":true})", std::nullopt};
    };
    session = world.trigger();
    world.run_until_idle();
    id = world.questions(session).at(0).id;
  }

  Json click(const std::string& action, const std::string& user = "U1") {
    return {{"type", "block_actions"},
            {"user", {{"id", user}, {"username", user == "U1" ? "ana" : "ben"}}},
            {"response_url", kResponseUrl},
            {"trigger_id", "13.4"},
            {"state", {{"values", Json::object()}}},
            {"actions",
             Json::array({{{"block_id", slack_block_id(id, "row0")}, {"action_id", action}}})}};
  }
  Json form(const std::string& text, const std::string& user = "U1") {
    Json values = {{slack_form_text_block(id), {{"own", {{"value", text}}}}}};
    return {{"type", "view_submission"},
            {"user", {{"id", user}, {"username", "ana"}}},
            {"view",
             {{"callback_id", kSlackFormId},
              {"private_metadata", id.text()},
              {"state", {{"values", values}}}}}};
  }
  std::string take(const Json& payload) { return desk.take(payload.dump(), "there", world.now()); }
  Question question() { return world.process().views.question(id, Duration{0}).value(); }

  // What went to the person who clicked, once all has been sent.
  struct Told {
    std::vector<Json> notices, replacements, forms;
  };
  Told told() {
    desk.stop();
    Told all;
    for (const auto& request : world.http.seen()) {
      const Json body = Json::parse(request.body);
      if (request.url.ends_with("/views.open")) {
        all.forms.push_back(body);
      } else {
        REQUIRE(request.url == kResponseUrl);
        (body["replace_original"] == true ? all.replacements : all.notices).push_back(body);
      }
    }
    return all;
  }

  World world;
  SessionId session;
  QuestionId id;
  Clicks clicks{world.process().answers,
                world.process().control,
                world.process().views,
                {{"slack", {{"U1", "ana"}}}}};
  SlackChannel slack{world.http,
                     {"https://slack.example/api", Secret("xoxb"), "https://h.example"}};
  SlackDesk desk{clicks, slack, [this](const Question& q) {
                   SlackDesk::Standing standing{{}, true};
                   for (auto& each : world.questions(session)) {
                     if (each.ask == q.ask) standing.questions.push_back(std::move(each));
                   }
                   return standing;
                 }};
};

}  // namespace

TEST_CASE("a click in Slack answers before it is acknowledged, in the person's name") {
  Desk at;
  CHECK(at.take(at.click("pick:1")) == "");
  CHECK(at.question().status == QuestionStatus::answered);
  CHECK(at.question().choice == Choice{{"b"}, {}});
  CHECK(at.question().answered_by == "ana (U1)");
  CHECK(at.question().answered_via == "slack");
  CHECK(at.world.run_until_idle() == 1);
  const auto told = at.told();
  CHECK(told.notices.empty());
  CHECK(told.replacements.empty());
}

TEST_CASE(
    "a click that Slack delivers four times, in any order, counts once and tells nobody off") {
  Desk at;
  std::vector<std::thread> copies;
  for (int i = 0; i < 4; ++i) {
    copies.emplace_back([&] { CHECK(at.take(at.click("pick:0")) == ""); });
  }
  for (auto& copy : copies) copy.join();
  CHECK(at.world.count_events(at.session, "question_answered") == 1);
  CHECK(at.world.run_until_idle() == 1);
  CHECK(at.told().notices.empty());
}

TEST_CASE("a late click changes nothing, is told so in private, and its message is mended") {
  Desk at;
  at.take(at.click("pick:0"));
  CHECK(at.take(at.click("pick:1", "U2")) == "");
  CHECK(at.question().choice == Choice{{"a"}, {}});
  const auto told = at.told();
  REQUIRE(told.notices.size() == 1);
  CHECK(told.notices[0]["text"] == "Too late: Answered by ana (U1): a.");
  CHECK(told.notices[0]["response_type"] == "ephemeral");
  REQUIRE(told.replacements.size() == 1);
  const std::string shown = told.replacements[0].dump();
  CHECK(shown.find("Answered by ana (U1): a") != std::string::npos);
  CHECK(shown.find("actions") == std::string::npos);
}

TEST_CASE("a button of an earlier ask answers nothing that came after it") {
  Desk at;
  const QuestionId first = at.id;
  at.world.runner.reply = [](const AgentDefinition&, const TurnRequest&, const TurnContext&) {
    return R"({"ask":{"questions":[{"question":"Next?","options":["a","b"]}]},"state":2})";
  };
  at.take(at.click("pick:0"));
  at.world.run_until_idle();
  REQUIRE(at.world.questions(at.session).size() == 2);
  at.take(at.click("pick:1", "U2"));
  const auto questions = at.world.questions(at.session);
  CHECK(questions[0].id == first);
  CHECK(questions[1].status == QuestionStatus::pending);
  CHECK(at.told().notices.size() == 1);
}

TEST_CASE("who may not answer is told so in private, and the question waits") {
  Desk at(R"([{"question":"Style?","options":["a","b"]}])",
          [](AgentDefinition& poet) { poet.answerers = {"ana"}; });
  at.take(at.click("pick:0", "U2"));
  CHECK(at.question().status == QuestionStatus::pending);
  at.take(at.click("pick:0", "U1"));
  CHECK(at.question().status == QuestionStatus::answered);
  const auto told = at.told();
  REQUIRE(told.notices.size() == 1);
  CHECK(told.notices[0]["text"] == "You are not among those who may answer this.");
  CHECK(told.replacements.empty());
}

TEST_CASE("Other… opens the form of its question, with what was ticked") {
  Desk at(R"([{"question":"Which?","options":["a","b"],"multi_select":true}])");
  Json other = at.click("other");
  other["state"]["values"][slack_block_id(at.id, "ticks")] = {
      {"tick", {{"selected_options", Json::array({{{"value", "1"}}})}}}};
  CHECK(at.take(other) == "");
  const auto told = at.told();
  REQUIRE(told.forms.size() == 1);
  CHECK(told.forms[0]["trigger_id"] == "13.4");
  CHECK(told.forms[0]["view"]["private_metadata"] == at.id.text());
  CHECK(told.forms[0]["view"]["blocks"][1]["element"]["initial_options"].size() == 1);
}

TEST_CASE("who gets no form is told to try again") {
  Desk at;
  at.world.http.respond = [](const HttpRequest&) {
    return HttpResponse{200, "", R"({"ok":false,"error":"expired_trigger_id"})", std::nullopt};
  };
  at.take(at.click("other"));
  CHECK(at.told().notices.size() == 1);
}

TEST_CASE("a form's text answers, together with options where several count") {
  Desk at(R"([{"question":"Which?","options":["a","b"],"multi_select":true}])");
  Json form = at.form("mine");
  form["view"]["state"]["values"][slack_block_id(at.id, "ticks")] = {
      {"tick", {{"selected_options", Json::array({{{"value", "0"}}})}}}};
  CHECK(at.take(form) == "");
  CHECK(at.question().choice == Choice{{"a"}, "mine"});
  CHECK(at.take(form) == "");
}

TEST_CASE("a form that is refused keeps its text, with the reason at it") {
  Desk at;
  const Json empty = Json::parse(at.take(at.form("  ")));
  CHECK(empty["response_action"] == "errors");
  CHECK(empty["errors"][slack_form_text_block(at.id)] ==
        "Choose an option or write an answer first.");
  const Json long_text = Json::parse(at.take(at.form(std::string(10001, 'x'))));
  CHECK(long_text["response_action"] == "errors");
  CHECK(at.question().status == QuestionStatus::pending);
}

TEST_CASE("a form that comes too late turns into the notice that says so") {
  Desk at;
  at.take(at.click("pick:0"));
  const Json late = Json::parse(at.take(at.form("mine", "U2")));
  CHECK(late["response_action"] == "update");
  CHECK(late["view"]["type"] == "modal");
  CHECK(late["view"]["blocks"][0]["text"]["text"] == "Too late: Answered by ana (U1): a.");
  CHECK(at.question().choice == Choice{{"a"}, {}});
}

TEST_CASE("Submit sends what is ticked, and without anything says what is missing") {
  Desk at(R"([{"question":"Which?","options":["a","b","c"],"multi_select":true}])");
  Json submit = at.click("submit");
  at.take(submit);
  CHECK(at.question().status == QuestionStatus::pending);
  submit["state"]["values"][slack_block_id(at.id, "ticks")] = {
      {"tick", {{"selected_options", Json::array({{{"value", "2"}}, {{"value", "0"}}})}}}};
  at.take(submit);
  CHECK(at.question().choice == Choice{{"a", "c"}, {}});
  CHECK(at.told().notices.size() == 1);
}

TEST_CASE("Cancel calls the request off") {
  Desk at;
  at.take(at.click("cancel"));
  CHECK(at.question().status == QuestionStatus::cancelled);
  CHECK(settled_line(at.question()) == "Cancelled by ana (U1)");
  at.take(at.click("cancel"));
  CHECK(at.told().notices.empty());
}

TEST_CASE(
    "one question of a batch is answered, and a late click on it leaves the other's buttons") {
  Desk at(R"([{"question":"One?","options":["a","b"]},{"question":"Two?","options":["c","d"]}])");
  at.take(at.click("pick:0"));
  at.take(at.click("pick:1", "U2"));
  const auto questions = at.world.questions(at.session);
  CHECK(std::count_if(questions.begin(), questions.end(),
                      [](const Question& q) { return q.status == QuestionStatus::pending; }) == 1);
  const auto told = at.told();
  REQUIRE(told.replacements.size() == 1);
  const std::string shown = told.replacements[0].dump();
  CHECK(shown.find("Answered by") != std::string::npos);
  CHECK(shown.find("pick:0") != std::string::npos);
}

TEST_CASE("a click on a question that is no more, or that is not ours, does no harm") {
  Desk at;
  at.id = QuestionId("019a8c3e-7b10-7000-8000-000000000000");
  CHECK(at.take(at.click("pick:0")) == "");
  CHECK(at.take({{"type", "view_closed"}}) == "");
  CHECK(at.told().notices.size() == 1);
  CHECK(complaint_of([&] { return at.desk.take("{", "", at.world.now()); }).field == "payload");
}

TEST_CASE("Slack is acknowledged though it is slow to take notices") {
  Desk at;
  std::atomic<bool> released = false;
  at.world.http.respond = [&](const HttpRequest&) {
    eventually([&] { return released.load(); });
    return HttpResponse{200, "", "ok", std::nullopt};
  };
  at.take(at.click("pick:0"));
  for (int i = 0; i < 300; ++i) CHECK(at.take(at.click("pick:1", "U2")) == "");
  released = true;
  CHECK(at.told().notices.size() >= 100);
}
