#pragma once

#include <string>
#include <string_view>

namespace holdpoint {

// Texts that people and agents wrote, as Discord can show them.

// UTF-16 units, as Discord's clients count: never fewer than characters.
std::size_t discord_length(std::string_view text);

struct DiscordText {
  std::string text;
  bool cut = false;  // It ends in `…` for what is not there.
};

// For texts that show markdown: what was written appears as it was written, formats nothing, and
// mentions nobody. At most `most` long. A plain address of the web stays one that can be clicked.
DiscordText discord_escape(std::string_view text, std::size_t most);

// For labels and other places that show no markdown: one line, at most `most` long; `otherwise`
// where nothing of it can be seen, which Discord refuses.
DiscordText discord_label(std::string_view text, std::size_t most, std::string_view otherwise);

// White space and control characters in a row as one space.
std::string discord_line(std::string_view text);

}  // namespace holdpoint
