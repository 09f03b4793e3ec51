#pragma once

#include <string>
#include <string_view>

#include "agents/definition.h"
#include "flow/clicks.h"
#include "flow/views.h"

namespace holdpoint {

// Takes what people do to our messages on Discord. Safe to share between threads.
class DiscordDesk {
 public:
  DiscordDesk(Clicks& clicks, Views& views, Agents& agents, std::string public_url)
      : clicks_(clicks), views_(views), agents_(agents), public_url_(std::move(public_url)) {}

  // One interaction that was proved to be Discord's; the JSON to answer it with. What it did is on
  // disk by then. Throws BadRequest for what cannot be read, StoreError if it was not done.
  std::string take(std::string_view body, const std::string& address, Time now);

 private:
  std::string answer_to(const Clicks::Outcome& outcome);
  // The message about all questions of the ask, as they are now.
  std::string message_about(const Question& question);

  Clicks& clicks_;
  Views& views_;
  Agents& agents_;
  const std::string public_url_;
};

}  // namespace holdpoint
