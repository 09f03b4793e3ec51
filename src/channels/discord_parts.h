#pragma once

#include <string>
#include <string_view>

#include "domain/question.h"
#include "wire/json_writer.h"

namespace holdpoint {

// The pieces that messages and forms on Discord are made of.

namespace discord {
enum Type { action_row = 1, button = 2, select = 3, text_input = 4 };
enum Layout { section = 9, text_display = 10, separator = 14, container = 17, label = 18 };
enum ButtonStyle { primary = 1, secondary = 2, success = 3, danger = 4 };
}  // namespace discord

// `hp:<question id>:<what>`; discord_message.h has the list.
std::string discord_id(const QuestionId& question, const std::string& what);

void write_discord_text(JsonWriter& out, const std::string& markdown);
void write_discord_button(JsonWriter& out, discord::ButtonStyle style, std::string_view label,
                          const std::string& custom_id, bool disabled = false);
// `{"type":1,"components":[` and its end.
void begin_discord_row(JsonWriter& out);
void end_discord_row(JsonWriter& out);

// With its emoji, which Discord would refuse to take for one if it is none.
std::string discord_option_label(const Option& option);
// What a label is that nobody could see.
std::string discord_option_number(std::size_t place);
// The options of a select; a value is a place.
void write_discord_options(JsonWriter& out, const QuestionSpec& spec);
// Whether a select has to shorten one of them.
bool discord_select_cuts(const QuestionSpec& spec);

// Nobody is pinged by what somebody wrote.
void write_no_mentions(JsonWriter& out);

}  // namespace holdpoint
