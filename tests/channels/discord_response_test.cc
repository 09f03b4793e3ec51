#include "channels/discord_response.h"

#include <doctest/doctest.h>

#include "channels/discord_text.h"
#include "tests/channels/discord_sample.h"

namespace holdpoint {
namespace {

using test::components_of;
using test::discord_question;

TEST_CASE("the form of a question without options is a text that must be there") {
  const Question q = discord_question();
  const Json form = Json::parse(discord_form(q));
  CHECK(form["type"] == 9);
  CHECK(form["data"]["custom_id"] == "hp:" + q.id.text() + ":m");
  CHECK(form["data"]["title"] == "Your answer");
  CHECK(components_of(form["data"], 10)[0]["content"] == "Ship it?");
  const auto inputs = components_of(form["data"], 4);
  REQUIRE(inputs.size() == 1);
  CHECK(inputs[0]["custom_id"] == "t");
  CHECK(inputs[0]["required"] == true);
}

TEST_CASE("the form of several choices has a select, and a text where that is allowed") {
  Question q = discord_question({{"Yes", "", "", false}, {"No", "", "", false}});
  q.spec.multi_select = true;
  q.spec.allow_other = false;
  Json form = Json::parse(discord_form(q))["data"];
  CHECK(components_of(form, 4).empty());
  auto select = components_of(form, 3);
  REQUIRE(select.size() == 1);
  CHECK(select[0]["min_values"] == 1);
  CHECK(select[0]["max_values"] == 2);
  CHECK(select[0]["required"] == true);
  q.spec.allow_other = true;
  form = Json::parse(discord_form(q))["data"];
  CHECK(components_of(form, 3)[0]["min_values"] == 0);
  CHECK(components_of(form, 3)[0]["required"] == false);
  CHECK(components_of(form, 4)[0]["required"] == false);
}

TEST_CASE("a notice is for the clicker alone, pings nobody and fits") {
  const Json notice = Json::parse(discord_notice("Too late: **x** @everyone"));
  CHECK(notice["type"] == 4);
  CHECK(notice["data"]["flags"] == 64);
  CHECK(notice["data"]["content"] == "Too late: \\*\\*x\\*\\* \\@everyone");
  CHECK(notice["data"]["allowed_mentions"] == Json{{"parse", Json::array()}});
  const Json long_one = Json::parse(discord_notice(std::string(5000, '*')));
  CHECK(discord_length(long_one["data"]["content"].get<std::string>()) <= 2000);
}

TEST_CASE("who would cancel is asked back, with a button that says so") {
  const Json asked = Json::parse(discord_cancel_question(QuestionId("q-1")));
  CHECK(asked["type"] == 4);
  CHECK(asked["data"]["flags"] == 64);
  const auto buttons = components_of(asked["data"], 2);
  REQUIRE(buttons.size() == 1);
  CHECK(buttons[0]["label"] == "Yes, cancel");
  CHECK(buttons[0]["style"] == 4);
  CHECK(buttons[0]["custom_id"] == "hp:q-1:y");
  const Json told = Json::parse(discord_update_notice("Cancelled."));
  CHECK(told["type"] == 7);
  CHECK(told["data"]["components"] == Json::array());
}

}  // namespace
}  // namespace holdpoint
