#include "channels/slack_message.h"
#include "channels/slack_reading.h"
#include "wire/form.h"

namespace holdpoint {
namespace {

constexpr std::size_t kMostLinks = 10;
constexpr std::size_t kMostUrl = 3000;

// The page that answers the question; with `label`, with that option chosen but not decided.
std::string answer_url(const Question& question, const std::string& token,
                       const std::string& public_url, const std::string& label = "") {
  if (token.empty() || public_url.empty()) return slack_question_url(question, public_url);
  const std::string url =
      public_url + "/agent/answer/" + question.session_id.text() + "?token=" + escape_url(token);
  const std::string chosen = label.empty() ? url : url + "&answer=" + escape_url(label);
  return chosen.size() <= kMostUrl ? chosen : url;
}

SlackJson link_button(const std::string& name, const std::string& text, const std::string& url) {
  return {{"type", "button"},
          {"action_id", std::string(kSlackLink) + name},
          {"text", slack_plain(text)},
          {"url", url}};
}

void add_links(SlackJson& blocks, const Question& question, const SlackOptions& options,
               const std::string& token, const std::string& public_url) {
  if (public_url.empty()) return;
  const auto& spec = question.spec;
  SlackJson elements = SlackJson::array();
  // Links are long: many of them are better one page.
  const bool each = options.size() > 0 && options.size() <= kMostLinks && !spec.multi_select &&
                    spec.style == Style::buttons;
  for (std::size_t i = 0; each && i < options.size(); ++i) {
    const std::string url = answer_url(question, token, public_url, spec.options[i].label);
    elements.push_back(link_button(std::to_string(i), options.label(i), url));
    if (spec.options[i].recommended) elements.back()["style"] = "primary";
  }
  if (!each || spec.allow_other) {
    elements.push_back(
        link_button("page", each ? "Other…" : "Answer…", answer_url(question, token, public_url)));
  }
  blocks.push_back({{"type", "actions"},
                    {"block_id", slack_block_id(question.id, "links")},
                    {"elements", std::move(elements)}});
}

}  // namespace

std::string slack_webhook_message(const std::vector<Question>& questions,
                                  const std::vector<std::string>& tokens,
                                  const std::string& public_url) {
  SlackReading reading(questions, public_url);
  SlackJson blocks = reading.top();
  bool any_pending = false;
  for (std::size_t i = 0; i < questions.size(); ++i) {
    const auto options = reading.add_question(blocks, i);
    if (is_settled(questions[i].status)) continue;
    any_pending = true;
    add_links(blocks, questions[i], options, i < tokens.size() ? tokens[i] : "", public_url);
  }
  if (any_pending) blocks.push_back(reading.deadline());
  return slack_dump({{"text", reading.fallback()}, {"blocks", std::move(blocks)}});
}

std::string slack_webhook_closing(const std::vector<Question>& questions,
                                  const std::string& public_url) {
  std::vector<Question> settled;
  for (const auto& question : questions) {
    if (is_settled(question.status)) settled.push_back(question);
  }
  // What they were asked with stands in the message before.
  for (auto& question : settled) question.context = "{}";
  if (settled.empty()) return slack_webhook_message(questions, {}, public_url);
  return slack_webhook_message(settled, {}, public_url);
}

}  // namespace holdpoint
