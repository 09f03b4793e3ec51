#include "channels/slack_message.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "channels/slack_text.h"
#include "tests/channels/slack_asked.h"
#include "tests/channels/slack_limits.h"

using namespace holdpoint;
using namespace holdpoint::test;

namespace {

Json rendered(const std::vector<Question>& questions, bool may_cancel = false) {
  return check_message(slack_message(questions, may_cancel, kSite));
}

// Everything that can be clicked.
std::vector<Json> elements(const Json& message) {
  std::vector<Json> all;
  for (const auto& block : message["blocks"]) {
    if (block["type"] == "actions") {
      for (const auto& element : block["elements"]) all.push_back(element);
    }
    if (block.contains("accessory")) all.push_back(block["accessory"]);
  }
  return all;
}

std::vector<std::string> action_ids(const Json& message) {
  std::vector<std::string> ids;
  for (const auto& element : elements(message)) ids.push_back(element["action_id"]);
  return ids;
}

// The texts of its blocks, one a line.
std::string words(const Json& message) {
  std::string out;
  for (const auto& block : message["blocks"]) {
    if (block.contains("text")) out += block["text"]["text"].get<std::string>() + "\n";
    if (block["type"] != "context") continue;
    for (const auto& text : block["elements"]) out += text["text"].get<std::string>() + "\n";
  }
  return out;
}

bool says(const Json& message, const std::string& text) {
  return words(message).find(text) != std::string::npos;
}

using Ids = std::vector<std::string>;

}  // namespace

TEST_CASE("a message says who asks, what, with which context, and until when") {
  Question q = asked({option("haiku"), option("sonnet")});
  q.spec.header = "Style";
  q.context = R"({"topic":"love","draft":{"lines":[1,2]},"a":1})";
  const Json message = rendered({q});
  CHECK(words(message) ==
        "poet asks · Style\n"
        "topic: love\ndraft: {\"lines\":[1,2]}\na: 1\n"
        "What style?\n"
        "Answer by <!date^1794823200^{date_short} {time}|2026-11-16 10:00 UTC>.\n");
  CHECK(message["text"] == "poet asks · Style: What style?");
}

TEST_CASE("few options are buttons bound to the question, with own words and cancelling beside") {
  Question q = asked({option("haiku"), option("sonnet")});
  q.spec.options[1].recommended = true;
  const Json message = rendered({q}, true);
  CHECK(action_ids(message) == Ids{"pick:0", "pick:1", "other", "cancel"});
  for (const auto& block : message["blocks"]) {
    if (block["type"] == "actions") CHECK(block["block_id"] == "hp:" + q.id.text() + ":row0");
  }
  const auto all = elements(message);
  CHECK(all[0]["text"]["text"] == "haiku");
  CHECK_FALSE(all[0].contains("style"));
  CHECK(all[1]["style"] == "primary");
  CHECK(all[3].contains("confirm"));
  CHECK(message.dump().find(q.session_id.text()) == std::string::npos);
  q.spec.allow_other = false;
  CHECK(action_ids(rendered({q})) == Ids{"pick:0", "pick:1"});
}

TEST_CASE("descriptions, emoji and the recommended mark are shown") {
  Question q = asked({{"haiku", "17\nsyllables", "🌸", true}, {"sonnet", "", "", false}});
  for (const auto style : {Style::buttons, Style::select}) {
    q.spec.style = style;
    CHECK(says(rendered({q}), "• 🌸 haiku (recommended) – 17 syllables\n• sonnet\n"));
  }
  CHECK(elements(rendered({q}))[0]["options"][0]["description"]["text"] == "Recommended");
  q.spec.style = Style::buttons;
  CHECK(elements(rendered({q}))[0]["text"]["text"] == "🌸 haiku");
}

TEST_CASE("a menu's values are places, and choosing one answers") {
  Question q = asked(options(5));
  q.spec.style = Style::select;
  const Json message = rendered({q});
  CHECK(action_ids(message) == Ids{"choose", "other"});
  const Json menu = elements(message)[0];
  CHECK(menu["type"] == "static_select");
  CHECK(menu["options"][4]["value"] == "4");
  CHECK(menu["options"][4]["text"]["text"] == "option 4");
}

TEST_CASE("several options are boxes up to 10, then a menu, and a button sends them") {
  Question q = asked({{"a", "the first", "", true}, {"b", "", "", false}});
  q.spec.multi_select = true;
  const Json boxes = rendered({q});
  CHECK(action_ids(boxes) == Ids{"tick", "submit", "other"});
  CHECK(elements(boxes)[0]["type"] == "checkboxes");
  CHECK(elements(boxes)[0]["options"][0]["description"]["text"] == "Recommended: the first");
  CHECK_FALSE(says(boxes, "the first"));
  q.spec.options = options(11);
  CHECK(elements(rendered({q}))[0]["type"] == "multi_static_select");
  q.spec.options = options(3);
  q.spec.style = Style::select;
  CHECK(elements(rendered({q}))[0]["type"] == "multi_static_select");
}

