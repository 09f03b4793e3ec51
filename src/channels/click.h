#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"

namespace holdpoint {

// What somebody did to a message of ours, as the platform that shows it tells us.
struct Click {
  enum class Kind {
    answer,     // Chose `options`, wrote `text`, or both: it counts.
    open_form,  // Wants to write an answer of their own.
    cancel,     // Calls the request off.
    nothing,    // Nothing that counts yet, like a choice before Submit.
  };
  Kind kind = Kind::nothing;
  std::string channel;  // `slack`, `discord`.
  QuestionId question;  // Never the session: an old button must not answer what came after it.
  std::vector<std::size_t> options;  // Places among the question's options.
  std::optional<std::string> text;
  std::string person_id;    // As the platform numbers them.
  std::string person_name;  // As it shows them; anybody may take any name.
  std::string address;      // Where the call came from, for the audit log.
};

}  // namespace holdpoint
