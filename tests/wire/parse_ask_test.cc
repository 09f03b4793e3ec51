#include <doctest/doctest.h>

#include "tests/domain/complaint.h"
#include "wire/question_json.h"

namespace holdpoint {
namespace {

using namespace std::chrono_literals;
using test::complaint_of;

Ask ask(const std::string& text, const AskDefaults& defaults = {}) {
  return parse_ask(text, defaults, {});
}

// The field that is blamed for `text`.
std::string blamed(const std::string& text) {
  return complaint_of([&] { return ask(text); }).field;
}

// An ask of one question that has these members besides its text.
std::string question_with(const std::string& members) {
  return R"({"questions":[{"question":"What style?",)" + members + "}]}";
}

std::string times(std::size_t count, const std::string& text) {
  std::string out;
  while (count-- > 0) out += text;
  return out;
}

TEST_CASE("the shortest ask takes the defaults") {
  const Ask short_one = ask(R"({"questions":[{"question":"Why?"}]})", {90s, OnTimeout::carry_on});
  REQUIRE(short_one.questions.size() == 1);
  const QuestionSpec& q = short_one.questions[0];
  CHECK(q.question == "Why?");
  CHECK_FALSE(q.header);
  CHECK(q.options.empty());
  CHECK_FALSE(q.multi_select);
  CHECK(q.allow_other);
  CHECK(q.style == Style::buttons);
  CHECK_FALSE(q.default_choice);
  CHECK(short_one.timeout == 90s);
  CHECK(short_one.on_timeout == OnTimeout::carry_on);
  CHECK(short_one.context == "{}");
  CHECK_FALSE(short_one.tool_call_id);
}

TEST_CASE("a full ask is read whole") {
  const Ask full =
      ask(R"({"questions":[{"question":"What style?","header":"Style","options":["haiku",
      {"label":"sonnet","description":"14 lines","emoji":"🖋","recommended":true}],
      "multi_select":true,"allow_other":false,"style":"select","default":["sonnet","haiku"]},
      {"question":"Why?"}],
      "timeout":60,"on_timeout":"continue","context":{"topic" : "love", "n":1.0},
      "tool_call_id":"toolu_01"})");
  REQUIRE(full.questions.size() == 2);
  const QuestionSpec& q = full.questions[0];
  CHECK(q.header == "Style");
  CHECK(q.options ==
        std::vector<Option>{{"haiku", "", "", false}, {"sonnet", "14 lines", "🖋", true}});
  CHECK(q.multi_select);
  CHECK_FALSE(q.allow_other);
  CHECK(q.style == Style::select);
  CHECK(q.default_choice == Choice{{"haiku", "sonnet"}, std::nullopt});
  CHECK(full.timeout == 60s);
  CHECK(full.on_timeout == OnTimeout::carry_on);
  CHECK(full.context == R"({"topic" : "love", "n":1.0})");
  CHECK(full.tool_call_id == "toolu_01");
}

TEST_CASE("prompt and multiSelect are other names for question and multi_select") {
  const Ask other = ask(R"({"questions":[{"prompt":"Why?","multiSelect":true}]})");
  CHECK(other.questions[0].question == "Why?");
  CHECK(other.questions[0].multi_select);
  CHECK(blamed(R"({"questions":[{"prompt":"Why?","question":"Why?"}]})") == "questions[0].prompt");
  CHECK(blamed(question_with(R"("multi_select":true,"multiSelect":true)")) ==
        "questions[0].multiSelect");
}

TEST_CASE("null stands for what may be left out") {
  const Ask nulls = ask(R"({"questions":[{"question":"Why?","header":null,"default":null}],
                            "tool_call_id":null,"context":null})");
  CHECK_FALSE(nulls.questions[0].header);
  CHECK_FALSE(nulls.questions[0].default_choice);
  CHECK_FALSE(nulls.tool_call_id);
  CHECK(nulls.context == "{}");
}

TEST_CASE("up to three options are buttons, four are a select, unless the ask says so") {
  const auto style = [](const std::string& members) {
    return ask(question_with(members)).questions[0].style;
  };
  CHECK(style(R"("options":["a","b","c"])") == Style::buttons);
  CHECK(style(R"("options":["a","b","c","d"])") == Style::select);
  CHECK(style(R"("options":["a","b"],"style":"select")") == Style::select);
  CHECK(style(R"("options":["a","b","c","d"],"style":"buttons")") == Style::buttons);
}

TEST_CASE("own text may be the default") {
  CHECK(ask(question_with(R"("default":"as you like")")).questions[0].default_choice ==
        Choice{{}, "as you like"});
}

TEST_CASE("what is no ask is blamed by its field") {
  CHECK(blamed("") == "body");
  CHECK(blamed("{") == "body");
  CHECK(blamed("[]") == "body");
  CHECK(blamed("{}") == "questions");
  CHECK(blamed(R"({"questions":{}})") == "questions");
  CHECK(blamed(R"({"questions":[]})") == "questions");
  CHECK(blamed(R"({"questions":[{"question":"a?"}],"agent":"x"})") == "agent");
  CHECK(blamed(R"({"questions":[{"question":"a?"}],"Timeout":1})") == "Timeout");
  CHECK(blamed(R"({"questions":["a?"]})") == "questions[0]");
  CHECK(blamed(R"({"questions":[{"question":"a?"},{}]})") == "questions[1].question");
  CHECK(blamed(R"({"questions":[{"question":1}]})") == "questions[0].question");
  CHECK(blamed(R"({"questions":[{"question":"a?"}],"questions":[{"question":"b?"}]})") ==
        "questions");
}