TEST_CASE("a question without options is answered in a form") {
  const Json message = rendered({asked()}, true);
  CHECK(action_ids(message) == Ids{"other", "cancel"});
  CHECK(elements(message)[0]["text"]["text"] == "Answer…");
}

TEST_CASE("a batch is one message: numbered, each question with its own buttons, one Cancel") {
  Question second = asked({option("yes"), option("no")}, 1);
  second.spec.question = "Publish?";
  second.spec.header = "Go";
  const Json message = rendered({asked({option("haiku"), option("sonnet")}), second}, true);
  CHECK(says(message, "poet asks 2 questions\n1/2\nWhat style?\n2/2 · Go\nPublish?\n"));
  CHECK(action_ids(message) ==
        Ids{"pick:0", "pick:1", "other", "pick:0", "pick:1", "other", "cancel"});
}

TEST_CASE(
    "a settled question of a batch says how it ended while the others still can be answered") {
  const Question first = settle(asked(options(2)), QuestionStatus::answered, "haiku");
  const Question second = asked({option("yes"), option("no")}, 1);
  const Json message = rendered({first, second}, true);
  CHECK(says(message, "\nWhat style?\nAnswered by ana (U1): haiku\n"));
  CHECK(action_ids(message) == Ids{"pick:0", "pick:1", "other", "cancel"});
  CHECK(message.dump().find("hp:" + first.id.text()) == std::string::npos);
}

TEST_CASE(
    "a message whose questions are settled has no buttons, and says how in settled_line's words") {
  for (const auto status : {QuestionStatus::answered, QuestionStatus::defaulted,
                            QuestionStatus::timed_out, QuestionStatus::cancelled}) {
    const Question q = settle(asked(options(3)), status, "<haiku>");
    const Json message = rendered({q, settle(asked(options(2), 1), status, "b")}, true);
    CHECK(elements(message).empty());
    CHECK(says(message, "\n" + settled_line(q) + "\n"));
    CHECK_FALSE(says(message, "Answer by"));
    CHECK(message["text"].get<std::string>().starts_with(escape_slack(settled_line(q))));
  }
}

TEST_CASE("what people and agents wrote stands in plain text alone") {
  const std::string evil = "<!channel> *b* <https://evil.example|click> :tada: &amp; @here <@U1>";
  Question q = asked({{evil, evil, ":tada:", true}, option("b")});
  q.agent_name = evil;
  q.spec.question = evil;
  q.spec.header = evil;
  q.context = Json{{"<!here>", evil}}.dump();
  Question done = settle(asked({}, 1), QuestionStatus::answered, evil);
  for (const auto& questions : {std::vector{q}, std::vector{q, done}, std::vector{done}}) {
    const Json message = rendered(questions, true);
    const std::string text = message["text"];
    CHECK(text.find_first_of("<>") == std::string::npos);
    CHECK(text.find("@here") == std::string::npos);
    std::size_t markups = 0;
    for (const auto& block : message["blocks"]) {
      if (block["type"] != "context") continue;
      for (const auto& small : block["elements"]) {
        ++markups;
        CHECK(small["text"].get<std::string>().find("channel") == std::string::npos);
        CHECK(small["text"].get<std::string>().find("evil") == std::string::npos);
      }
    }
    CHECK(markups <= 3);
    std::string dump = message.dump();
    std::size_t mrkdwn = 0;
    for (auto at = dump.find("mrkdwn"); at != std::string::npos; at = dump.find("mrkdwn", at + 1)) {
      ++mrkdwn;
    }
    CHECK(mrkdwn == markups);
  }
  CHECK(says(rendered({q}), evil));
}

TEST_CASE("escaped text is what it was to who reads it, and calls nobody") {
  CHECK(escape_slack("a < b && c > d") == "a &lt; b &amp;&amp; c &gt; d");
  CHECK(escape_slack("<!channel>") == "&lt;!channel&gt;");
  CHECK(escape_slack("@here @Channel @everyone ana@example.org") ==
        "@\u2060here @\u2060Channel @\u2060everyone ana@example.org");
  CHECK(escape_slack("@") == "@");
}

TEST_CASE("a text that is too long is cut where it can be seen, with a link to all of it") {
  const std::string link =
      "Shortened. <" + kSite + "/question/" + kQuestionId + "0|Read it in full>";
  Question q = asked(options(2));
  CHECK_FALSE(says(rendered({q}), "Shortened"));
  for (const std::string unit : {"a", "é", "😀", "&", "ש"}) {
    q.spec.question = repeat(unit, 4000);
    const Json message = rendered({q});
    CHECK(says(message, unit + "…\n"));
    CHECK(says(message, link));
  }
  q = asked(options(2));
  q.context = Json{{"diff", repeat("+ line\n", 5000)}}.dump();
  CHECK(says(rendered({q}), "+ line\n…\n"));
  CHECK(says(rendered({q}), link));
  q = settle(asked(), QuestionStatus::answered, repeat("long ", 2000));
  CHECK(says(rendered({q}), "…\n"));
  CHECK(says(rendered({q}), link));
}

