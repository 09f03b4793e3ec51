#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "domain/question.h"
#include "http/html.h"
#include "http/router.h"
#include "wire/form.h"

namespace holdpoint {

// A question among those that were asked with it, itself included; it is one of them.
struct Batch {
  std::size_t number = 1;  // Its place, from 1.
  std::size_t size = 1;
  std::size_t left = 0;            // How many others wait.
  std::optional<QuestionId> next;  // The one of them to go on with.
};
Batch batch_of(const Question& question, const std::vector<Question>& ask);

// A question as a page without script: its options, own text, and cancel where that is allowed.
struct QuestionPage {
  const Question& question;
  Batch batch;
  std::string action;                                       // Where the form goes.
  std::vector<std::pair<std::string, std::string>> hidden;  // Fields that go with it.
  bool may_cancel = false;
  Visitor visitor = Visitor::of_link;
  std::vector<std::string> chosen;  // What is filled in already.
  std::string own_text;
  std::string complaint;  // What was wrong with what was sent.
};
Response question_page(const QuestionPage& page, int status = 200);
// The same for who may not answer: no form, and `note` that says why.
Response reading_page(const QuestionPage& page, std::string_view note);
// Asks once more before the request is cancelled. What was filled in goes with its form, so that
// who keeps the request finds it again.
Response confirm_cancel_page(const QuestionPage& page);

// How a question ended: who decided, when and what.
Response settled_page(const Question& question, const Batch& batch, Visitor visitor);
// After the page's own answer was taken.
Response thanks_page(const Question& question, const Batch& batch, Visitor visitor);

// What a question's form says, for Answers.
std::vector<std::string> read_answer(const Form& form);

std::string show_time(Time time);

}  // namespace holdpoint
