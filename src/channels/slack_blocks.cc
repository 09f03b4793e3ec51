#include "channels/slack_blocks.h"

#include <algorithm>

#include "channels/slack_message.h"
#include "domain/text.h"

namespace holdpoint {
namespace {

std::string full_label(const Option& option) {
  const std::string label = on_one_line(option.label);
  return option.emoji.empty() ? label : on_one_line(option.emoji) + " " + label;
}

std::string note_of(const Option& option) {
  const std::string description = on_one_line(option.description);
  if (!option.recommended) return description;
  return description.empty() ? "Recommended" : "Recommended: " + description;
}

std::string line_of(const Option& option, const std::string& mark) {
  std::string line = mark + full_label(option);
  if (option.recommended) line += " (recommended)";
  if (!is_blank(option.description)) line += " – " + on_one_line(option.description);
  return line;
}

}  // namespace

SlackJson slack_plain(const std::string& text) {
  return {{"type", "plain_text"}, {"text", is_blank(text) ? "–" : text}, {"emoji", false}};
}

SlackJson slack_section(const std::string& text) {
  return {{"type", "section"}, {"text", slack_plain(text)}};
}

SlackJson slack_small_print(const std::string& markup) {
  return {{"type", "context"},
          {"elements", SlackJson::array({{{"type", "mrkdwn"}, {"text", markup}}})}};
}

std::string slack_question_url(const Question& question, const std::string& public_url) {
  return public_url.empty() ? "" : public_url + "/question/" + question.id.text();
}

SlackJson slack_cut_mark(const Question& question, const std::string& public_url) {
  const std::string url = slack_question_url(question, public_url);
  if (url.empty()) return slack_small_print("Shortened.");
  return slack_small_print("Shortened. <" + escape_slack(url) + "|Read it in full>");
}

std::string slack_dump(const SlackJson& json) {
  return json.dump(-1, ' ', false, SlackJson::error_handler_t::replace);
}

SlackOptions::SlackOptions(const QuestionSpec& spec, std::size_t room, SlackCutter& cut) {
  const auto& options = spec.options;
  if (options.empty()) return;
  boxes_ = spec.multi_select && spec.style == Style::buttons && options.size() <= kSlackBoxes;
  const std::size_t each = std::clamp<std::size_t>(room / options.size(), 20, kSlackLabel);
  const auto fits = [](const std::string& text, std::size_t most) {
    return slack_length(text) <= most;
  };
  // Labels that had to be cut may look alike; numbers tell which is which in the list.
  const bool numbered = std::any_of(options.begin(), options.end(), [&](const Option& option) {
    return !fits(full_label(option), each);
  });
  const bool notes_fit = std::all_of(options.begin(), options.end(), [&](const Option& option) {
    return fits(note_of(option), kSlackLabel);
  });
  const bool any_note = std::any_of(options.begin(), options.end(), [](const Option& option) {
    return option.recommended || !is_blank(option.description);
  });
  const bool listed = numbered || (any_note && !(boxes_ && notes_fit));
  SlackCutter label_cut;  // What it leaves out stands in the list.
  std::size_t left = std::min(room, kSlackSection);
  for (std::size_t i = 0; i < options.size(); ++i) {
    const std::string number = std::to_string(i + 1) + ". ";
    labels_.push_back(label_cut((numbered ? number : "") + full_label(options[i]), each));
    if (!listed) {
      notes_.push_back(boxes_ ? note_of(options[i]) : "");
      continue;
    }
    notes_.push_back(options[i].recommended ? "Recommended" : "");
    if (!list_.empty()) {
      list_ += '\n';
      --left;
    }
    const std::string line =
        cut(line_of(options[i], numbered ? number : "• "), left / (options.size() - i) - 1);
    left -= slack_length(line);
    list_ += line;
  }
}

SlackJson SlackOptions::choice(std::size_t place) const {
  SlackJson out{{"text", slack_plain(labels_[place])}, {"value", std::to_string(place)}};
  if (!is_blank(notes_[place])) out["description"] = slack_plain(notes_[place]);
  return out;
}

SlackJson SlackOptions::choices() const {
  SlackJson out = SlackJson::array();
  for (std::size_t i = 0; i < labels_.size(); ++i) out.push_back(choice(i));
  return out;
}

SlackJson SlackOptions::several(const std::vector<std::size_t>& ticked) const {
  SlackJson out{{"type", boxes_ ? "checkboxes" : "multi_static_select"},
                {"action_id", kSlackTick},
                {"options", choices()}};
  if (!boxes_) out["placeholder"] = slack_plain("Choose one or more");
  SlackJson chosen = SlackJson::array();
  for (const std::size_t place : ticked) {
    if (place < labels_.size()) chosen.push_back(choice(place));
  }
  if (!chosen.empty()) out["initial_options"] = std::move(chosen);
  return out;
}

}  // namespace holdpoint
