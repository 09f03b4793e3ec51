#include "channels/slack_form.h"

#include <doctest/doctest.h>

#include "channels/slack_message.h"
#include "tests/channels/slack_asked.h"
#include "tests/channels/slack_limits.h"

using namespace holdpoint;
using namespace holdpoint::test;

TEST_CASE("a form shows the question and takes a text for it") {
  const Question q = asked(options(2));
  const Json view = check_view(slack_form(q, {}, kSite));
  CHECK(view["callback_id"] == kSlackFormId);
  CHECK(view["private_metadata"] == q.id.text());
  CHECK(view["blocks"][0]["text"]["text"] == "What style?");
  const Json input = view["blocks"].back();
  CHECK(input["block_id"] == slack_form_text_block(q.id));
  CHECK(input["optional"] == false);
  CHECK(input["element"]["type"] == "plain_text_input");
  CHECK(view["blocks"].size() == 2);
}

TEST_CASE("where several options count, the form has them too, ticked as they were") {
  Question q = asked(options(3));
  q.spec.multi_select = true;
  Json view = check_view(slack_form(q, {2, 7}, kSite));
  REQUIRE(view["blocks"].size() == 3);
  const Json boxes = view["blocks"][1];
  CHECK(boxes["type"] == "input");
  CHECK(boxes["optional"] == true);
  CHECK(boxes["element"]["type"] == "checkboxes");
  REQUIRE(boxes["element"]["initial_options"].size() == 1);
  CHECK(boxes["element"]["initial_options"][0]["value"] == "2");
  CHECK(view["blocks"][2]["optional"] == true);
  q.spec.options = options(25);
  view = check_view(slack_form(q, {}, kSite));
  CHECK(view["blocks"][1]["element"]["type"] == "multi_static_select");
  CHECK_FALSE(view["blocks"][1]["element"].contains("initial_options"));
}

TEST_CASE("the largest forms and notices keep within what Slack takes") {
  for (const std::string unit : {"a", "😀", "<", "\n"}) {
    for (const std::size_t count : {2, 25}) {
      Question q = asked(options(count, "x" + repeat(unit, 190)));
      for (auto& o : q.spec.options) o.description = repeat(unit, 1000);
      q.spec.multi_select = true;
      q.spec.question = repeat(unit, 4000);
      check_view(slack_form(q, {0, 1}, kSite));
    }
    const Json view = check_view(slack_notice_view("Too late: " + repeat(unit, 10000)));
    CHECK_FALSE(view.contains("submit"));
  }
}
