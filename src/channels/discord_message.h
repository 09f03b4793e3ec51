#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "domain/question.h"

namespace holdpoint {

// What our messages on Discord look like: JSON of the Components V2 kind, within Discord's limits
// whatever people and agents wrote. Pure functions.
//
// Every component that can be clicked is bound to its question by its custom_id:
//   hp:<question id>:o:<place>  a button of one option
//   hp:<question id>:s          the select of one option; its value is the place
//   hp:<question id>:f          opens the form: `Other…`, `Answer…`, `Choose…`
//   hp:<question id>:c          Cancel; asks back
//   hp:<question id>:y          `Yes, cancel`
//   hp:<question id>:m          the form, with a text input `t`, a select `s`, or both
//   hp:<question id>:d          does nothing: what is left of a settled question

// The flag of messages that are made of components alone.
inline constexpr std::int64_t kDiscordComponentsV2 = 32768;

// How people find the whole text, and what the message offers them.
struct DiscordStyle {
  std::string public_url;   // Without a slash at the end.
  bool may_cancel = false;  // Whether those who may answer may call it off.
};

// The members of a message about `questions`, all of one ask, as they are now: flags, components
// and allowed_mentions. The same for a new message, an edit and an update of what was clicked.
//
// Several choices at once are made in a form, not in a select of the message: that would count as
// soon as it is closed, before anybody could look at what they chose.
std::string discord_message(const std::vector<Question>& questions, const DiscordStyle& style);

// The same for a new message. Discord makes no second one of a `nonce`, so that a repeat after a
// lost answer changes nothing.
std::string discord_new_message(const std::vector<Question>& questions, const DiscordStyle& style,
                                const std::string& nonce);

// At most 25 characters that stand for this delivery.
std::string discord_nonce(const std::string& delivery_id);

}  // namespace holdpoint
