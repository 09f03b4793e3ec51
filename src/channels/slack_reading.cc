#include "channels/slack_reading.h"

#include <algorithm>

#include "domain/text.h"
#include "wire/json.h"

namespace holdpoint {
namespace {

// Slack refuses messages of much text without saying how much is: of those seen, 9,600 characters
// passed and 11,300 did not.
constexpr std::size_t kQuestionsRoom = 6800;
constexpr std::size_t kContextRoom = 1500;
constexpr std::size_t kContextValueRoom = 100;  // At least.
constexpr std::size_t kFallbackRoom = 300;

bool all_settled(const std::vector<Question>& questions) {
  return std::all_of(questions.begin(), questions.end(),
                     [](const Question& q) { return is_settled(q.status); });
}

std::string who_asks(const std::vector<Question>& questions) {
  std::string text = on_one_line(questions.front().agent_name) + " asks";
  if (questions.size() > 1) return text + " " + std::to_string(questions.size()) + " questions";
  const auto& header = questions.front().spec.header;
  return header && !is_blank(*header) ? text + " · " + on_one_line(*header) : text;
}

// `name: value` lines in the agent's own order.
std::string context_lines(const std::string& context, SlackCutter& cut) {
  const auto object = try_ordered_json(context);
  if (!object.is_object() || object.empty()) return "";
  std::string lines;
  for (const auto& [name, value] : object.items()) {
    const std::string text = value.is_string() ? value.get<std::string>() : slack_dump(value);
    const std::string label = on_one_line(cut(name, kSlackLabel)) + ": ";
    const std::size_t used = slack_length(label) + 1;
    const std::size_t share = std::max(kContextRoom / object.size(), used + kContextValueRoom);
    if (!lines.empty()) lines += '\n';
    lines += label + cut(text, share - used);
  }
  return cut(lines, kContextRoom);
}

std::string what_then(OnTimeout policy) {
  switch (policy) {
    case OnTimeout::use_default:
      return "; after that the default counts";
    case OnTimeout::carry_on:
      return "; after that the agent goes on without an answer";
    case OnTimeout::fail:
      break;
  }
  return "";
}

}  // namespace

SlackReading::SlackReading(const std::vector<Question>& questions, const std::string& public_url)
    : questions_(questions),
      public_url_(public_url),
      share_(kQuestionsRoom / std::max<std::size_t>(questions.size(), 1)) {}

std::string SlackReading::fallback() const {
  SlackCutter cut;
  if (!all_settled(questions_)) {
    return escape_slack(
        cut(who_asks(questions_) + ": " + questions_.front().spec.question, kFallbackRoom));
  }
  std::string text;
  for (const auto& question : questions_) {
    if (!text.empty()) text += '\n';
    text += cut(settled_line(question), kFallbackRoom);
  }
  return escape_slack(text);
}

SlackJson SlackReading::top() {
  SlackCutter cut;
  SlackJson blocks = SlackJson::array();
  blocks.push_back(
      {{"type", "header"}, {"text", slack_plain(cut(who_asks(questions_), kSlackHeader))}});
  const std::string context = context_lines(questions_.front().context, cut);
  if (!is_blank(context)) blocks.push_back(slack_section(context));
  context_cut_ = cut.has_cut();
  return blocks;
}

SlackOptions SlackReading::add_question(SlackJson& blocks, std::size_t place) {
  const auto& question = questions_[place];
  const bool settled = is_settled(question.status);
  SlackCutter cut;
  if (place == 0 && context_cut_) cut.note_cut();
  SlackOptions options(settled ? QuestionSpec{} : question.spec, share_ * 3 / 10, cut);
  std::size_t room = share_ - slack_length(options.list());
  for (std::size_t i = 0; i < options.size(); ++i) room -= slack_length(options.label(i));
  if (settled) room = share_ / 2;

  std::string text = question.spec.question;
  if (questions_.size() > 1) {
    const auto& header = question.spec.header;
    text = std::to_string(place + 1) + "/" + std::to_string(questions_.size()) +
           (header && !is_blank(*header) ? " · " + on_one_line(*header) : "") + "\n" + text;
    if (place > 0) blocks.push_back({{"type", "divider"}});
  }
  blocks.push_back(slack_section(cut(text, std::min(room, kSlackSection))));
  if (settled) {
    blocks.push_back(slack_section(cut(settled_line(question), std::min(room, kSlackSection))));
  } else if (!options.list().empty()) {
    blocks.push_back(slack_section(options.list()));
  }
  if (cut.has_cut()) blocks.push_back(slack_cut_mark(question, public_url_));
  return options;
}

SlackJson SlackReading::deadline() const {
  const auto open = std::find_if(questions_.begin(), questions_.end(),
                                 [](const Question& q) { return !is_settled(q.status); });
  const Question& question = open == questions_.end() ? questions_.front() : *open;
  const std::string iso = to_iso(question.deadline_at);
  const auto seconds =
      std::chrono::floor<std::chrono::seconds>(question.deadline_at).time_since_epoch().count();
  // Each reader's own time; the rest is for clients that cannot tell it.
  return slack_small_print("Answer by <!date^" + std::to_string(seconds) + "^{date_short} {time}|" +
                           iso.substr(0, 10) + " " + iso.substr(11, 5) + " UTC>" +
                           what_then(question.on_timeout) + ".");
}

}  // namespace holdpoint
