#include "flow/clicks.h"

#include "domain/bad_request.h"
#include "domain/text.h"

namespace holdpoint {
namespace {

// As history, callbacks and the other messages show them: on one line, however they call
// themselves.
std::string shown_name(const Click& click) {
  std::string name = shorten(click.person_name, 80);
  for (char& c : name) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = ' ';
  }
  return is_blank(name) ? click.person_id : name + " (" + click.person_id + ")";
}

}  // namespace

Clicks::Outcome Clicks::take(const Click& click, Time now) {
  using Kind = Outcome::Kind;
  if (click.kind == Click::Kind::nothing) return {};
  auto question = views_.question(click.question, Duration{0});
  if (!question) return {Kind::unknown, {}, "This request is not known here any more."};
  const auto late = [&] {
    auto ended = views_.question(click.question, Duration{0});
    std::string notice = ended ? settled_line(*ended) + "." : "This request is over.";
    return Outcome{Kind::late, std::move(ended), "Too late: " + notice};
  };
  const auto refused = [&](std::string notice) {
    return Outcome{Kind::refused, std::move(question), std::move(notice)};
  };
  const std::string shown = shown_name(click);
  Actor by{click.channel + ":" + click.person_id, click.channel + ":" + click.person_id,
           click.address};
  if (const auto users = users_.find(click.channel); users != users_.end()) {
    if (const auto user = users->second.find(click.person_id); user != users->second.end()) {
      by.name = user->second;
    }
  }
  if (click.kind == Click::Kind::open_form) {
    if (is_settled(question->status)) return late();
    return {Kind::form, std::move(question), ""};
  }
  if (click.kind == Click::Kind::cancel) {
    switch (control_.call_off(*question, by, shown, now).outcome) {
      case Control::Outcome::done:
        return {Kind::taken, views_.question(click.question, Duration{0}), ""};
      case Control::Outcome::not_allowed:
        return refused("You may not cancel this request.");
      case Control::Outcome::refused:
      case Control::Outcome::unknown:
        break;
    }
    auto ended = late();
    // The same click once more, as platforms send them twice.
    if (ended.question && ended.question->status == QuestionStatus::cancelled &&
        ended.question->answered_by == shown) {
      ended.kind = Kind::repeated;
    }
    return ended;
  }
  Answer answer;
  auto& values = answer.values[question->id.text()];
  for (const auto place : click.options) {
    if (place >= question->spec.options.size()) {
      return refused("This request has no such option.");
    }
    values.push_back(question->spec.options[place].label);
  }
  if (click.text) values.push_back(*click.text);
  if (values.empty()) return refused("Choose an option or write an answer first.");
  answer.by = shown;
  answer.via = click.channel;
  try {
    const auto outcome = answers_.answer(question->session_id, answer, by, now);
    if (std::holds_alternative<NotAnAnswerer>(outcome)) {
      return refused("You are not among those who may answer this.");
    }
    if (std::holds_alternative<AnswerAccepted>(outcome)) {
      return {Kind::taken, views_.question(click.question, Duration{0}), ""};
    }
    auto ended = late();
    if (std::holds_alternative<AlreadyAnswered>(outcome) && ended.question &&
        ended.question->answered_by == shown) {
      ended.kind = Kind::repeated;
    }
    return ended;
  } catch (const BadRequest& e) {
    return refused("Your answer was not taken: it " + std::string(e.what()) + ".");
  }
}

}  // namespace holdpoint
