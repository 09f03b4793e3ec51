// parse_answer, and its answer put to one question of each kind.
#include "domain/answer.h"

#include "domain/text.h"
#include "tests/fuzz/expect.h"
#include "tests/fuzz/refusal.h"
#include "wire/json.h"
#include "wire/question_json.h"

namespace holdpoint {
namespace {

const Limits kLimits;

Question question(const char* id, const char* text, std::vector<const char*> labels, bool multi,
                  bool other) {
  Question made;
  made.id = QuestionId(id);
  made.spec.question = text;
  for (const auto* label : labels) made.spec.options.push_back({label, "", "", false});
  made.spec.multi_select = multi;
  made.spec.allow_other = other;
  return made;
}

const std::vector<Question> kQuestions{
    question("q1", "Where?", {"here", "there"}, false, false),
    question("q2", "Which?", {"a", "b", "c"}, true, true),
    question("q3", "Why?", {}, false, true),
};

void check_against(const Answer& answer, const Json& json) {
  expect(!answer.values.empty(), "an accepted answer has a value");
  expect(answer.by_text == json.contains("answers"), "by_text means answers");
  expect(answer.by == (json.value("answered_by", Json()).is_null()
                           ? ""
                           : json["answered_by"].get<std::string>()),
         "answered_by is what was written");
  expect(count_chars(answer.by) <= 200, "answered_by has its bounds");
  for (const auto& [key, values] : answer.values) {
    const Json& given = answer.by_text ? json["answers"][key] : json["answer"];
    expect(given.is_string() ? Json::array({given}) == Json(values) : given == Json(values),
           "the values are what was written");
    expect(!key.empty() || !answer.by_text, "a key of answers is not empty");
  }
}

// Whoever sends the same choice again, as we wrote it, has answered the same.
void check_repeat(const Question& asked, const Choice& choice) {
  JsonWriter out;
  out.begin_object().member("question_id", asked.id).key("answer");
  write_choice(out, asked.spec, choice);
  out.end_object();
  const Answer again = parse_answer(out.take());
  const auto named = find_named(kQuestions, again);
  expect(named.size() == 1 && named[0].question == &asked, "a repeat finds its question");
  expect(choose(asked.spec, *named[0].values, "answer", kLimits) == choice,
         "a repeat is the same choice");
}

void run(std::string_view text) {
  const auto answer = unless_refused([&] { return parse_answer(text); });
  if (!answer) return;
  check_against(*answer, Json::parse(text));
  const auto named = unless_refused([&] { return find_named(kQuestions, *answer); });
  if (!named) return;
  for (const Named& one : *named) {
    const auto choice =
        unless_refused([&] { return choose(one.question->spec, *one.values, one.field, kLimits); });
    if (!choice) continue;
    expect(choice->selected.size() + (choice->text ? 1 : 0) == one.values->size(),
           "no value is lost");
    check_repeat(*one.question, *choice);
  }
}

}  // namespace
}  // namespace holdpoint

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  holdpoint::run(holdpoint::text_of(data, size));
  return 0;
}
