#pragma once

#include <string>
#include <string_view>

#include "channels/click.h"

namespace holdpoint {

// What Slack tells when somebody uses a message or a form of ours.
struct SlackInteraction {
  Click click;               // Without `address`, which Slack cannot know.
  bool from_form = false;    // A form was sent in: the answer to Slack says what becomes of it.
  std::string response_url;  // Takes messages about the click for 30 minutes; may be empty.
  std::string trigger_id;    // Opens a form, within 3 s; may be empty.
};

// Reads an interaction's payload. What is not for us, like another app's button or a form that was
// closed, is Click::Kind::nothing. Throws BadRequest for what cannot be read.
SlackInteraction read_slack_interaction(std::string_view payload);

}  // namespace holdpoint
