#include "channels/slack_message.h"

#include <algorithm>

#include "channels/slack_blocks.h"
#include "channels/slack_reading.h"

namespace holdpoint {
namespace {

SlackJson button(std::string_view action, const std::string& text) {
  return {{"type", "button"}, {"action_id", action}, {"text", slack_plain(text)}};
}

SlackJson cancel_button() {
  SlackJson out = button(kSlackCancel, "Cancel");
  out["style"] = "danger";
  out["confirm"] = {
      {"title", slack_plain("Cancel this request?")},
      {"text", slack_plain("It ends here, with all its questions, and the agent is told so.")},
      {"confirm", slack_plain("Cancel it")},
      {"deny", slack_plain("Keep it")},
      {"style", "danger"}};
  return out;
}

// Actions blocks of as many elements as Slack takes.
void add_rows(SlackJson& blocks, const Question& question, const SlackJson& elements) {
  for (std::size_t i = 0; i < elements.size(); ++i) {
    if (i % kSlackRow == 0) {
      const std::string part = "row" + std::to_string(i / kSlackRow);
      blocks.push_back({{"type", "actions"},
                        {"block_id", slack_block_id(question.id, part)},
                        {"elements", SlackJson::array()}});
    }
    blocks.back()["elements"].push_back(elements[i]);
  }
}

// Where several may be chosen, a block of their own: what is ticked counts only with Submit.
void add_several(SlackJson& blocks, const Question& question, const SlackOptions& options) {
  const std::string id = slack_block_id(question.id, "ticks");
  if (options.are_boxes()) {
    blocks.push_back({{"type", "actions"},
                      {"block_id", id},
                      {"elements", SlackJson::array({options.several({})})}});
    return;
  }
  // Slack takes this menu beside a text only.
  SlackJson section = slack_section("Choose one or more, then submit.");
  section["block_id"] = id;
  section["accessory"] = options.several({});
  blocks.push_back(std::move(section));
}

// What answers the question.
void add_controls(SlackJson& blocks, const Question& question, const SlackOptions& options,
                  bool with_cancel) {
  const auto& spec = question.spec;
  SlackJson elements = SlackJson::array();
  if (options.size() == 0) {
    elements.push_back(button(kSlackOther, "Answer…"));
    elements.back()["style"] = "primary";
  } else if (spec.multi_select) {
    add_several(blocks, question, options);
    elements.push_back(button(kSlackSubmit, "Submit"));
    elements.back()["style"] = "primary";
  } else if (spec.style == Style::select) {
    elements.push_back({{"type", "static_select"},
                        {"action_id", kSlackChoose},
                        {"placeholder", slack_plain("Choose one")},
                        {"options", options.choices()}});
  } else {
    for (std::size_t i = 0; i < options.size(); ++i) {
      elements.push_back(button(std::string(kSlackPick) + std::to_string(i), options.label(i)));
      if (spec.options[i].recommended) elements.back()["style"] = "primary";
    }
  }
  if (options.size() > 0 && spec.allow_other) elements.push_back(button(kSlackOther, "Other…"));
  if (with_cancel) elements.push_back(cancel_button());
  add_rows(blocks, question, elements);
}

}  // namespace

std::string slack_block_id(const QuestionId& question, std::string_view part) {
  return std::string(kSlackBlockPrefix) + question.text() + ":" + std::string(part);
}

std::string slack_message(const std::vector<Question>& questions, bool may_cancel,
                          const std::string& public_url) {
  const auto pending = [](const Question& q) { return !is_settled(q.status); };
  const auto first = std::find_if(questions.begin(), questions.end(), pending);
  const bool alone = std::count_if(questions.begin(), questions.end(), pending) == 1;
  SlackReading reading(questions, public_url);
  SlackJson blocks = reading.top();
  for (std::size_t i = 0; i < questions.size(); ++i) {
    const auto options = reading.add_question(blocks, i);
    if (pending(questions[i])) add_controls(blocks, questions[i], options, may_cancel && alone);
  }
  if (first != questions.end()) {
    // With several questions it is none's own, and stands below them all.
    if (may_cancel && !alone) {
      blocks.push_back({{"type", "actions"},
                        {"block_id", slack_block_id(first->id, "end")},
                        {"elements", SlackJson::array({cancel_button()})}});
    }
    blocks.push_back(reading.deadline());
  }
  return slack_dump({{"text", reading.fallback()}, {"blocks", std::move(blocks)}});
}

}  // namespace holdpoint
