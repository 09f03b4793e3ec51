#include "channels/letter.h"

#include <algorithm>
#include <array>
#include <cstdio>

#include "domain/text.h"
#include "wire/form.h"
#include "wire/json.h"

namespace holdpoint {
namespace {

// Mail programs cut off what is past about 100 KB; the page shows all.
constexpr std::size_t kMostQuestion = 8000;
constexpr std::size_t kMostValue = 2000;
constexpr std::size_t kMostContext = 8000;
constexpr std::size_t kMostEntries = 40;
constexpr std::size_t kMostLines = 16;  // Of one value.
constexpr std::size_t kMostOnOneLine = 60;

std::string as_people_write(Time time) {
  constexpr std::array kDays{"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
  constexpr std::array kMonths{"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                               "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss clock(std::chrono::floor<std::chrono::minutes>(time - day));
  char minutes[16];
  std::snprintf(minutes, sizeof minutes, "%02d:%02d", static_cast<int>(clock.hours().count()),
                static_cast<int>(clock.minutes().count()));
  return std::string(kDays[std::chrono::weekday(day).c_encoding()]) + " " +
         std::to_string(static_cast<unsigned>(date.day())) + " " +
         kMonths[static_cast<unsigned>(date.month()) - 1] + " " +
         std::to_string(static_cast<int>(date.year())) + ", " + minutes + " UTC";
}

std::string unquoted(std::string_view json) {
  const auto text = try_json(json);
  return text.is_string() ? text.get<std::string>() : std::string(json);
}

ContextEntry entry_of(std::string_view name, std::string_view value) {
  ContextEntry entry{unquoted("\"" + std::string(name) + "\""), "", value.starts_with('"')};
  if (value.starts_with('{') || value.starts_with('[')) {
    const auto json = try_ordered_json(value);
    const auto written = [&](int indent) {
      return json.dump(indent, ' ', false, Json::error_handler_t::replace);
    };
    entry.value = written(-1);
    if (entry.value.size() > kMostOnOneLine) entry.value = written(2);
  } else {
    // A number stays as it was written: a reader may hold fewer digits.
    entry.value = entry.is_text ? unquoted(value) : std::string(value);
  }
  return entry;
}

std::string first_lines(std::string text) {
  std::size_t end = 0;
  for (std::size_t lines = 0; lines < kMostLines; ++lines) {
    end = text.find('\n', end);
    if (end == std::string::npos) return text;
    ++end;
  }
  return text.substr(0, end) + "…";
}

}  // namespace

ContextView context_of(const Question& question) {
  ContextView view;
  std::size_t room = kMostContext;
  for (const auto& [name, value] : members_of(question.context)) {
    if (room == 0 || view.entries.size() == kMostEntries) {
      view.whole = false;
      break;
    }
    ContextEntry entry = entry_of(name, value);
    const std::size_t size = entry.name.size() + entry.value.size();
    entry.name = shorten(entry.name, 200);
    entry.value = first_lines(shorten(entry.value, std::min(kMostValue, room)));
    if (entry.name.size() + entry.value.size() != size) view.whole = false;
    room -= std::min(room, count_chars(entry.value));
    view.entries.push_back(std::move(entry));
  }
  return view;
}

std::string heading(const Letter& letter) {
  const auto& header = letter.question.spec.header;
  const bool asks = letter.kind != Letter::Kind::settled;
  return letter.question.agent_name + (asks ? " asks" : " asked") + (header ? " · " + *header : "");
}

std::string question_text(const Letter& letter) {
  return shorten(letter.question.spec.question, kMostQuestion);
}

bool is_whole(const Letter& letter) {
  return count_chars(letter.question.spec.question) <= kMostQuestion &&
         context_of(letter.question).whole;
}

std::string unclear_line(const Letter& letter) {
  return "Thank you for your reply. We could not take it as an answer" +
         (letter.reason.empty() ? "" : ": " + shorten(letter.reason, 500)) +
         ".\nThe question still waits.";
}

std::string choose_line(const Letter& letter) {
  if (letter.question.spec.options.empty()) return "";
  return letter.question.spec.multi_select
             ? "Choose one or more. A page opens with your choice ticked, and you add others "
               "there; "
               "nothing is decided before you send it."
             : "Choose one. A page opens with your choice ticked; nothing is decided before you "
               "send it there.";
}

std::string reply_line(const Letter& letter) {
  if (!letter.replies_are_read) return "";
  const auto& spec = letter.question.spec;
  if (spec.options.empty()) return "Or reply to this mail with your answer.";
  std::string line = "Or reply to this mail with the ";
  line += spec.multi_select ? "numbers of your choices, like 1, 2"
                            : "number of your choice in the first line";
  return line + (takes_own_words(spec) ? ", or with an answer of your own." : ".");
}

std::string deadline_line(const Letter& letter) {
  const Question& q = letter.question;
  std::string line = "Answer by " + as_people_write(q.deadline_at) + ". ";
  switch (q.on_timeout) {
    case OnTimeout::use_default:
      return line + "After that the default counts" +
             (q.spec.default_choice ? ": " + choice_line(*q.spec.default_choice) : "") + ".";
    case OnTimeout::carry_on:
      return line + "After that the agent goes on without an answer.";
    case OnTimeout::fail:
      break;
  }
  return line + "After that the agent's request fails.";
}

std::string why_line(const Letter& letter) {
  std::string line = "You get this mail because " + letter.to + " is asked when " +
                     letter.question.agent_name + " has a question.";
  if (!letter.answer_link.empty()) {
    line += " Its links are yours alone: whoever has them can answer in your name.";
  }
  return line;
}

std::string option_line(const Option& option) {
  return (option.emoji.empty() ? "" : option.emoji + " ") + option.label;
}

bool takes_own_words(const QuestionSpec& spec) { return spec.allow_other || spec.options.empty(); }

std::string link_to(const Letter& letter, const Option& option) {
  if (letter.answer_link.empty()) return letter.page;
  return letter.answer_link + "&answer=" + escape_url(option.label);
}

std::string link_to_form(const Letter& letter) {
  return letter.answer_link.empty() ? letter.page : letter.answer_link;
}

}  // namespace holdpoint
