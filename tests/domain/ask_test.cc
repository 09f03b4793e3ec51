#include "domain/ask.h"

#include <doctest/doctest.h>

#include "tests/domain/complaint.h"

namespace holdpoint {
namespace {

using namespace std::chrono_literals;
using test::Complaint;
using test::complaint_of;

QuestionSpec spec(std::string text = "What style?") {
  QuestionSpec spec;
  spec.question = std::move(text);
  spec.options = {{"haiku", "", "", false}, {"sonnet", "", "", false}};
  return spec;
}

Ask ask_of(std::vector<QuestionSpec> questions) {
  Ask ask;
  ask.questions = std::move(questions);
  return ask;
}

Complaint complaint_about(const Ask& ask, const Limits& limits = {}) {
  return complaint_of([&] {
    check_ask(ask, limits);
    return 0;
  });
}

Complaint complaint_about(const QuestionSpec& spec, const Limits& limits = {}) {
  return complaint_about(ask_of({spec}), limits);
}

std::string times(std::size_t count, const std::string& text) {
  std::string out;
  while (count-- > 0) out += text;
  return out;
}

TEST_CASE("an ask has 1 to 4 questions") {
  CHECK(complaint_about(ask_of({})).field == "questions");
  CHECK(complaint_about(ask_of({spec("1")})).field == "(none)");
  CHECK(complaint_about(ask_of({spec("1"), spec("2"), spec("3"), spec("4")})).field == "(none)");
  const auto five =
      complaint_about(ask_of({spec("1"), spec("2"), spec("3"), spec("4"), spec("5")}));
  CHECK(five.field == "questions");
  CHECK(five.reason == "must be 1 to 4 questions, not 5");
  Limits one;
  one.max_questions = 1;
  CHECK(complaint_about(ask_of({spec("1"), spec("2")}), one).field == "questions");
}

TEST_CASE("a question has 1 to 4,000 characters, whatever their bytes") {
  CHECK(complaint_about(spec("?")).field == "(none)");
  CHECK(complaint_about(spec(times(4000, "é"))).field == "(none)");
  CHECK(complaint_about(spec(times(4001, "e"))).field == "questions[0].question");
  CHECK(complaint_about(spec(times(4001, "é"))).says("4000"));
  CHECK(complaint_about(spec("")).field == "questions[0].question");
  CHECK(complaint_about(spec(" \t\n")).field == "questions[0].question");
}

TEST_CASE("a header has at most 12 characters, whatever their bytes") {
  auto with = [](std::string header) {
    auto s = spec();
    s.header = std::move(header);
    return complaint_about(s);
  };
  CHECK(with("abcdefghijkl").field == "(none)");
  CHECK(with(times(12, "日")).field == "(none)");
  CHECK(with(times(12, "👍")).field == "(none)");
  CHECK(with("abcdefghijklm").field == "questions[0].header");
  CHECK(with(times(13, "日")).reason == "has at most 12 characters, not 13");
}

TEST_CASE("a question has no options, or 2 to 5") {
  const auto with = [](std::size_t count, std::size_t most = 5) {
    auto s = spec();
    s.options.clear();
    for (std::size_t i = 0; i < count; ++i) {
      s.options.push_back({"option " + std::to_string(i), "", "", false});
    }
    Limits limits;
    limits.max_options = most;
    return complaint_about(s, limits);
  };
  CHECK(with(0).field == "(none)");
  CHECK(with(1).reason == "must be none, or 2 to 5 options, not 1");
  CHECK(with(1).field == "questions[0].options");
  CHECK(with(2).field == "(none)");
  CHECK(with(5).field == "(none)");
  CHECK(with(6).field == "questions[0].options");
  CHECK(with(25, 25).field == "(none)");
  CHECK(with(26, 25).field == "questions[0].options");
}

TEST_CASE("a label is 1 to 200 characters and stands once") {
  const auto with = [](const std::string& second) {
    auto s = spec();
    s.options[1].label = second;
    return complaint_about(s);
  };
  CHECK(with(times(200, "é")).field == "(none)");
  CHECK(with(times(201, "é")).field == "questions[0].options[1]");
  CHECK(with("").field == "questions[0].options[1]");
  CHECK(with("  ").field == "questions[0].options[1]");
  CHECK(with("haiku").field == "questions[0].options[1]");
  CHECK(with("haiku").says("unique"));
  CHECK(with("Haiku").field == "(none)");
}

TEST_CASE("at most one option is recommended") {
  auto s = spec();
  s.options[0].recommended = true;
  CHECK(complaint_about(s).field == "(none)");
  s.options[1].recommended = true;
  CHECK(complaint_about(s).field == "questions[0].options");
  CHECK(complaint_about(s).says("recommended"));
}

TEST_CASE("a question without options must take an own answer") {
  auto s = spec();
  s.options.clear();
  CHECK(complaint_about(s).field == "(none)");
  s.allow_other = false;
  CHECK(complaint_about(s).field == "questions[0].allow_other");
}

TEST_CASE("a default is checked as an answer is") {
  auto s = spec();
  s.allow_other = false;
  s.default_choice = Choice{{"sonnet"}, std::nullopt};
  CHECK(complaint_about(s).field == "(none)");
  s.default_choice = Choice{{}, "limerick"};
  CHECK(complaint_about(s).field == "questions[0].default");
  s.allow_other = true;
  CHECK(complaint_about(s).field == "(none)");
  s.default_choice = Choice{{"haiku", "sonnet"}, std::nullopt};
  CHECK(complaint_about(s).field == "questions[0].default");
  s.multi_select = true;
  CHECK(complaint_about(s).field == "(none)");
  s.default_choice = Choice{};
  CHECK(complaint_about(s).field == "questions[0].default");
}

TEST_CASE("on_timeout default needs a default on every question") {
  Ask ask = ask_of({spec("first?"), spec("second?")});
  ask.on_timeout = OnTimeout::use_default;
  ask.questions[0].default_choice = Choice{{"haiku"}, std::nullopt};
  CHECK(complaint_about(ask).field == "questions[1].default");
  ask.questions[1].default_choice = Choice{{}, "own"};
  CHECK(complaint_about(ask).field == "(none)");
}

TEST_CASE("two questions of one ask differ in their text, since answers may name it") {
  CHECK(complaint_about(ask_of({spec("same?"), spec("other?"), spec("same?")})).field ==
        "questions[2].question");
}

TEST_CASE("a timeout is 1 second to the most that is allowed") {
  Ask ask = ask_of({spec()});
  Limits limits;
  limits.max_timeout = 86400s;
  for (const auto timeout : {1s, 86400s}) {
    ask.timeout = timeout;
    CHECK(complaint_about(ask, limits).field == "(none)");
  }
  for (const auto timeout : {-1s, 0s, 86401s}) {
    ask.timeout = timeout;
    CHECK(complaint_about(ask, limits).field == "timeout");
    CHECK(complaint_about(ask, limits).reason == "must be 1 to 86400 seconds");
  }
}

TEST_CASE("a context has a most of bytes") {
  Ask ask = ask_of({spec()});
  Limits limits;
  limits.max_context_bytes = 10;
  ask.context = R"({"a":1234})";
  CHECK(complaint_about(ask, limits).field == "(none)");
  ask.context = R"({"a":12345})";
  CHECK(complaint_about(ask, limits).field == "context");
}

TEST_CASE("the complaint names the question that is to blame") {
  auto bad = spec("third?");
  bad.header = "far too long a header";
  CHECK(complaint_about(ask_of({spec("first?"), spec("second?"), bad})).field ==
        "questions[2].header");
}

TEST_CASE("an ask that is posed becomes a row for each question, in order, with one deadline") {
  Ask ask = ask_of({spec("first?"), spec("second?")});
  ask.timeout = 90s;
  ask.on_timeout = OnTimeout::carry_on;
  ask.context = R"({"topic":"love"})";
  ask.tool_call_id = "toolu_01";
  const Time now = *parse_iso("2026-11-16T09:00:00.123Z");
  const auto questions = pose(ask, SessionId("s"), "poet", 7, {"email", "url"}, now);
  REQUIRE(questions.size() == 2);
  CHECK(questions[0].id < questions[1].id);
  for (std::size_t i = 0; i < 2; ++i) {
    const Question& q = questions[i];
    CHECK(is_uuid(q.id.text()));
    CHECK(q.session_id == SessionId("s"));
    CHECK(q.agent_name == "poet");
    CHECK(q.ask == 7);
    CHECK(q.position == static_cast<std::int64_t>(i));
    CHECK(q.channels == std::vector<std::string>{"email", "url"});
    CHECK(q.spec.question == ask.questions[i].question);
    CHECK(q.context == ask.context);
    CHECK(q.tool_call_id == ask.tool_call_id);
    CHECK(q.on_timeout == OnTimeout::carry_on);
    CHECK(q.created_at == now);
    CHECK(q.deadline_at == now + 90s);
    CHECK(q.status == QuestionStatus::pending);
    CHECK_FALSE(q.choice);
    CHECK_FALSE(q.settled_at);
  }
}

}  // namespace
}  // namespace holdpoint
