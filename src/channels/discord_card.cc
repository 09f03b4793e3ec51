#include "channels/discord_card.h"

#include <algorithm>

#include "channels/discord_message.h"
#include "channels/discord_parts.h"
#include "channels/discord_text.h"
#include "domain/text.h"

namespace holdpoint {
namespace {

constexpr std::int64_t kColour = 0x5865f2;
constexpr std::size_t kMostText = 4000;  // Of one message, in all.
constexpr std::size_t kMostTitle = 600;  // Escapes may take several times the room.

}  // namespace

std::string discord_card(const Card& card, const std::string& agent_name, const std::string& page,
                         const std::string& nonce) {
  const std::string name = is_blank(card.title) ? agent_name : card.title;
  const std::string title = "**" + discord_escape(discord_line(name), kMostTitle).text + "**";
  const std::string from = "-# From " + discord_escape(discord_line(agent_name), 100).text;
  const std::string link = "\n-# Shortened. [Read it in full](<" + page + ">)";
  const std::size_t used = discord_length(title) + discord_length(from) + discord_length(link);
  const auto text = discord_escape(card.text, kMostText - std::min(kMostText, used));
  JsonWriter out;
  out.begin_object().member("flags", kDiscordComponentsV2).key("components").begin_array();
  out.begin_object().member("type", std::int64_t{discord::container});
  out.member("accent_color", kColour).key("components").begin_array();
  write_discord_text(out, title);
  write_discord_text(out, text.text + (text.cut ? link : ""));
  write_discord_text(out, from);
  out.end_array().end_object().end_array();
  write_no_mentions(out);
  return out.member("nonce", nonce).member("enforce_nonce", true).end_object().take();
}

}  // namespace holdpoint
