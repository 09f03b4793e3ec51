#include "domain/question.h"

#include <algorithm>

namespace holdpoint {

std::string_view to_text(Style style) { return style == Style::buttons ? "buttons" : "select"; }

std::string_view to_text(OnTimeout policy) {
  switch (policy) {
    case OnTimeout::fail:
      return "fail";
    case OnTimeout::use_default:
      return "default";
    case OnTimeout::carry_on:
      return "continue";
  }
  return "";
}

std::optional<OnTimeout> on_timeout_from(std::string_view text) {
  for (const auto policy : {OnTimeout::fail, OnTimeout::use_default, OnTimeout::carry_on}) {
    if (to_text(policy) == text) return policy;
  }
  return std::nullopt;
}

std::vector<std::int64_t> selected_index(const QuestionSpec& spec, const Choice& choice) {
  std::vector<std::int64_t> index;
  for (const auto& label : choice.selected) {
    for (std::size_t i = 0; i < spec.options.size(); ++i) {
      if (spec.options[i].label == label) index.push_back(static_cast<std::int64_t>(i));
    }
  }
  return index;
}

std::string choice_line(const Choice& choice) {
  std::string line;
  for (const auto& label : choice.selected) {
    if (!line.empty()) line += ", ";
    line += label;
  }
  if (choice.text) {
    if (!line.empty()) line += ", ";
    line += *choice.text;
  }
  return line;
}

std::size_t count_settled(const std::vector<Question>& questions) {
  return static_cast<std::size_t>(std::count_if(
      questions.begin(), questions.end(), [](const Question& q) { return is_settled(q.status); }));
}

std::string settled_line(const Question& q) {
  const std::string by = q.answered_by ? " by " + *q.answered_by : "";
  const std::string choice = q.choice ? ": " + choice_line(*q.choice) : "";
  switch (q.status) {
    case QuestionStatus::answered:
      return "Answered" + by + choice;
    case QuestionStatus::defaulted:
      return "Expired: nobody answered in time, so the default counts" + choice;
    case QuestionStatus::timed_out:
      return "Expired: nobody answered in time";
    case QuestionStatus::cancelled:
      return "Cancelled" + by;
    case QuestionStatus::pending:
      break;
  }
  return "";
}

}  // namespace holdpoint
