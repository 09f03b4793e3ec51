#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "domain/question.h"

// What Slack shows, as JSON. Everything here is pure, and never throws for what a text holds.
namespace holdpoint {

// `{"text":…,"blocks":[…]}`, as chat.postMessage, chat.update and response URLs take it, about all
// questions of an ask as they are now. Pending ones have what answers them; settled ones say how
// they ended, in the words of settled_line. `questions` are 1 to 4 of one ask, in their order.
// `may_cancel`: people may call the request off.
// `public_url` has no slash at its end; texts that had to be cut link to its `/question/<id>`.
std::string slack_message(const std::vector<Question>& questions, bool may_cancel,
                          const std::string& public_url);

// The same for an incoming webhook, which can tell nobody of clicks: its buttons are links to the
// answer page. `tokens[i]` opens questions[i]; without tokens people have to log in there.
std::string slack_webhook_message(const std::vector<Question>& questions,
                                  const std::vector<std::string>& tokens,
                                  const std::string& public_url);

// A message of its own that says how the settled ones among `questions` ended: what a webhook sent
// cannot be edited.
std::string slack_webhook_closing(const std::vector<Question>& questions,
                                  const std::string& public_url);

// How blocks are named: `hp:<question id>:<part>`, and what stands in them. Nothing else is ever
// read back from a click.
inline constexpr std::string_view kSlackBlockPrefix = "hp:";
std::string slack_block_id(const QuestionId& question, std::string_view part);
// Action ids. `pick:<place>` is an option's button; the values of menus and boxes are places.
inline constexpr std::string_view kSlackPick = "pick:";
inline constexpr std::string_view kSlackChoose = "choose";  // A menu that answers at once.
inline constexpr std::string_view kSlackTick = "tick";      // Boxes, which wait for `submit`.
inline constexpr std::string_view kSlackSubmit = "submit";
inline constexpr std::string_view kSlackOther = "other";
inline constexpr std::string_view kSlackCancel = "cancel";
inline constexpr std::string_view kSlackLink = "link:";  // Leads to the answer page.
inline constexpr std::string_view kSlackOwn = "own";     // The form's text.

}  // namespace holdpoint
