#pragma once

#include <string>
#include <vector>

#include "domain/question.h"

namespace holdpoint {

// What a mail about one question says, before it is text or HTML.
struct Letter {
  enum class Kind {
    asks,     // The question waits for this recipient.
    unclear,  // So it does, and their reply was no answer.
    settled,
  };
  Kind kind = Kind::asks;
  const Question& question;
  std::string to;
  std::string reason;       // Why a reply was no answer, without a full stop.
  std::string answer_link;  // The recipient's own; empty: none.
  std::string page;         // The question's, for those who log in.
  bool replies_are_read = false;
  std::string unsubscribe_url;  // Empty: none.
};

struct ContextEntry {
  std::string name;
  std::string value;
  bool is_text = true;  // Else JSON.
};
// The context in the agent's own order, as far as a mail holds it.
struct ContextView {
  std::vector<ContextEntry> entries;
  bool whole = true;
};
ContextView context_of(const Question& question);

// The phrases that both forms of a letter have in common; plain text, nothing escaped.
std::string heading(const Letter& letter);
std::string question_text(const Letter& letter);
bool is_whole(const Letter& letter);  // False: there is more on the page.
std::string unclear_line(const Letter& letter);
std::string choose_line(const Letter& letter);
std::string reply_line(const Letter& letter);
std::string deadline_line(const Letter& letter);
std::string why_line(const Letter& letter);
std::string option_line(const Option& option);

bool takes_own_words(const QuestionSpec& spec);

// Opens the form with the option filled in, or empty; decides nothing.
std::string link_to(const Letter& letter, const Option& option);
std::string link_to_form(const Letter& letter);

}  // namespace holdpoint
