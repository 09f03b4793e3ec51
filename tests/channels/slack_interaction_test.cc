#include "channels/slack_interaction.h"

#include <doctest/doctest.h>

#include "channels/slack_form.h"
#include "channels/slack_message.h"
#include "tests/channels/slack_asked.h"
#include "tests/domain/complaint.h"
#include "wire/json.h"

using namespace holdpoint;
using namespace holdpoint::test;

namespace {

const QuestionId kQuestion{kQuestionId + "0"};

Json user() { return {{"id", "U1"}, {"username", "ana"}, {"name", "ana.b"}, {"team_id", "T1"}}; }

// As Slack sends it, with more than we read.
Json clicked(Json action, const std::string& part = "row0") {
  action["block_id"] = slack_block_id(kQuestion, part);
  action["action_ts"] = "1.2";
  return {{"type", "block_actions"},
          {"user", user()},
          {"api_app_id", "A1"},
          {"token", "x"},
          {"trigger_id", "13.4.abc"},
          {"response_url", "https://hooks.slack.example/actions/1"},
          {"container", {{"type", "message"}, {"message_ts", "1.1"}, {"channel_id", "C1"}}},
          {"state", {{"values", Json::object()}}},
          {"actions", Json::array({action})}};
}

Json chosen(std::initializer_list<const char*> values) {
  Json list = Json::array();
  for (const char* value : values) list.push_back({{"value", value}, {"text", {{"text", "x"}}}});
  return {{"type", "checkboxes"}, {"selected_options", list}};
}

Json sent_form(const Json& values) {
  return {{"type", "view_submission"},
          {"user", user()},
          {"view",
           {{"callback_id", kSlackFormId},
            {"private_metadata", kQuestion.text()},
            {"state", {{"values", values}}}}}};
}

Json written(const std::string& text) {
  return {{slack_form_text_block(kQuestion),
           {{"own", {{"type", "plain_text_input"}, {"value", text}}}}}};
}

SlackInteraction read(const Json& payload) { return read_slack_interaction(payload.dump()); }

using Places = std::vector<std::size_t>;

}  // namespace

TEST_CASE("a click on an option's button answers its question with that option") {
  const auto read_back = read(clicked({{"type", "button"}, {"action_id", "pick:3"}}));
  CHECK(read_back.click.kind == Click::Kind::answer);
  CHECK(read_back.click.channel == "slack");
  CHECK(read_back.click.question == kQuestion);
  CHECK(read_back.click.options == Places{3});
  CHECK_FALSE(read_back.click.text);
  CHECK(read_back.click.person_id == "U1");
  CHECK(read_back.click.person_name == "ana");
  CHECK(read_back.response_url == "https://hooks.slack.example/actions/1");
  CHECK(read_back.trigger_id == "13.4.abc");
  CHECK_FALSE(read_back.from_form);
}

TEST_CASE("a choice from a menu answers with its place") {
  const auto read_back = read(clicked(
      {{"type", "static_select"}, {"action_id", "choose"}, {"selected_option", {{"value", "2"}}}}));
  CHECK(read_back.click.kind == Click::Kind::answer);
  CHECK(read_back.click.options == Places{2});
}

TEST_CASE("ticking a box is nothing yet; Submit sends what is ticked for its own question") {
  Json ticking = chosen({"0"});
  ticking["action_id"] = "tick";
  CHECK(read(clicked(ticking, "ticks")).click.kind == Click::Kind::nothing);
  Json submit = clicked({{"type", "button"}, {"action_id", "submit"}});
  submit["state"]["values"] = {
      {slack_block_id(kQuestion, "ticks"), {{"tick", chosen({"2", "0"})}}},
      {slack_block_id(QuestionId(kQuestionId + "1"), "ticks"), {{"tick", chosen({"1"})}}},
      {"another", {{"tick", chosen({"4"})}}}};
  const auto read_back = read(submit);
  CHECK(read_back.click.kind == Click::Kind::answer);
  CHECK(read_back.click.options == Places{0, 2});
  submit["state"]["values"].clear();
  CHECK(read(submit).click.kind == Click::Kind::answer);
  CHECK(read(submit).click.options.empty());
}

