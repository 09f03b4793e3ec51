#include "channels/discord_response.h"

#include "channels/discord_parts.h"
#include "channels/discord_text.h"

namespace holdpoint {
namespace {

enum Response { pong = 1, message = 4, deferred_update = 6, update = 7, form = 9 };
constexpr std::int64_t kEphemeral = 64;
constexpr std::size_t kMostContent = 2000;
constexpr std::size_t kMostFormLabel = 45;
constexpr std::int64_t kMostInput = 4000;

void begin_response(JsonWriter& out, Response type) {
  out.begin_object().member("type", std::int64_t{type}).key("data").begin_object();
}

std::string end_response(JsonWriter& out) {
  out.end_object().end_object();
  return out.take();
}

std::string bare(Response type) {
  JsonWriter out;
  out.begin_object().member("type", std::int64_t{type}).end_object();
  return out.take();
}

void write_notice(JsonWriter& out, const std::string& text) {
  out.member("content", discord_escape(text, kMostContent).text);
  write_no_mentions(out);
}

void begin_labelled(JsonWriter& out, const char* label) {
  out.begin_object().member("type", std::int64_t{discord::label}).member("label", label);
  out.key("component").begin_object();
}

void write_choices(JsonWriter& out, const QuestionSpec& spec) {
  begin_labelled(out, "Choose one or more");
  out.member("type", std::int64_t{discord::select}).member("custom_id", "s");
  out.member("min_values", std::int64_t{spec.allow_other ? 0 : 1});
  out.member("max_values", static_cast<std::int64_t>(spec.options.size()));
  out.member("required", !spec.allow_other).key("options");
  write_discord_options(out, spec);
  out.end_object().end_object();
}

void write_input(JsonWriter& out, bool required) {
  begin_labelled(out, required ? "Your answer" : "Something else");
  out.member("type", std::int64_t{discord::text_input}).member("custom_id", "t");
  out.member("style", std::int64_t{2}).member("max_length", kMostInput);
  out.member("required", required).end_object().end_object();
}

}  // namespace

std::string discord_pong() { return bare(pong); }

std::string discord_deferred() { return bare(deferred_update); }

std::string discord_update(const std::string& message_json) {
  JsonWriter out;
  out.begin_object().member("type", std::int64_t{update}).raw_member("data", message_json);
  out.end_object();
  return out.take();
}

std::string discord_update_notice(const std::string& text) {
  JsonWriter out;
  begin_response(out, update);
  write_notice(out, text);
  out.key("components").begin_array().end_array();
  return end_response(out);
}

std::string discord_notice(const std::string& text) {
  JsonWriter out;
  begin_response(out, message);
  out.member("flags", kEphemeral);
  write_notice(out, text);
  return end_response(out);
}

std::string discord_form(const Question& question) {
  const QuestionSpec& spec = question.spec;
  const bool choices = spec.multi_select && !spec.options.empty();
  JsonWriter out;
  begin_response(out, form);
  out.member("custom_id", discord_id(question.id, "m"));
  out.member("title", discord_label(spec.header.value_or(""), kMostFormLabel, "Your answer").text);
  out.key("components").begin_array();
  // The form covers the message.
  write_discord_text(out, discord_escape(spec.question, 1000).text);
  if (choices) write_choices(out, spec);
  if (!choices || spec.allow_other) write_input(out, !choices);
  out.end_array();
  return end_response(out);
}

std::string discord_cancel_question(const QuestionId& question) {
  JsonWriter out;
  begin_response(out, message);
  out.member("flags", kEphemeral);
  write_notice(out, "Cancel this request? The agent is told, and nobody can answer it any more.");
  out.key("components").begin_array();
  begin_discord_row(out);
  write_discord_button(out, discord::danger, "Yes, cancel", discord_id(question, "y"));
  end_discord_row(out);
  out.end_array();
  return end_response(out);
}

}  // namespace holdpoint
