// Asks and cards from outside, and what we write about them.
#include "domain/ask.h"

#include <algorithm>
#include <set>

#include "domain/text.h"
#include "tests/fuzz/expect.h"
#include "tests/fuzz/refusal.h"
#include "wire/card_json.h"
#include "wire/json.h"
#include "wire/outside_ask.h"
#include "wire/question_json.h"

namespace holdpoint {
namespace {

const Limits kLimits;

bool within(std::size_t least, std::size_t value, std::size_t most) {
  return least <= value && value <= most;
}

void check_default(const QuestionSpec& spec, const Choice& choice) {
  std::set<std::string> labels, selected(choice.selected.begin(), choice.selected.end());
  for (const auto& option : spec.options) labels.insert(option.label);
  expect(std::includes(labels.begin(), labels.end(), selected.begin(), selected.end()),
         "a default selects options that are there");
  expect(selected.size() == choice.selected.size(), "a default selects an option once");
  expect(!choice.text || spec.allow_other, "a default has own text only where that is allowed");
  const std::size_t values = selected.size() + (choice.text ? 1 : 0);
  expect(within(1, values, spec.multi_select ? 26 : 1), "a default is as many as are allowed");
}

void check_spec(const QuestionSpec& spec) {
  expect(!is_blank(spec.question) && count_chars(spec.question) <= 4000, "1 to 4000 characters");
  expect(!spec.header || count_chars(*spec.header) <= 12, "a header of at most 12 characters");
  expect(spec.options.empty() ? spec.allow_other : within(2, spec.options.size(), 5),
         "no options and free text, or 2 to 5 options");
  std::set<std::string> labels;
  std::size_t recommended = 0;
  for (const auto& option : spec.options) {
    expect(labels.insert(option.label).second, "labels are unique");
    expect(!is_blank(option.label) && count_chars(option.label) <= 200, "a label has its bounds");
    expect(count_chars(option.description) <= 1000, "a description has its bounds");
    expect(count_chars(option.emoji) <= 16, "an emoji has its bounds");
    recommended += option.recommended ? 1 : 0;
  }
  expect(recommended <= 1, "at most one option is recommended");
  if (spec.default_choice) check_default(spec, *spec.default_choice);
}

void check_rules(const Ask& ask) {
  expect(within(1, ask.questions.size(), 4), "1 to 4 questions");
  expect(ask.timeout.count() >= 1 && ask.timeout.count() <= 86400, "a timeout within bounds");
  expect(ask.context.size() <= kLimits.max_context_bytes, "a context within bounds");
  expect(!ask.tool_call_id || count_chars(*ask.tool_call_id) <= 200, "a short tool_call_id");
  std::set<std::string> texts;
  for (const auto& spec : ask.questions) {
    check_spec(spec);
    expect(texts.insert(spec.question).second, "texts of questions are unique");
    expect(ask.on_timeout != OnTimeout::use_default || spec.default_choice,
           "on_timeout default comes with defaults");
  }
}

// The same members as the text has, read without us.
void check_against(const Ask& ask, const Json& json) {
  expect(ask.questions.size() == json["questions"].size(), "no question is lost");
  const Json context = json.value("context", Json());
  expect(Json::parse(ask.context) == (context.is_null() ? Json::object() : context),
         "the context is what was written");
  for (std::size_t i = 0; i < ask.questions.size(); ++i) {
    const Json& given = json["questions"][i];
    const Json options = given.value("options", Json::array());
    expect(ask.questions[i].question ==
               given.value(given.contains("question") ? "question" : "prompt", ""),
           "a question's text is what was written");
    expect(ask.questions[i].options.size() == options.size(), "no option is lost");
  }
}

void check_written(const Ask& ask) {
  auto questions = pose(ask, SessionId("s"), "agent", 1, {}, Time{});
  for (auto& question : questions) {
    JsonWriter out;
    write_question(out, question);
    const Json written = parse_json(out.take(), "question");
    expect(written["question"] == question.spec.question, "a question is written as it was asked");
    expect(written["context"].contains("asked_at"), "its context says when it was asked");
    question.status = QuestionStatus::defaulted;
    question.choice = question.spec.default_choice;
  }
  const Json resume = parse_json(resume_json(questions), "resume");
  expect(resume["questions"].size() == questions.size(), "a resume has every question");
}

void check_outside(const OutsideAsk& outside, const Json& json) {
  expect(!outside.idempotency_key || within(1, outside.idempotency_key->size(), 255),
         "a key has its bounds");
  expect(outside.dedupe == json.value("dedupe", false), "it joins others only if it says so");
  const Json payload = json.value("payload", Json());
  expect(Json::parse(outside.payload) == (payload.is_null() ? Json::object() : payload),
         "the payload is what was written");
  expect(fingerprint(outside).size() == 64, "every ask has a fingerprint");
}

// What is only told comes back from the outbox as it was.
void run_card(std::string_view text) {
  const auto told = unless_refused([&] { return parse_outside_card(text, "agent", kLimits); });
  if (!told) return;
  expect(!is_blank(told->card.text) && count_chars(told->card.text) <= 4000,
         "1 to 4000 characters");
  expect(count_chars(told->card.title) <= 150, "a title of at most 150 characters");
  const Card card = read_card_posted(card_posted_json(SessionId("s"), "agent", told->card));
  expect(card.text == told->card.text && card.title == told->card.title, "a card is kept as it is");
}

void run(std::string_view text) {
  run_card(text);
  const auto outside =
      unless_refused([&] { return parse_outside_ask(text, "agent", {}, kLimits); });
  if (!outside) return;
  check_rules(outside->ask);
  check_against(outside->ask, Json::parse(text));
  check_outside(*outside, Json::parse(text));
  check_written(outside->ask);
}

}  // namespace
}  // namespace holdpoint

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  holdpoint::run(holdpoint::text_of(data, size));
  return 0;
}
