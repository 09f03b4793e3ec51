#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/loop.h"
#include "channels/slack_channel.h"
#include "channels/slack_interaction.h"
#include "flow/clicks.h"

namespace holdpoint {

// Takes what people do to our messages in Slack, however it reached us. Safe to share between
// threads.
class SlackDesk {
 public:
  // What a message about a question shows now: all of its ask.
  struct Standing {
    std::vector<Question> questions;
    bool may_cancel = false;
  };
  using Look = std::function<Standing(const Question&)>;

  SlackDesk(Clicks& clicks, SlackChannel& slack, Look look)
      : clicks_(clicks), slack_(slack), look_(std::move(look)) {}
  ~SlackDesk() { stop(); }

  // Takes one interaction's payload and returns the body of its acknowledgement, which may be
  // empty. The answer is on disk by then; notices and forms follow from another thread. Throws
  // BadRequest for what cannot be read, StoreError for what could not be kept.
  std::string take(std::string_view payload, const std::string& address, Time now);

  // Returns once the notices and forms that are due have been sent.
  void stop() { errands_.stop(); }

 private:
  std::string answer_form(const SlackInteraction& interaction, const Clicks::Outcome& outcome);
  void tell(const SlackInteraction& interaction, const std::string& notice);
  void bring_up_to_date(const SlackInteraction& interaction, const Question& question);
  void open_form(const SlackInteraction& interaction, const Question& question);
  // `errand` returns what went wrong. What cannot be sent is dropped: the answer does not need it.
  void send(std::function<std::string()> errand);

  Clicks& clicks_;
  SlackChannel& slack_;
  const Look look_;
  Pool errands_{"slack-desk", 8, 256};
};

}  // namespace holdpoint
