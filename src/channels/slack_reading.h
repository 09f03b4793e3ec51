#pragma once

#include <string>
#include <vector>

#include "channels/slack_blocks.h"

namespace holdpoint {

// What all of Slack's messages about an ask have in common: who asks, about what, the questions and
// how they ended, within what Slack takes of one message.
class SlackReading {
 public:
  // Both outlive it.
  SlackReading(const std::vector<Question>& questions, const std::string& public_url);

  // For people's notifications, in Slack's markup.
  std::string fallback() const;
  // Who asks, and the ask's context.
  SlackJson top();
  // The question, and either how it ended or its options as far as what answers them cannot say
  // them. Returns what to show on that.
  SlackOptions add_question(SlackJson& blocks, std::size_t place);
  // Until when answers count, and what happens then.
  SlackJson deadline() const;

 private:
  const std::vector<Question>& questions_;
  const std::string& public_url_;
  const std::size_t share_;  // Of each question.
  bool context_cut_ = false;
};

}  // namespace holdpoint
