#include "domain/answer.h"

#include <algorithm>

#include "domain/bad_request.h"
#include "domain/text.h"

namespace holdpoint {
namespace {

const Question* find_question(const std::vector<Question>& questions, const std::string& key,
                              bool by_text) {
  const auto it = std::find_if(questions.begin(), questions.end(), [&](const Question& q) {
    return q.id.text() == key || (by_text && q.spec.question == key);
  });
  return it == questions.end() ? nullptr : &*it;
}

// The one question that an answer without a name can only mean.
const Question& only_question(const std::vector<Question>& questions) {
  std::vector<const Question*> pending;
  for (const auto& q : questions) {
    if (!is_settled(q.status)) pending.push_back(&q);
  }
  if (pending.size() == 1) return *pending[0];
  if (pending.empty() && questions.size() == 1) return questions[0];
  throw BadRequest("question_id", pending.empty()
                                      ? "is required: no question of this session is pending"
                                      : "is required: " + std::to_string(pending.size()) +
                                            " questions are pending");
}

}  // namespace

Choice choose(const QuestionSpec& spec, const std::vector<std::string>& values,
              const std::string& field, const Limits& limits) {
  if (values.empty()) throw BadRequest(field, "must not be empty");
  if (values.size() > 1 && !spec.multi_select) {
    throw BadRequest(field, "takes one answer: the question is not multi_select");
  }
  Choice choice;
  for (const auto& value : values) {
    if (is_blank(value)) throw BadRequest(field, "must not be empty");
    if (count_chars(value) > limits.max_answer_chars) {
      throw BadRequest(field,
                       "has at most " + std::to_string(limits.max_answer_chars) + " characters");
    }
    const bool offered = std::any_of(spec.options.begin(), spec.options.end(),
                                     [&](const Option& o) { return o.label == value; });
    if (offered) {
      if (std::find(choice.selected.begin(), choice.selected.end(), value) !=
          choice.selected.end()) {
        throw BadRequest(field, "names the option \"" + value + "\" twice");
      }
      choice.selected.push_back(value);
    } else if (!spec.allow_other) {
      std::string labels;
      for (const auto& option : spec.options) {
        labels += (labels.empty() ? "\"" : ", \"") + option.label + "\"";
      }
      throw BadRequest(field, "\"" + shorten(value, 60) + "\" is no option; choose from " + labels);
    } else if (choice.text) {
      throw BadRequest(field, "takes at most one answer that is no option");
    } else {
      choice.text = value;
    }
  }
  // In the order of the options, so that the same picks are the same choice.
  const auto place = [&](const std::string& label) {
    return std::find_if(spec.options.begin(), spec.options.end(),
                        [&](const Option& o) { return o.label == label; });
  };
  std::sort(choice.selected.begin(), choice.selected.end(),
            [&](const auto& a, const auto& b) { return place(a) < place(b); });
  return choice;
}

std::vector<Named> find_named(const std::vector<Question>& questions, const Answer& answer) {
  std::vector<Named> named;
  for (const auto& [key, values] : answer.values) {
    const std::string entry = "answers." + shorten(key, 60);
    const std::string field = answer.by_text ? entry : "answer";
    const Question* question =
        key.empty() ? &only_question(questions) : find_question(questions, key, answer.by_text);
    if (!question) {
      throw BadRequest(answer.by_text ? entry : "question_id", "no such question in this session");
    }
    for (const auto& other : named) {
      if (other.question == question) {
        throw BadRequest(field, "answers the same question a second time");
      }
    }
    named.push_back({question, &values, field});
  }
  if (named.empty()) throw BadRequest("answers", "must hold at least one answer");
  return named;
}

AskOutcome outcome_of(const std::vector<Question>& settled) {
  AskOutcome outcome;
  const auto rank = [](QuestionStatus s) {
    switch (s) {
      case QuestionStatus::cancelled:
        return 3;
      case QuestionStatus::timed_out:
        return 2;
      case QuestionStatus::defaulted:
        return 1;
      default:
        return 0;
    }
  };
  for (const auto& q : settled) {
    if (rank(q.status) > rank(outcome.status)) outcome.status = q.status;
    if (!q.choice) outcome.answered = false;
  }
  return outcome;
}

}  // namespace holdpoint
