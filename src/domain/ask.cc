#include "domain/ask.h"

#include <set>

#include "domain/answer.h"
#include "domain/bad_request.h"
#include "domain/text.h"

namespace holdpoint {
namespace {

void check_options(const QuestionSpec& spec, const std::string& at, const Limits& limits) {
  const auto& options = spec.options;
  if (options.empty()) {
    if (!spec.allow_other) {
      throw BadRequest(at + ".allow_other", "a question without options must allow an own answer");
    }
    return;
  }
  if (options.size() < 2 || options.size() > limits.max_options) {
    throw BadRequest(at + ".options", "must be none, or 2 to " +
                                          std::to_string(limits.max_options) + " options, not " +
                                          std::to_string(options.size()));
  }
  std::set<std::string_view> labels;
  int recommended = 0;
  for (std::size_t i = 0; i < options.size(); ++i) {
    const std::string field = at + ".options[" + std::to_string(i) + "]";
    if (is_blank(options[i].label)) throw BadRequest(field, "the label must not be empty");
    if (count_chars(options[i].label) > limits.max_label_chars) {
      throw BadRequest(
          field, "a label has at most " + std::to_string(limits.max_label_chars) + " characters");
    }
    if (!labels.insert(options[i].label).second) {
      throw BadRequest(field, "labels must be unique, and this one is there twice");
    }
    recommended += options[i].recommended ? 1 : 0;
  }
  if (recommended > 1) {
    throw BadRequest(at + ".options",
                     "at most one option may be recommended, not " + std::to_string(recommended));
  }
}

void check_question(const QuestionSpec& spec, const std::string& at, const Limits& limits) {
  const std::size_t chars = count_chars(spec.question);
  if (is_blank(spec.question) || chars > limits.max_question_chars) {
    throw BadRequest(at + ".question",
                     "must have 1 to " + std::to_string(limits.max_question_chars) + " characters");
  }
  if (spec.header && count_chars(*spec.header) > limits.max_header_chars) {
    throw BadRequest(at + ".header", "has at most " + std::to_string(limits.max_header_chars) +
                                         " characters, not " +
                                         std::to_string(count_chars(*spec.header)));
  }
  check_options(spec, at, limits);
  if (spec.default_choice) {
    std::vector<std::string> values = spec.default_choice->selected;
    if (spec.default_choice->text) values.push_back(*spec.default_choice->text);
    choose(spec, values, at + ".default", limits);
  }
}

}  // namespace

void check_ask(const Ask& ask, const Limits& limits) {
  if (ask.questions.empty() || ask.questions.size() > limits.max_questions) {
    throw BadRequest("questions", "must be 1 to " + std::to_string(limits.max_questions) +
                                      " questions, not " + std::to_string(ask.questions.size()));
  }
  std::set<std::string_view> texts;
  for (std::size_t i = 0; i < ask.questions.size(); ++i) {
    const std::string at = "questions[" + std::to_string(i) + "]";
    check_question(ask.questions[i], at, limits);
    if (!texts.insert(ask.questions[i].question).second) {
      throw BadRequest(at + ".question", "two questions of one ask have the same text");
    }
    if (ask.on_timeout == OnTimeout::use_default && !ask.questions[i].default_choice) {
      throw BadRequest(at + ".default", "is required when on_timeout is \"default\"");
    }
  }
  if (ask.timeout < std::chrono::seconds{1} || ask.timeout > limits.max_timeout) {
    throw BadRequest("timeout",
                     "must be 1 to " + std::to_string(limits.max_timeout.count()) + " seconds");
  }
  if (ask.context.size() > limits.max_context_bytes) {
    throw BadRequest("context",
                     "has at most " + std::to_string(limits.max_context_bytes) + " bytes");
  }
}

std::vector<Question> pose(const Ask& ask, const SessionId& session, const std::string& agent_name,
                           std::int64_t turn, const std::vector<std::string>& channels, Time now) {
  std::vector<Question> questions;
  for (const auto& spec : ask.questions) {
    Question question;
    question.id = QuestionId::make(now);
    question.session_id = session;
    question.agent_name = agent_name;
    question.ask = turn;
    question.position = static_cast<std::int64_t>(questions.size());
    question.channels = channels;
    question.spec = spec;
    question.context = ask.context;
    question.tool_call_id = ask.tool_call_id;
    question.on_timeout = ask.on_timeout;
    question.created_at = now;
    question.deadline_at = now + ask.timeout;
    questions.push_back(std::move(question));
  }
  return questions;
}

}  // namespace holdpoint
