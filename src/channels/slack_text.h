#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace holdpoint {

// Text as it may stand in Slack's markup and in a message's `text`: it links to nothing and calls
// nobody.
std::string escape_slack(std::string_view text);

// What a text may count as against Slack's limits: in UTF-16 units, and as if `&`, `<` and `>` were
// escaped, since Slack does not say. So no text of ours is over a limit whichever way it counts.
std::size_t slack_length(std::string_view text);

// Line breaks, tabs and other control characters become spaces.
std::string on_one_line(std::string_view text);

// Cuts texts to Slack's limits, visibly, and remembers whether it had to.
class SlackCutter {
 public:
  // At most `most` by slack_length, `…` included.
  std::string operator()(std::string_view text, std::size_t most);
  bool has_cut() const { return has_cut_; }
  void note_cut() { has_cut_ = true; }

 private:
  bool has_cut_ = false;
};

}  // namespace holdpoint