TEST_CASE("Other… asks for the form and takes along what is ticked; Cancel calls off") {
  Json other = clicked({{"type", "button"}, {"action_id", "other"}});
  other["state"]["values"][slack_block_id(kQuestion, "ticks")] = {{"tick", chosen({"1"})}};
  CHECK(read(other).click.kind == Click::Kind::open_form);
  CHECK(read(other).click.options == Places{1});
  CHECK(read(clicked({{"action_id", "cancel"}}, "end")).click.kind == Click::Kind::cancel);
}

TEST_CASE("a form that was sent in answers with its text, its options, or both") {
  auto sent = read(sent_form(written("free verse\r\nplease\n \n")));
  CHECK(sent.from_form);
  CHECK(sent.click.kind == Click::Kind::answer);
  CHECK(sent.click.question == kQuestion);
  CHECK(sent.click.text == "free verse\nplease");
  CHECK(sent.click.options.empty());
  Json both = written("mine");
  both[slack_block_id(kQuestion, "ticks")] = {{"tick", chosen({"1"})}};
  sent = read(sent_form(both));
  CHECK(sent.click.text == "mine");
  CHECK(sent.click.options == Places{1});
  Json empty = written("");
  empty[slack_form_text_block(kQuestion)]["own"]["value"] = nullptr;
  CHECK_FALSE(read(sent_form(empty)).click.text);
  CHECK_FALSE(read(sent_form(written(" \n "))).click.text);
}

TEST_CASE("what is not for us is nothing") {
  for (const Json& payload :
       {Json::object(), Json{{"type", "view_closed"}}, Json{{"type", "block_suggestion"}},
        Json{{"type", "shortcut"}}, Json{{"type", 7}}, Json{{"type", "block_actions"}},
        Json{{"type", "block_actions"}, {"actions", "x"}},
        Json{{"type", "block_actions"}, {"actions", Json::array({1})}},
        Json{{"type", "view_submission"}},
        Json{{"type", "view_submission"}, {"view", {{"callback_id", "another"}}}},
        clicked({{"action_id", "link:0"}}, "links"), clicked({{"action_id", "new"}}),
        clicked({{"action_id", 3}})}) {
    CAPTURE(payload.dump());
    CHECK(read(payload).click.kind == Click::Kind::nothing);
    CHECK_FALSE(read(payload).from_form);
  }
  for (const auto& block :
       std::vector<std::string>{"", "hp:", "hp:x:row0", "other", "hp:" + kQuestionId + "0"}) {
    Json payload = clicked({{"action_id", "pick:0"}});
    payload["actions"][0]["block_id"] = block;
    CHECK(read(payload).click.kind == Click::Kind::nothing);
  }
}

TEST_CASE("what cannot be read is a complaint that names where") {
  CHECK(complaint_of([] { return read_slack_interaction("{"); }).field == "payload");
  CHECK(complaint_of([] { return read_slack_interaction("[1]"); }).field == "payload");
  for (const std::string place : {"pick:", "pick:-1", "pick:1x", "pick:99999999999999999999"}) {
    CHECK(complaint_of([&] {
            return read(clicked({{"action_id", place}}));
          }).field == "payload.actions");
  }
  CHECK(complaint_of([] {
          return read(clicked({{"action_id", "choose"}}));
        }).field == "payload.actions");
  Json nobody = clicked({{"action_id", "pick:0"}});
  nobody.erase("user");
  CHECK(complaint_of([&] { return read(nobody); }).field == "payload.user.id");
  Json odd = clicked({{"action_id", "submit"}});
  odd["state"]["values"][slack_block_id(kQuestion, "ticks")] = {{"tick", chosen({"a"})}};
  CHECK(complaint_of([&] { return read(odd); }).field == "payload.state");
  Json form = sent_form(Json::object());
  form["view"]["private_metadata"] = "1";
  CHECK(complaint_of([&] { return read(form); }).field == "payload.view.private_metadata");
}
