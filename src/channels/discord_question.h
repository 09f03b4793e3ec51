#pragma once

#include <string>

#include "channels/discord_message.h"
#include "channels/discord_text.h"
#include "wire/json_writer.h"

namespace holdpoint {

// Writes the container of one of `count` questions, with at most `room` of the message's text. A
// question that is alone says itself who asks, in which context, until when.
void write_discord_question(JsonWriter& out, const Question& question, std::size_t count,
                            std::size_t room, const DiscordStyle& style);

// `name: value` in small print for each member of an ask's context, as far as there is room.
DiscordText discord_context(const std::string& context, std::size_t most);

// `answer by …`, which Discord shows in the reader's own time.
std::string discord_deadline(const Question& question);

// Small print that leads to the page with the whole question.
std::string discord_full_text_link(const Question& question, const DiscordStyle& style);

}  // namespace holdpoint
