#pragma once

#include <string>
#include <utility>
#include <vector>

#include "domain/question.h"
#include "http/router.h"
#include "wire/form.h"

namespace holdpoint {

// A question as a page without script: its options, own text, and cancel where that is allowed.
struct QuestionPage {
  const Question& question;
  std::string action;                                       // Where the form goes.
  std::vector<std::pair<std::string, std::string>> hidden;  // Fields that go with it.
  bool may_cancel = false;
  bool from_list = false;           // Somebody who may see the others too.
  std::vector<std::string> chosen;  // What is filled in already.
  std::string own_text;
  std::string complaint;  // What was wrong with what was sent.
};
Response question_page(const QuestionPage& page, int status = 200);

// How a question ended: who decided, when and what.
Response settled_page(const Question& question, bool from_list);
// After the page's own answer was taken.
Response thanks_page(const Question& question, bool from_list);

// What a question's form says, for Answers.
std::vector<std::string> read_answer(const Form& form);

std::string show_time(Time time);

}  // namespace holdpoint
