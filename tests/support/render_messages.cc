// Prints every message that Slack and Discord may get about an ask, for tests/clients to judge.
// A line in is {"ask": as POST /agent/ask, "agent", "may_cancel", "settle": [how each question
// ended, or null]}; a line out is an object of messages by kind, or {"refused": why it is no ask}.
#include <iostream>
#include <string>
#include <vector>

#include "channels/discord_card.h"
#include "channels/discord_message.h"
#include "channels/discord_response.h"
#include "channels/slack_card.h"
#include "channels/slack_form.h"
#include "channels/slack_message.h"
#include "domain/ask.h"
#include "domain/bad_request.h"
#include "domain/text.h"
#include "wire/json.h"
#include "wire/json_writer.h"
#include "wire/question_json.h"

namespace holdpoint {
namespace {

const std::string kPublicUrl = "https://holdpoint.example.org";
const Time kNow{std::chrono::milliseconds{1794830400000}};

// The most that settings allow.
Limits widest() {
  Limits limits;
  limits.max_options = 25;
  return limits;
}

// `{"status", "selected"?, "text"?, "by"?}`
void settle(Question& question, const Json& end) {
  for (const auto status : kQuestionStatuses) {
    if (to_text(status) == end.at("status").get<std::string>()) question.status = status;
  }
  question.settled_at = kNow;
  if (end.contains("by")) question.answered_by = end["by"].get<std::string>();
  if (!end.contains("selected") && !end.contains("text")) return;
  Choice choice;
  if (end.contains("selected")) choice.selected = end["selected"].get<std::vector<std::string>>();
  if (end.contains("text")) choice.text = end["text"].get<std::string>();
  question.choice = choice;
}

void write_forms(JsonWriter& out, const std::vector<Question>& questions) {
  out.key("slack_modals").begin_array();
  for (const auto& question : questions) {
    out.raw(slack_form(question, {}, kPublicUrl));
    if (question.spec.multi_select) out.raw(slack_form(question, {0}, kPublicUrl));
  }
  out.end_array();
  out.key("discord_modals").begin_array();
  for (const auto& question : questions) out.raw(discord_form(question));
  out.end_array();
}

// Notices quote what people did, so each may hold any text.
void write_notices(JsonWriter& out, const std::vector<Question>& questions) {
  out.key("slack_notices").begin_array();
  for (const auto& question : questions) {
    out.raw(slack_notice_view("Too late: " + settled_line(question) + "."));
  }
  out.end_array();
  out.key("discord_responses").begin_array();
  out.raw(discord_pong()).raw(discord_deferred());
  for (const auto& question : questions) {
    out.raw(discord_notice("Too late: " + settled_line(question) + "."));
    out.raw(discord_update_notice(settled_line(question) + "."));
    out.raw(discord_cancel_question(question.id));
  }
  out.end_array();
}

std::string render(const Json& wanted) {
  const Ask ask = parse_ask(wanted.at("ask").dump(), AskDefaults{}, widest());
  auto questions =
      pose(ask, SessionId::make(kNow), wanted.at("agent").get<std::string>(), 1, {}, kNow);
  for (std::size_t i = 0; i < questions.size(); ++i) {
    const Json& end = wanted.at("settle").at(i);
    if (!end.is_null()) settle(questions[i], end);
  }
  const bool may_cancel = wanted.at("may_cancel").get<bool>();
  const DiscordStyle style{kPublicUrl, may_cancel};
  const std::vector<std::string> tokens(questions.size(), std::string(43, 'x'));
  JsonWriter out;
  out.begin_object();
  out.key("questions").begin_array();
  for (const auto& question : questions) {
    out.begin_object()
        .member("id", question.id)
        .member("settled_line", settled_line(question))
        .end_object();
  }
  out.end_array();
  const std::string discord = discord_message(questions, style);
  out.raw_member("slack_message", slack_message(questions, may_cancel, kPublicUrl))
      .raw_member("slack_webhook", slack_webhook_message(questions, tokens, kPublicUrl))
      .raw_member("slack_webhook_login", slack_webhook_message(questions, {}, kPublicUrl))
      .raw_member("slack_closing", slack_webhook_closing(questions, kPublicUrl))
      .raw_member("discord_post",
                  discord_new_message(questions, style, discord_nonce(new_uuid(kNow))))
      .raw_member("discord_edit", discord)
      .raw_member("discord_update", discord_update(discord));
  // What was asked, as if it were only told.
  const Card card{shorten(questions.front().spec.header.value_or(""), 150),
                  questions.front().spec.question,
                  {}};
  const std::string page = kPublicUrl + "/session/" + questions.front().session_id.text();
  out.raw_member("slack_card", slack_card(card, questions.front().agent_name, page))
      .raw_member("discord_card", discord_card(card, questions.front().agent_name, page,
                                               discord_nonce(new_uuid(kNow))));
  write_forms(out, questions);
  write_notices(out, questions);
  return out.end_object().take();
}

}  // namespace
}  // namespace holdpoint

int main() {
  std::ios::sync_with_stdio(false);
  for (std::string line; std::getline(std::cin, line);) {
    try {
      std::cout << holdpoint::render(holdpoint::Json::parse(line)) << '\n';
    } catch (const holdpoint::BadRequest& e) {
      std::cout << holdpoint::Json{{"refused", e.field() + " " + e.what()}}.dump() << '\n';
    }
  }
}
