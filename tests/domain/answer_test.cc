#include "domain/answer.h"

#include <doctest/doctest.h>

#include "tests/domain/complaint.h"

namespace holdpoint {
namespace {

using test::Complaint;
using test::complaint_of;
using Texts = std::vector<std::string>;

QuestionSpec styles(bool multi_select = false, bool allow_other = true) {
  QuestionSpec spec;
  spec.question = "What style?";
  for (const char* label : {"sonnet", "haiku", "free verse"}) {  // Not in the order of letters.
    spec.options.push_back({label, "", "", false});
  }
  spec.multi_select = multi_select;
  spec.allow_other = allow_other;
  return spec;
}

Choice picked(const QuestionSpec& spec, const Texts& values) {
  return choose(spec, values, "answer", {});
}

Complaint complaint_about(const QuestionSpec& spec, const Texts& values) {
  return complaint_of([&] { return choose(spec, values, "the.field", {}); });
}

Question question(const std::string& id, const std::string& text,
                  QuestionStatus status = QuestionStatus::pending) {
  Question q;
  q.id = QuestionId(id);
  q.spec = styles();
  q.spec.question = text;
  q.status = status;
  return q;
}

Answer answer(std::map<std::string, Texts> values, bool by_text = false) {
  Answer a;
  a.values = std::move(values);
  a.by_text = by_text;
  return a;
}

Complaint complaint_about(const std::vector<Question>& questions, const Answer& a) {
  return complaint_of([&] { return find_named(questions, a); });
}

TEST_CASE("an answer that is an option's label selects it") {
  CHECK(picked(styles(), {"haiku"}) == Choice{{"haiku"}, std::nullopt});
  CHECK(picked(styles(false, false), {"sonnet"}) == Choice{{"sonnet"}, std::nullopt});
}

TEST_CASE("an answer that is no label is own text, where that is allowed") {
  CHECK(picked(styles(), {"limerick"}) == Choice{{}, "limerick"});
  CHECK(picked(styles(), {"Haiku"}) == Choice{{}, "Haiku"});
  const auto refused = complaint_about(styles(false, false), {"limerick"});
  CHECK(refused.field == "the.field");
  CHECK(refused.reason ==
        R"("limerick" is no option; choose from "sonnet", "haiku", "free verse")");
}

TEST_CASE("a question without options takes own text only") {
  QuestionSpec spec;
  spec.question = "Why?";
  CHECK(picked(spec, {"because"}) == Choice{{}, "because"});
}

TEST_CASE("several answers need multi_select") {
  CHECK(complaint_about(styles(), {"haiku", "sonnet"}).says("multi_select"));
  CHECK(picked(styles(true), {"sonnet", "haiku"}) == Choice{{"sonnet", "haiku"}, std::nullopt});
}

TEST_CASE("the same picks are the same choice, in whatever order they came") {
  const Choice all{{"sonnet", "haiku", "free verse"}, std::nullopt};
  CHECK(picked(styles(true), {"free verse", "sonnet", "haiku"}) == all);
  CHECK(picked(styles(true), {"haiku", "sonnet", "free verse"}) == all);
  CHECK(picked(styles(true), {"limerick", "haiku"}) == Choice{{"haiku"}, "limerick"});
}

TEST_CASE("an option that is named twice is refused") {
  CHECK(complaint_about(styles(true), {"haiku", "haiku"}).says("twice"));
}

TEST_CASE("own text is one text") {
  CHECK(complaint_about(styles(true), {"limerick", "ballad"}).field == "the.field");
  CHECK(complaint_about(styles(true), {"limerick", "limerick"}).field == "the.field");
}

TEST_CASE("an answer is never empty") {
  for (const auto& values : {Texts{}, Texts{""}, Texts{" \n"}, Texts{"haiku", ""}}) {
    CHECK(complaint_about(styles(true), values).reason == "must not be empty");
  }
}

TEST_CASE("own text has at most 10,000 characters, whatever their bytes") {
  std::string text;
  for (int i = 0; i < 10'000; ++i) text += "é";
  CHECK(picked(styles(), {text}) == Choice{{}, text});
  CHECK(complaint_about(styles(), {text + "é"}).says("10000"));
}

TEST_CASE("an answer without a question is for the one that is pending") {
  const std::vector<Question> questions{question("q1", "one?", QuestionStatus::answered),
                                        question("q2", "two?")};
  const Answer unnamed = answer({{"", {"haiku"}}});
  const auto named = find_named(questions, unnamed);
  REQUIRE(named.size() == 1);
  CHECK(named[0].question == &questions[1]);
  CHECK(*named[0].values == Texts{"haiku"});
  CHECK(named[0].field == "answer");
}

TEST_CASE("an answer without a question is ambiguous when two are pending") {
  const auto refused =
      complaint_about({question("q1", "one?"), question("q2", "two?")}, answer({{"", {"haiku"}}}));
  CHECK(refused.field == "question_id");
  CHECK(refused.reason == "is required: 2 questions are pending");
}

TEST_CASE("an answer without a question repeats that of the only one, and else names none") {
  const Answer unnamed = answer({{"", {"haiku"}}});
  const std::vector<Question> one{question("q1", "one?", QuestionStatus::answered)};
  CHECK(find_named(one, unnamed)[0].question == &one[0]);
  const std::vector<Question> two{question("q1", "one?", QuestionStatus::answered),
                                  question("q2", "two?", QuestionStatus::timed_out)};
  CHECK(complaint_about(two, unnamed).field == "question_id");
  CHECK(complaint_about(std::vector<Question>{}, unnamed).field == "question_id");
}

TEST_CASE("a question is named by its id, settled or not") {
  const std::vector<Question> questions{question("q1", "one?", QuestionStatus::answered),
                                        question("q2", "two?")};
  const Answer first = answer({{"q1", {"haiku"}}}), second = answer({{"q2", {"haiku"}}});
  CHECK(find_named(questions, first)[0].question == &questions[0]);
  CHECK(find_named(questions, second)[0].question == &questions[1]);
  CHECK(complaint_about(questions, answer({{"q3", {"haiku"}}})).field == "question_id");
  CHECK(complaint_about(questions, answer({{"two?", {"haiku"}}})).field == "question_id");
}

TEST_CASE("`answers` names questions by id or by text, several at once") {
  const std::vector<Question> questions{question("q1", "one?"), question("q2", "two?")};
  const Answer both = answer({{"q1", {"haiku"}}, {"two?", {"own", "more"}}}, true);
  const auto named = find_named(questions, both);
  REQUIRE(named.size() == 2);
  CHECK(named[0].question == &questions[0]);
  CHECK(*named[0].values == Texts{"haiku"});
  CHECK(named[0].field == "answers.q1");
  CHECK(named[1].question == &questions[1]);
  CHECK(*named[1].values == Texts{"own", "more"});
  CHECK(named[1].field == "answers.two?");
}

TEST_CASE("`answers` is blamed by the key") {
  const std::vector<Question> questions{question("q1", "one?"), question("q2", "two?")};
  CHECK(complaint_about(questions, answer({{"three?", {"haiku"}}}, true)).field ==
        "answers.three?");
  const auto twice =
      complaint_about(questions, answer({{"one?", {"haiku"}}, {"q1", {"haiku"}}}, true));
  CHECK(twice.field == "answers.q1");
  CHECK(twice.says("second time"));
  CHECK(complaint_about(questions, answer({}, true)).field == "answers");
  const std::string long_key(500, 'x');
  CHECK(complaint_about(questions, answer({{long_key, {"a"}}}, true)).field.size() < 100);
}

TEST_CASE("an ask ends as its worst question does") {
  const auto outcome = [](const std::vector<QuestionStatus>& statuses) {
    std::vector<Question> questions;
    for (const auto status : statuses) {
      questions.push_back(question("q", "?", status));
      if (status == QuestionStatus::answered || status == QuestionStatus::defaulted) {
        questions.back().choice = Choice{{"haiku"}, std::nullopt};
      }
    }
    const AskOutcome o = outcome_of(questions);
    return std::string(to_text(o.status)) + (o.answered ? ", all answered" : "");
  };
  using S = QuestionStatus;
  CHECK(outcome({S::answered}) == "answered, all answered");
  CHECK(outcome({S::answered, S::answered}) == "answered, all answered");
  CHECK(outcome({S::defaulted}) == "defaulted, all answered");
  CHECK(outcome({S::defaulted, S::answered}) == "defaulted, all answered");
  CHECK(outcome({S::timed_out}) == "timed_out");
  CHECK(outcome({S::answered, S::timed_out, S::answered}) == "timed_out");
  CHECK(outcome({S::timed_out, S::defaulted}) == "timed_out");
  CHECK(outcome({S::cancelled}) == "cancelled");
  CHECK(outcome({S::cancelled, S::timed_out, S::answered}) == "cancelled");
}

}  // namespace
}  // namespace holdpoint
