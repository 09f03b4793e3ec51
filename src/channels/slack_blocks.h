#pragma once

#include <string>
#include <vector>

#include "channels/slack_text.h"
#include "domain/question.h"
#include "wire/json.h"

// The parts that Slack's messages and forms are made of.
namespace holdpoint {

using SlackJson = OrderedJson;

// Slack's limits, by slack_length.
inline constexpr std::size_t kSlackSection = 3000;
inline constexpr std::size_t kSlackHeader = 150;
inline constexpr std::size_t kSlackLabel = 75;  // Of a button, an option or its description.
inline constexpr std::size_t kSlackRow = 25;    // Elements of an actions block.
inline constexpr std::size_t kSlackBoxes = 10;

// Text that stays text: no markup, no mentions, no emoji made of `:names:`.
SlackJson slack_plain(const std::string& text);
SlackJson slack_section(const std::string& text);
// A small line in Slack's markup: only for words of our own.
SlackJson slack_small_print(const std::string& markup);
// `Shortened: read it in full`, with a link if there is where to.
SlackJson slack_cut_mark(const Question& question, const std::string& public_url);
std::string slack_question_url(const Question& question, const std::string& public_url);
// JSON text; broken UTF-8 is mended.
std::string slack_dump(const SlackJson& json);

// A question's options as they are shown: as labels on what is clicked, and where those cannot say
// all, as a list above it.
class SlackOptions {
 public:
  // Uses up to `room` for labels and list each; `cut` hears what the list had to leave out.
  SlackOptions(const QuestionSpec& spec, std::size_t room, SlackCutter& cut);

  std::size_t size() const { return labels_.size(); }
  const std::string& label(std::size_t place) const { return labels_[place]; }
  // Empty if the labels say all.
  const std::string& list() const { return list_; }
  // Whether boxes are clicked, which can hold descriptions.
  bool are_boxes() const { return boxes_; }
  // `[{"text":…,"value":"<place>"},…]`, of a menu or of boxes.
  SlackJson choices() const;
  // Of one that lets people choose several.
  SlackJson several(const std::vector<std::size_t>& ticked) const;

 private:
  SlackJson choice(std::size_t place) const;

  std::vector<std::string> labels_;
  std::vector<std::string> notes_;  // What stands below a label; empty: nothing.
  std::string list_;
  bool boxes_ = false;
};

}  // namespace holdpoint
