#include "channels/discord_message.h"

#include <doctest/doctest.h>

#include <set>

#include "channels/discord_text.h"
#include "tests/channels/discord_sample.h"

namespace holdpoint {
namespace {

using test::components_of;
using test::discord_batch;
using test::discord_question;
using test::kStyle;
using test::labels_of;
using test::text_of;

const std::vector<Option> kYesNo{{"Yes", "", "", false}, {"No", "", "", false}};

Json draw(const std::vector<Question>& questions, const DiscordStyle& style = kStyle) {
  return Json::parse(discord_message(questions, style));
}

Question settled(Question q, QuestionStatus status) {
  q.status = status;
  if (status == QuestionStatus::answered) q.choice = Choice{{"Yes"}, std::nullopt};
  if (status == QuestionStatus::answered) q.answered_by = "ana (7)";
  return q;
}

// What Discord refuses.
void check_limits(const Json& message) {
  std::size_t text = 0;
  std::set<std::string> ids;
  const auto all = components_of(message);
  CHECK(all.size() <= 40);
  for (const auto& one : all) {
    if (one.contains("custom_id")) {
      CHECK(one["custom_id"].get<std::string>().size() <= 100);
      CHECK(ids.insert(one["custom_id"]).second);
    }
    if (one["type"] == 10) text += discord_length(one["content"].get<std::string>());
    if (one["type"] == 10) CHECK(one["content"] != "");
    if (one["type"] == 1) CHECK((!one["components"].empty() && one["components"].size() <= 5));
    if (one["type"] == 2) CHECK(one["label"] != "");
    if (one["type"] == 2) CHECK(discord_length(one["label"].get<std::string>()) <= 80);
    if (one["type"] != 3) continue;
    CHECK(one["options"].size() <= 25);
    for (const auto& option : one["options"]) {
      for (const auto& [name, value] : option.items()) {
        CHECK(discord_length(value.get<std::string>()) <= 100);
        CHECK(value != "");
      }
    }
  }
  CHECK(text <= 4000);
}

TEST_CASE("a question with plain options is a container with its buttons in a row") {
  Question q = discord_question(kYesNo);
  q.spec.header = "Release";
  q.spec.options[0].recommended = true;
  const Json message = draw({q});
  CHECK(message["flags"] == 32768);
  CHECK(message["allowed_mentions"] == Json{{"parse", Json::array()}});
  REQUIRE(message["components"].size() == 1);
  CHECK(message["components"][0]["type"] == 17);
  CHECK(message["components"][0]["accent_color"] == 0x5865f2);
  CHECK(
      text_of(message) ==
      "**Release**\nShip it?\n-# Asked by poet · answer by <t:1794834000:f> (<t:1794834000:R>)\n");
  CHECK(labels_of(message) == std::vector<std::string>{"Yes (recommended)", "No", "Other…"});
  const auto buttons = components_of(message, 2);
  CHECK(buttons[0]["custom_id"] == "hp:" + q.id.text() + ":o:0");
  CHECK(buttons[1]["custom_id"] == "hp:" + q.id.text() + ":o:1");
  CHECK(buttons[2]["custom_id"] == "hp:" + q.id.text() + ":f");
  CHECK(buttons[0]["style"] == 1);
  CHECK(buttons[1]["style"] == 2);
}

TEST_CASE("options with descriptions have a section each, with the button beside the text") {
  Question q = discord_question(kYesNo);
  q.spec.options[1] = {"No", "keep *what* is there", "🛑", true};
  q.spec.allow_other = false;
  const Json message = draw({q});
  const auto sections = components_of(message, 9);
  REQUIRE(sections.size() == 2);
  CHECK(sections[0]["components"][0]["content"] == "**Yes**");
  CHECK(sections[1]["components"][0]["content"] ==
        "**🛑 No** (recommended)\nkeep \\*what\\* is there");
  CHECK(sections[1]["accessory"]["label"] == "🛑 No");
  CHECK(sections[1]["accessory"]["custom_id"] == "hp:" + q.id.text() + ":o:1");
  CHECK(components_of(message, 14).size() == 1);
  CHECK(components_of(message, 1).empty());
}

TEST_CASE("four options, or the style, make a select of places") {
  Question q = discord_question(kYesNo);
  q.spec.style = Style::select;
  q.spec.options[0].recommended = true;
  q.spec.options[0].description = "it is green";
  Json message = draw({q});
  auto selects = components_of(message, 3);
  REQUIRE(selects.size() == 1);
  CHECK(selects[0]["custom_id"] == "hp:" + q.id.text() + ":s");
  CHECK(
      selects[0]["options"] ==
      Json::parse(
          R"([{"label":"Yes","value":"0","description":"Recommended: it is green"},{"label":"No","value":"1"}])"));
  CHECK(labels_of(message) == std::vector<std::string>{"Other…"});
  q.spec.style = Style::buttons;
  q.spec.options.push_back({"Later", "", "", false});
  CHECK(components_of(draw({q}), 3).empty());
  q.spec.options.push_back({"Never", "", "", false});
  CHECK(components_of(draw({q}), 3).size() == 1);
}

TEST_CASE("several choices are told in the text and made in the form") {
  Question q = discord_question(kYesNo);
  q.spec.multi_select = true;
  q.spec.allow_other = false;
  q.spec.options[0].description = "now";
  const Json message = draw({q});
  CHECK(components_of(message, 3).empty());
  CHECK(labels_of(message) == std::vector<std::string>{"Choose…"});
  CHECK(text_of(message).starts_with("Ship it?\n**Yes**: now\n**No**\n"));
}

TEST_CASE("a question without options has a button that opens the form") {
  CHECK(labels_of(draw({discord_question()})) == std::vector<std::string>{"Answer…"});
}

TEST_CASE("who may cancel gets a button for it, once a message") {
  const Question q = discord_question(kYesNo);
  const DiscordStyle style{kStyle.public_url, true};
  Json message = draw({q}, style);
  CHECK(labels_of(message) == std::vector<std::string>{"Yes", "No", "Other…", "Cancel"});
  CHECK(components_of(message, 2)[3]["custom_id"] == "hp:" + q.id.text() + ":c");
  auto batch = discord_batch(3, q);
  batch[0] = settled(batch[0], QuestionStatus::answered);
  message = draw(batch, style);
  CHECK(labels_of(message).back() == "Cancel all");
  // One that still waits: a settled one cannot be called off.
  CHECK(components_of(message, 2).back()["custom_id"] == "hp:" + batch[1].id.text() + ":c");
  for (auto& one : batch) one = settled(one, QuestionStatus::answered);
  CHECK(labels_of(draw(batch, style)) ==
        std::vector<std::string>{"Answered", "Answered", "Answered"});
}

TEST_CASE("a settled question says how it ended, in its colour, with a button that does nothing") {
  const struct {
    QuestionStatus status;
    const char* label;
    int colour;
    const char* line;
  } cases[] = {
      {QuestionStatus::answered, "Answered", 0x2d9d5f, "Answered by ana (7): Yes"},
      {QuestionStatus::timed_out, "Expired", 0x8a919c, "Expired: nobody answered in time"},
      {QuestionStatus::cancelled, "Cancelled", 0xd9534f, "Cancelled"},
  };
  for (const auto& expected : cases) {
    CAPTURE(expected.label);
    const Json message = draw({settled(discord_question(kYesNo), expected.status)});
    CHECK(message["components"][0]["accent_color"] == expected.colour);
    CHECK(components_of(message, 10).back()["content"] == expected.line);
    const auto buttons = components_of(message, 2);
    REQUIRE(buttons.size() == 1);
    CHECK(buttons[0]["label"] == expected.label);
    CHECK(buttons[0]["disabled"] == true);
  }
}

TEST_CASE("a batch is numbered, says who asks once, and each question has its own container") {
  auto batch = discord_batch(3, discord_question(kYesNo));
  for (auto& q : batch) q.context = R"({"branch":"main","tests":12})";
  batch[1] = settled(batch[1], QuestionStatus::answered);
  const Json message = draw(batch);
  REQUIRE(message["components"].size() == 4);
  const std::string text = text_of(message);
  CHECK(text.starts_with("**poet** asks 3 questions · answer by <t:1794834000:f>"));
  CHECK(text.find("-# branch: main\n-# tests: 12\n**1/3**\nShip it?") != std::string::npos);
  CHECK(text.find("**2/3**\nShip it?\nAnswered by ana (7): Yes\n") != std::string::npos);
  CHECK(message["components"][1]["accent_color"] == 0x5865f2);
  CHECK(message["components"][2]["accent_color"] == 0x2d9d5f);
}

TEST_CASE("what does not fit is shortened with a link to all of it") {
  const std::string link =
      "[Read it in full](<https://hold.example.org/question/0193e1f0-0000-7000-8000-000000000001>)";
  const auto has_link = [&](const Question& q) {
    const Json message = draw({q});
    check_limits(message);
    return text_of(message).find(link) != std::string::npos;
  };
  Question q = discord_question(kYesNo);
  CHECK_FALSE(has_link(q));
  q.spec.question = std::string(3500, 'x');
  CHECK_FALSE(has_link(q));
  q.spec.question = std::string(4000, '*');
  CHECK(has_link(q));
  q = discord_question(kYesNo);
  q.spec.style = Style::select;
  q.spec.options[0].description = std::string(101, 'd');
  CHECK(has_link(q));
  q = discord_question(kYesNo);
  q.context = Json{{"log", std::string(5000, 'l')}}.dump();
  CHECK(has_link(q));
  q = settled(discord_question(), QuestionStatus::answered);
  q.choice = Choice{{}, std::string(9000, '_')};
  CHECK(has_link(q));
}

TEST_CASE("no question that can be asked makes a message that Discord refuses") {
  const std::vector<std::string> bits{
      "word ",      "**b** ", "🙂",        "שלום ", "<@1>",
      "@everyone ", "[a](b)", "\n# h\n",     "`c`",   "https://a.example/b_c ",
      "日本語",     "\\",     "\xe2\x80\x8b"};
  std::size_t turn = 0;
  const auto filled = [&](std::size_t chars) {
    std::string text;
    while (true) {
      const std::string& bit = bits[(turn = turn * 5 + 3) % bits.size()];
      if (discord_length(text) + discord_length(bit) > chars) return text.empty() ? "x" : text;
      text += bit;
    }
  };
  for (const std::size_t count : {1U, 2U, 3U, 4U}) {
    for (const std::size_t options : {0U, 2U, 3U, 5U, 25U}) {
      for (const std::size_t scale : {1U, 20U}) {
        for (int kind = 0; kind < 5; ++kind) {
          Question q = discord_question();
          q.spec.header = filled(12);
          q.spec.question = filled(200 * scale);
          for (std::size_t i = 0; i < options; ++i) {
            q.spec.options.push_back({filled(10 * scale), filled(50 * scale), "🖋", i == 1});
          }
          q.spec.multi_select = kind == 1 && options > 0;
          q.spec.style = kind == 2 ? Style::select : Style::buttons;
          q.context = Json{{filled(30), filled(100 * scale)}, {"n", 1}}.dump();
          if (kind > 2) q = settled(q, QuestionStatus::answered);
          if (kind == 4) q.choice = Choice{{}, filled(500 * scale)};
          CAPTURE(count);
          CAPTURE(options);
          CAPTURE(scale);
          CAPTURE(kind);
          const DiscordStyle style{kind == 3 ? "https://" + std::string(2000, 'h') : "http://h",
                                   true};
          check_limits(draw(discord_batch(count, q), style));
        }
      }
    }
  }
}

TEST_CASE("a new message names its delivery, so that a repeat makes no second one") {
  const std::string nonce = discord_nonce("0193e1f0-1234-7000-8000-00000000abcd");
  CHECK(nonce ==
        "0123470008000"
        "00000000abcd");
  CHECK(nonce.size() == 25);
  const Json message = Json::parse(discord_new_message({discord_question()}, kStyle, nonce));
  CHECK(message["nonce"] == nonce);
  CHECK(message["enforce_nonce"] == true);
  CHECK(message["components"] == draw({discord_question()})["components"]);
}

}  // namespace
}  // namespace holdpoint
