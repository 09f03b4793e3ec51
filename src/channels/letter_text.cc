#include "channels/letter_text.h"

#include "domain/text.h"

namespace holdpoint {
namespace {

constexpr const char* kIndent = "   ";

// Lines of a text under the one before; an agent's own line breaks must not look like ours.
std::string indented(std::string_view text) {
  std::string out = kIndent;
  for (const char c : text) {
    out += c;
    if (c == '\n') out += kIndent;
  }
  return out + "\n";
}

std::string context_lines(const Letter& letter) {
  std::string out;
  for (const auto& entry : context_of(letter.question).entries) {
    const bool several = entry.value.find('\n') != std::string::npos;
    out += entry.name + ":" + (several ? "\n" + indented(entry.value) : " " + entry.value + "\n");
  }
  if (!out.empty()) out += "\n";
  if (!is_whole(letter)) {
    out += "This is shortened. All of it:\n" + std::string(kIndent) + link_to_form(letter) + "\n\n";
  }
  return out;
}

std::string option_lines(const Letter& letter) {
  std::string out;
  std::size_t number = 0;
  for (const auto& option : letter.question.spec.options) {
    out += std::to_string(++number) + ". " + option_line(option) +
           (option.recommended ? " (recommended)" : "") + "\n";
    if (!option.description.empty()) out += indented(option.description);
    out += kIndent + link_to(letter, option) + "\n\n";
  }
  return out;
}

std::string ways_to_answer(const Letter& letter) {
  const auto& spec = letter.question.spec;
  std::string out;
  if (!spec.options.empty()) out += choose_line(letter) + "\n\n" + option_lines(letter);
  if (takes_own_words(spec)) {
    out += std::string(spec.options.empty() ? "Write your answer:" : "Write your own answer:") +
           "\n" + kIndent + link_to_form(letter) + "\n\n";
  }
  if (letter.replies_are_read) out += reply_line(letter) + "\n\n";
  return out + deadline_line(letter) + "\n\n";
}

}  // namespace

std::string letter_text(const Letter& letter) {
  const Question& q = letter.question;
  std::string out;
  if (letter.kind == Letter::Kind::unclear) {
    out += unclear_line(letter) + "\n\n";
  } else if (letter.kind == Letter::Kind::settled) {
    out += settled_line(q) + "\n\n";
  }
  out += heading(letter) + ":\n\n" + question_text(letter) + "\n\n";
  if (letter.kind == Letter::Kind::settled) {
    out += "Nothing is left to do. The question's page:\n" + std::string(kIndent) + letter.page +
           "\n\n";
  } else {
    out += context_lines(letter) + ways_to_answer(letter);
  }
  out += why_line(letter) + "\n";
  if (!letter.unsubscribe_url.empty()) {
    out += "To get no more of them:\n" + std::string(kIndent) + letter.unsubscribe_url + "\n";
  }
  return out;
}

}  // namespace holdpoint
