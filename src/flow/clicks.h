#pragma once

#include <map>
#include <optional>
#include <string>

#include "channels/click.h"
#include "flow/answers.h"
#include "flow/control.h"
#include "flow/views.h"

namespace holdpoint {

// Turns clicks on any platform's messages into answers.
class Clicks {
 public:
  // By channel: the platform's ids of people who are users here. Their names serve `answerers:`;
  // others go by `slack:U0123`.
  using Users = std::map<std::string, std::map<std::string, std::string>>;

  Clicks(Answers& answers, Control& control, Views& views, Users users)
      : answers_(answers), control_(control), views_(views), users_(std::move(users)) {}

  struct Outcome {
    enum class Kind {
      taken,     // It counts: answered, or called off.
      repeated,  // The same click once more: there is nothing to say.
      late,      // Settled before; `notice` says how.
      refused,   // May not, or breaks a rule; `notice` says why. The question still waits.
      form,      // They want to write: show the form for `question`.
      nothing,
      unknown,  // There is no such question.
    };
    Kind kind = Kind::nothing;
    std::optional<Question> question;  // As it is now.
    std::string notice;                // For the one who clicked alone.
  };
  // One click, in a transaction of its own; safe to repeat.
  Outcome take(const Click& click, Time now);

 private:
  Answers& answers_;
  Control& control_;
  Views& views_;
  const Users users_;
};

}  // namespace holdpoint
