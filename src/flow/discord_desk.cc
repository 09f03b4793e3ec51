#include "flow/discord_desk.h"

#include "channels/discord_interaction.h"
#include "channels/discord_message.h"
#include "channels/discord_response.h"

namespace holdpoint {

std::string DiscordDesk::take(std::string_view body, const std::string& address, Time now) {
  const auto interaction = read_discord_interaction(body, address);
  switch (interaction.kind) {
    case DiscordInteraction::Kind::ping:
      return discord_pong();
    case DiscordInteraction::Kind::doubt:
      return discord_cancel_question(interaction.click.question);
    case DiscordInteraction::Kind::click:
      return answer_to(clicks_.take(interaction.click, now));
    case DiscordInteraction::Kind::notice:
      break;
  }
  const auto outcome = clicks_.take(interaction.click, now);
  return discord_update_notice(outcome.notice.empty() && outcome.question
                                   ? settled_line(*outcome.question) + "."
                                   : outcome.notice);
}

std::string DiscordDesk::answer_to(const Clicks::Outcome& outcome) {
  using Kind = Clicks::Outcome::Kind;
  switch (outcome.kind) {
    case Kind::taken:
    case Kind::repeated:
      return outcome.question ? discord_update(message_about(*outcome.question))
                              : discord_deferred();
    case Kind::form:
      return outcome.question ? discord_form(*outcome.question) : discord_deferred();
    case Kind::late:
    case Kind::refused:
    case Kind::unknown:
      return discord_notice(outcome.notice);
    case Kind::nothing:
      break;
  }
  return discord_deferred();
}

std::string DiscordDesk::message_about(const Question& question) {
  return discord_message(views_.ask_of(question),
                         {public_url_, agents_.may_cancel(question.agent_name)});
}

}  // namespace holdpoint
