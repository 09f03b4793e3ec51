#include "wire/mcp_elicitation.h"

#include <algorithm>

#include "domain/answer.h"
#include "domain/bad_request.h"
#include "domain/text.h"
#include "wire/mcp_tools.h"

namespace holdpoint::mcp {
namespace {

std::string field_name(std::size_t i) { return "answer" + std::to_string(i + 1); }
std::string other_name(std::size_t i) { return "other" + std::to_string(i + 1); }

void write_labels(JsonWriter& out, const QuestionSpec& question) {
  out.key("enum").begin_array();
  for (const auto& option : question.options) out.value(option.label);
  out.end_array();
}

std::string descriptions(const QuestionSpec& question) {
  std::string text;
  for (const auto& option : question.options) {
    if (option.description.empty()) continue;
    text.append(text.empty() ? "" : "; ").append(option.label).append(": ");
    text.append(option.description);
  }
  return text;
}

void write_field(JsonWriter& out, const QuestionSpec& question, std::size_t i) {
  out.key(field_name(i)).begin_object();
  out.member("title", shorten(question.question, 200));
  if (const auto text = descriptions(question); !text.empty()) out.member("description", text);
  if (question.multi_select && !question.options.empty()) {
    out.member("type", "array").key("items").begin_object().member("type", "string");
    write_labels(out, question);
    out.end_object();
  } else {
    out.member("type", "string");
    if (!question.options.empty()) write_labels(out, question);
  }
  out.end_object();
  if (question.options.empty() || !question.allow_other) return;
  out.key(other_name(i)).begin_object().member("type", "string");
  out.member("title", "Or in your own words").end_object();
}

void add_values(std::vector<std::string>& values, const Json& content, const std::string& name) {
  if (!content.contains(name)) return;
  const Json& value = content[name];
  const auto add = [&](const Json& item) {
    if (item.is_string() && !is_blank(item.get<std::string>())) {
      values.push_back(item.get<std::string>());
    }
  };
  if (value.is_array()) {
    for (const auto& item : value) add(item);
  } else {
    add(value);
  }
}

}  // namespace

bool can_elicit(const Ask& ask, std::string_view revision) {
  if (revision >= "2025-11-25") return true;
  return std::none_of(ask.questions.begin(), ask.questions.end(),
                      [](const QuestionSpec& question) { return question.multi_select; });
}

std::string elicitation_params(const Ask& ask) {
  std::string message;
  for (const auto& question : ask.questions) {
    message.append(message.empty() ? "" : "\n").append(question.question);
  }
  JsonWriter out;
  out.begin_object().member("message", message).key("requestedSchema").begin_object();
  out.member("type", "object").key("properties").begin_object();
  for (std::size_t i = 0; i < ask.questions.size(); ++i) write_field(out, ask.questions[i], i);
  out.end_object().key("required").begin_array();
  for (std::size_t i = 0; i < ask.questions.size(); ++i) {
    // Own words may stand in an option's place.
    const QuestionSpec& question = ask.questions[i];
    if (question.options.empty() || !question.allow_other) out.value(field_name(i));
  }
  return out.end_array().end_object().end_object().take();
}

std::optional<std::vector<Choice>> read_elicited(const Json& result, const Ask& ask,
                                                 const Limits& limits) {
  if (!result.is_object() || result.value("action", Json()) != "accept") return std::nullopt;
  const Json content = result.value("content", Json());
  if (!content.is_object()) return std::nullopt;
  std::vector<Choice> choices;
  try {
    for (std::size_t i = 0; i < ask.questions.size(); ++i) {
      const QuestionSpec& question = ask.questions[i];
      std::vector<std::string> values;
      add_values(values, content, other_name(i));
      if (values.empty() || question.multi_select) add_values(values, content, field_name(i));
      choices.push_back(choose(question, values, field_name(i), limits));
    }
  } catch (const BadRequest&) {
    return std::nullopt;
  }
  return choices;
}

std::string elicited_result(const Ask& ask, const std::vector<Choice>& choices) {
  JsonWriter out;
  out.begin_object().member("status", "answered").member("answered", true);
  out.member("outcome", "answered");
  out.member("answered_via", "elicitation").key("answers").begin_object();
  std::string text;
  for (std::size_t i = 0; i < choices.size(); ++i) {
    const QuestionSpec& question = ask.questions[i];
    out.key(question.question);
    write_choice(out, question, choices[i]);
    text.append(text.empty() ? "" : "\n\n");
    if (choices.size() > 1) text += question.question + "\n";
    text += "Answered by the user of this client: " + choice_line(choices[i]);
  }
  out.end_object().end_object();
  return text_result(text, out.take(), false);
}

}  // namespace holdpoint::mcp