TEST_CASE("a caller's own member is let through") {
  CHECK(parse_ask(R"({"questions":[{"question":"a?"}],"agent":"x"})", {}, {}, {"agent"})
            .questions.size() == 1);
}

TEST_CASE("each member of a question is blamed by its path") {
  for (const auto& [members, field] : std::vector<std::pair<std::string, std::string>>{
           {R"("header":1)", "header"},
           {R"("header":"abcdefghijklm")", "header"},
           {R"("options":null)", "options"},
           {R"("options":"a")", "options"},
           {R"("options":["a"])", "options"},
           {R"("options":["a","b","c","d","e","f"])", "options"},
           {R"("options":["a",1])", "options[1]"},
           {R"("options":["a",null])", "options[1]"},
           {R"("options":["a","a"])", "options[1]"},
           {R"("options":["a",""])", "options[1]"},
           {R"("options":["a",{}])", "options[1].label"},
           {R"("options":["a",{"label":1}])", "options[1].label"},
           {R"("options":["a",{"label":"b","colour":"red"}])", "options[1].colour"},
           {R"("options":["a",{"label":"b","description":1}])", "options[1].description"},
           {R"("options":["a",{"label":"b","emoji":1}])", "options[1].emoji"},
           {R"("options":["a",{"label":"b","recommended":"yes"}])", "options[1].recommended"},
           {R"("options":[{"label":"a","recommended":true},{"label":"b","recommended":true}])",
            "options"},
           {R"("multi_select":"yes")", "multi_select"},
           {R"("multi_select":null)", "multi_select"},
           {R"("allow_other":1)", "allow_other"},
           {R"("allow_other":false)", "allow_other"},
           {R"("style":1)", "style"},
           {R"("style":"list")", "style"},
           {R"("default":1)", "default"},
           {R"("default":[])", "default"},
           {R"("default":[1])", "default"},
           {R"("default":"")", "default"},
           {R"("options":["a","b"],"default":["a","b"])", "default"},
           {R"("options":["a","b"],"allow_other":false,"default":"c")", "default"},
           {R"("colour":"red")", "colour"}}) {
    CAPTURE(members);
    CHECK(blamed(question_with(members)) == "questions[0]." + field);
  }
}

TEST_CASE("an option's description has at most 1,000 characters, its emoji 16") {
  const auto option = [](const std::string& name, const std::string& text) {
    return blamed(
        question_with(R"("options":["a",{"label":"b",")" + name + R"(":")" + text + R"("}])"));
  };
  CHECK(option("description", times(1000, "é")) == "(none)");
  CHECK(option("description", times(1001, "é")) == "questions[0].options[1].description");
  CHECK(option("emoji", times(16, "👍")) == "(none)");
  CHECK(option("emoji", times(17, "👍")) == "questions[0].options[1].emoji");
}

TEST_CASE("a timeout is a whole number of seconds within its bounds") {
  const auto with = [](const std::string& timeout) {
    return blamed(R"({"questions":[{"question":"a?"}],"timeout":)" + timeout + "}");
  };
  CHECK(with("1") == "(none)");
  CHECK(with("86400") == "(none)");
  for (const std::string timeout :
       {"0", "86401", "-1", "1.5", "60.0", "\"60\"", "null", "true", "9223372036854775808",
        "18446744073709551615", "99999999999999999999999", "-9223372036854775808", "1e3"}) {
    CAPTURE(timeout);
    CHECK(with(timeout) == "timeout");
  }
}

TEST_CASE("the other members of an ask have their types") {
  const auto with = [](const std::string& member) {
    return blamed(R"({"questions":[{"question":"a?"}],)" + member + "}");
  };
  CHECK(with(R"("on_timeout":"ignore")") == "on_timeout");
  CHECK(with(R"("on_timeout":null)") == "on_timeout");
  CHECK(with(R"("on_timeout":"default")") == "questions[0].default");
  CHECK(with(R"("context":[])") == "context");
  CHECK(with(R"("context":"x")") == "context");
  CHECK(with(R"("tool_call_id":1)") == "tool_call_id");
  CHECK(with(R"("tool_call_id":")" + times(200, "x") + "\"") == "(none)");
  CHECK(with(R"("tool_call_id":")" + times(201, "x") + "\"") == "tool_call_id");
}

TEST_CASE("a context is an object however its name is spelled, and is never mistaken") {
  CHECK(ask(R"({"questions":[{"question":"a?"}],"cont\u0065xt":{"a" : 1}})").context ==
        R"({"a":1})");
  CHECK(blamed(R"({"questions":[{"question":"a?"}],"context":5,"cont\u0065xt":{}})") == "context");
}

}  // namespace
}  // namespace holdpoint
