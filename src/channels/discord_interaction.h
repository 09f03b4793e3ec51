#pragma once

#include <string>
#include <string_view>

#include "channels/click.h"

namespace holdpoint {

// What Discord tells us that somebody did.
struct DiscordInteraction {
  enum class Kind {
    ping,    // Discord itself asks whether we are there.
    click,   // On a message of ours, or in a form.
    doubt,   // They clicked Cancel: they are to be asked back. `click` has the question.
    notice,  // A click like any other, on a message that only they see.
  };
  Kind kind = Kind::click;
  Click click;
};

// Reads the body of an interaction that was proved to be Discord's. `address` is where it came
// from. Nothing of it counts but who did what to which question, and the places they chose. A
// component that is not ours is a click on nothing. Throws BadRequest for what cannot be read, and
// for kinds of interactions that no message of ours can cause.
DiscordInteraction read_discord_interaction(std::string_view body, const std::string& address);

}  // namespace holdpoint
