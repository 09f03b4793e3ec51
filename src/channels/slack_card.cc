#include "channels/slack_card.h"

#include "channels/slack_blocks.h"
#include "domain/text.h"

namespace holdpoint {
namespace {

constexpr std::size_t kTextRoom = 6800;  // As for questions: Slack does not say what it takes.
constexpr std::size_t kFallbackRoom = 300;

// The longest beginning of `text` that fits a section; it ends with a line where it can, or else
// with a word.
std::size_t section_end(std::string_view text) {
  std::size_t end = 0, line_end = 0, word_end = 0, length = 0;
  while (end < text.size()) {
    std::size_t next = end + 1;
    while (next < text.size() && (static_cast<unsigned char>(text[next]) & 0xc0) == 0x80) ++next;
    length += slack_length(text.substr(end, next - end));
    if (length > kSlackSection) return line_end > 0 ? line_end : word_end > 0 ? word_end : end;
    if (text[end] == '\n') line_end = next;
    if (text[end] == ' ') word_end = next;
    end = next;
  }
  return end;
}

}  // namespace

std::string slack_card(const Card& card, const std::string& agent_name, const std::string& page) {
  SlackCutter cut;
  const std::string title = on_one_line(is_blank(card.title) ? agent_name : card.title);
  SlackJson blocks = SlackJson::array();
  blocks.push_back({{"type", "header"}, {"text", slack_plain(cut(title, kSlackHeader))}});
  const std::string text = cut(card.text, kTextRoom);
  for (std::string_view rest = text; !rest.empty();) {
    const std::size_t end = section_end(rest);
    if (!is_blank(rest.substr(0, end))) {
      blocks.push_back(slack_section(std::string(rest.substr(0, end))));
    }
    rest.remove_prefix(end);
  }
  std::string foot = "From " + escape_slack(on_one_line(shorten(agent_name, 100)));
  if (cut.has_cut()) foot += " · shortened: <" + escape_slack(page) + "|read it in full>";
  // Names of agents are letters, digits and dashes; still, nothing in them is to be a link.
  SlackJson small = slack_small_print(foot);
  small["elements"][0]["verbatim"] = true;
  blocks.push_back(std::move(small));
  SlackCutter fallback;
  return slack_dump({{"text", escape_slack(fallback(title + ": " + card.text, kFallbackRoom))},
                     {"blocks", std::move(blocks)}});
}

}  // namespace holdpoint
