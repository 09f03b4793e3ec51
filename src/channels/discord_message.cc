#include "channels/discord_message.h"

#include <algorithm>

#include "channels/discord_parts.h"
#include "channels/discord_question.h"
#include "channels/discord_text.h"

namespace holdpoint {
namespace {

constexpr std::size_t kMostText = 4000;  // Of one message, in all.

bool is_waiting(const Question& question) { return !is_settled(question.status); }

// What stands before several questions.
std::string intro(const std::vector<Question>& questions, const DiscordStyle& style) {
  const Question& first = questions.front();
  std::string text = "**" + discord_escape(first.agent_name, 100).text + "** asks " +
                     std::to_string(questions.size()) + " questions";
  if (std::any_of(questions.begin(), questions.end(), is_waiting)) {
    text += " · " + discord_deadline(first);
  }
  const auto context = discord_context(first.context, 400);
  if (!context.text.empty()) text += "\n" + context.text;
  const std::string link = discord_full_text_link(first, style);
  if (context.cut && discord_length(link) < 300) text += "\n" + link;
  return text;
}

void write_members(JsonWriter& out, const std::vector<Question>& questions,
                   const DiscordStyle& style) {
  out.member("flags", kDiscordComponentsV2).key("components").begin_array();
  std::size_t room = kMostText;
  if (questions.size() > 1) {
    const std::string before = intro(questions, style);
    write_discord_text(out, before);
    room -= discord_length(before);
  }
  for (const auto& question : questions) {
    write_discord_question(out, question, questions.size(), room / questions.size(), style);
  }
  const auto waiting = std::find_if(questions.begin(), questions.end(), is_waiting);
  if (questions.size() > 1 && style.may_cancel && waiting != questions.end()) {
    begin_discord_row(out);
    write_discord_button(out, discord::secondary, "Cancel all", discord_id(waiting->id, "c"));
    end_discord_row(out);
  }
  out.end_array();
  write_no_mentions(out);
}

}  // namespace

std::string discord_message(const std::vector<Question>& questions, const DiscordStyle& style) {
  JsonWriter out;
  out.begin_object();
  write_members(out, questions, style);
  out.end_object();
  return out.take();
}

std::string discord_new_message(const std::vector<Question>& questions, const DiscordStyle& style,
                                const std::string& nonce) {
  JsonWriter out;
  out.begin_object();
  write_members(out, questions, style);
  out.member("nonce", nonce).member("enforce_nonce", true).end_object();
  return out.take();
}

std::string discord_nonce(const std::string& delivery_id) {
  std::string nonce = delivery_id;
  std::erase(nonce, '-');
  // The end of an id is what chance made of it.
  return nonce.size() > 25 ? nonce.substr(nonce.size() - 25) : nonce;
}

}  // namespace holdpoint
