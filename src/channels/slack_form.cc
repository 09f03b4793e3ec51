#include "channels/slack_form.h"

#include "channels/slack_blocks.h"
#include "channels/slack_message.h"

namespace holdpoint {
namespace {

constexpr int kMostOwnText = 3000;  // Slack's own limit on a field.

SlackJson modal(const std::string& title, SlackJson blocks) {
  return {{"type", "modal"},
          {"title", slack_plain(title)},
          {"close", slack_plain("Close")},
          {"blocks", std::move(blocks)}};
}

}  // namespace

std::string slack_form_text_block(const QuestionId& question) {
  return slack_block_id(question, kSlackOwn);
}

std::string slack_form(const Question& question, const std::vector<std::size_t>& ticked,
                       const std::string& public_url) {
  const auto& spec = question.spec;
  const bool several = spec.multi_select && !spec.options.empty();
  SlackCutter cut;
  SlackOptions options(several ? spec : QuestionSpec{}, kSlackSection, cut);
  SlackJson blocks = SlackJson::array();
  blocks.push_back(slack_section(cut(spec.question, kSlackSection)));
  if (!options.list().empty()) blocks.push_back(slack_section(options.list()));
  if (cut.has_cut()) blocks.push_back(slack_cut_mark(question, public_url));
  if (several) {
    blocks.push_back({{"type", "input"},
                      {"block_id", slack_block_id(question.id, "ticks")},
                      {"label", slack_plain("Choose any")},
                      {"optional", true},
                      {"element", options.several(ticked)}});
  }
  blocks.push_back({{"type", "input"},
                    {"block_id", slack_form_text_block(question.id)},
                    {"label", slack_plain(several ? "And in your own words" : "Your answer")},
                    {"optional", several},
                    {"element",
                     {{"type", "plain_text_input"},
                      {"action_id", kSlackOwn},
                      {"multiline", true},
                      {"max_length", kMostOwnText}}}});
  SlackJson view = modal("Your answer", std::move(blocks));
  view["callback_id"] = kSlackFormId;
  view["private_metadata"] = question.id.text();
  view["submit"] = slack_plain("Answer");
  return slack_dump(view);
}

std::string slack_notice_view(const std::string& notice) {
  SlackCutter cut;
  return slack_dump(
      modal("Not taken", SlackJson::array({slack_section(cut(notice, kSlackSection))})));
}

}  // namespace holdpoint