TEST_CASE("labels too long for buttons are numbered, and stand in full above them") {
  const std::string start = repeat("the same start ", 10);
  Question q = asked({option(start + "yes"), option(start + "no")});
  for (const auto style : {Style::buttons, Style::select}) {
    q.spec.style = style;
    const Json message = rendered({q});
    CHECK(says(message, "1. " + start + "yes\n2. " + start + "no\n"));
    CHECK_FALSE(says(message, "Shortened"));
  }
  q.spec.style = Style::buttons;
  const auto all = elements(rendered({q}));
  CHECK(all[0]["text"]["text"].get<std::string>().starts_with("1. the same"));
  CHECK(all[1]["text"]["text"].get<std::string>().starts_with("2. the same"));
}

TEST_CASE("the largest asks keep within what Slack takes") {
  for (const std::string unit : {"a", "😀", "&<", "\u202eש", "\n"}) {
    for (const bool multi : {false, true}) {
      for (const auto style : {Style::buttons, Style::select}) {
        for (const std::size_t count : {0, 2, 10, 25}) {
          std::vector<Question> questions;
          for (int i = 0; i < 4; ++i) {
            Question q = asked(options(count, "x" + repeat(unit, 190)), i);
            for (auto& o : q.spec.options) {
              o.description = repeat(unit, 1000);
              o.emoji = repeat(unit, 16);
            }
            q.spec.question = "?" + repeat(unit, 3999);
            q.spec.header = repeat(unit, 12);
            q.spec.multi_select = multi;
            q.spec.style = style;
            q.agent_name = repeat("agent", 50);
            q.context =
                Json{{repeat(unit, 500), repeat(unit, 9000)}, {"b", Json::array({1})}}.dump();
            questions.push_back(std::move(q));
            CAPTURE(unit);
            CAPTURE(count);
            rendered(questions, true);
            check_message(slack_webhook_message(questions, {"t", "t", "t", "t"}, kSite));
          }
          for (auto& q : questions) {
            q = settle(std::move(q), QuestionStatus::answered, repeat(unit, 10000));
          }
          rendered(questions, true);
          check_message(slack_webhook_closing(questions, kSite));
        }
      }
    }
  }
}

TEST_CASE("broken UTF-8, odd contexts and a missing address break no message") {
  Question q = asked({option("\xff\xfe"), option("b\x01")});
  q.spec.question = "\xc3";
  for (const std::string context : {"", "[]", "{", "{\"a\":\"\"}", "null"}) {
    q.context = context;
    check_message(slack_message({q}, true, ""));
    check_message(slack_webhook_message({q}, {}, ""));
  }
}

TEST_CASE("a webhook's buttons are links to the answer page, with the option chosen") {
  const Question q = asked({option("yes & no"), option("b")});
  const Json message = check_message(slack_webhook_message({q}, {"tok+en"}, kSite));
  const auto all = elements(message);
  REQUIRE(all.size() == 3);
  const std::string page = kSite + "/agent/answer/" + q.session_id.text() + "?token=tok%2Ben";
  CHECK(all[0]["url"] == page + "&answer=yes%20%26%20no");
  CHECK(all[2]["url"] == page);
  CHECK(all[2]["text"]["text"] == "Other…");
  for (const auto& element : all) {
    CHECK(element["type"] == "button");
    CHECK(element["action_id"].get<std::string>().starts_with(kSlackLink));
  }
  const Json open = check_message(slack_webhook_message({q}, {}, kSite));
  CHECK(elements(open)[0]["url"] == kSite + "/question/" + q.id.text());
}

TEST_CASE("what a webhook's links cannot hold is one link to the page") {
  Question q = asked(options(5));
  q.spec.style = Style::select;
  CHECK(action_ids(check_message(slack_webhook_message({q}, {"t"}, kSite))) == Ids{"link:page"});
  q.spec.style = Style::buttons;
  q.spec.multi_select = true;
  CHECK(action_ids(check_message(slack_webhook_message({q}, {"t"}, kSite))) == Ids{"link:page"});
  CHECK(action_ids(check_message(slack_webhook_message({asked()}, {"t"}, kSite))) ==
        Ids{"link:page"});
}

TEST_CASE("a webhook's closing message says how each settled question ended, and links nowhere") {
  const Question first = settle(asked(options(2)), QuestionStatus::answered, "haiku");
  const Question second = settle(asked({}, 1), QuestionStatus::cancelled);
  const Json message = check_message(slack_webhook_closing({first, second, asked({}, 2)}, kSite));
  CHECK(elements(message).empty());
  CHECK(says(message, "\n" + settled_line(first) + "\n"));
  CHECK(says(message, "\nCancelled\n"));
  CHECK(message["text"] == "Answered by ana (U1): haiku\nCancelled");
}
