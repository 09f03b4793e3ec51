#include "channels/discord_parts.h"

#include <algorithm>

#include "channels/discord_text.h"

namespace holdpoint {
namespace {

constexpr std::size_t kMostOption = 100;

std::string about(const Option& option) {
  if (!option.recommended) return option.description;
  return option.description.empty() ? "Recommended" : "Recommended: " + option.description;
}

}  // namespace

std::string discord_id(const QuestionId& question, const std::string& what) {
  return "hp:" + question.text() + ":" + what;
}

void write_discord_text(JsonWriter& out, const std::string& markdown) {
  out.begin_object().member("type", std::int64_t{discord::text_display});
  out.member("content", markdown).end_object();
}

void write_discord_button(JsonWriter& out, discord::ButtonStyle style, std::string_view label,
                          const std::string& custom_id, bool disabled) {
  out.begin_object().member("type", std::int64_t{discord::button});
  out.member("style", std::int64_t{style}).member("label", label).member("custom_id", custom_id);
  if (disabled) out.member("disabled", true);
  out.end_object();
}

void begin_discord_row(JsonWriter& out) {
  out.begin_object().member("type", std::int64_t{discord::action_row});
  out.key("components").begin_array();
}

void end_discord_row(JsonWriter& out) { out.end_array().end_object(); }

std::string discord_option_label(const Option& option) {
  return option.emoji.empty() ? option.label : option.emoji + " " + option.label;
}

std::string discord_option_number(std::size_t place) {
  return "Option " + std::to_string(place + 1);
}

void write_discord_options(JsonWriter& out, const QuestionSpec& spec) {
  out.begin_array();
  for (std::size_t i = 0; i < spec.options.size(); ++i) {
    const Option& option = spec.options[i];
    const auto label =
        discord_label(discord_option_label(option), kMostOption, discord_option_number(i));
    const auto description = discord_label(about(option), kMostOption, "");
    out.begin_object().member("label", label.text).member("value", std::to_string(i));
    if (!description.text.empty()) out.member("description", description.text);
    out.end_object();
  }
  out.end_array();
}

bool discord_select_cuts(const QuestionSpec& spec) {
  return std::any_of(spec.options.begin(), spec.options.end(), [](const Option& option) {
    return discord_label(discord_option_label(option), kMostOption, "").cut ||
           discord_label(about(option), kMostOption, "").cut;
  });
}

void write_no_mentions(JsonWriter& out) {
  out.key("allowed_mentions").begin_object().key("parse").begin_array().end_array().end_object();
}

}  // namespace holdpoint
