#include "reception.h"

#include "from_settings.h"

namespace holdpoint {

Reception::Reception(const Settings& settings, Parts parts)
    : settings_(settings),
      parts_(std::move(parts)),
      clicks_(parts_.answers, parts_.control, parts_.views, users_from(settings)),
      slack_desk_(make_slack_desk()),
      slack_socket_(make_slack_socket()),
      discord_desk_(make_discord_desk()),
      replies_(make_replies()),
      reply_inbox_(make_reply_inbox()),
      unsubscribe_(parts_.db, parts_.journal, parts_.unsubscribe_tokens) {}

void Reception::start() {
  if (slack_socket_) slack_socket_->start();
  if (reply_inbox_) reply_inbox_->start();
}

void Reception::stop() {
  if (slack_socket_) slack_socket_->stop();
  if (reply_inbox_) reply_inbox_->stop();
  if (slack_desk_) slack_desk_->stop();
}

Desks Reception::desks() {
  Desks desks;
  desks.slack = slack_desk_.get();
  if (!settings_.slack.signing_secret.empty()) {
    desks.slack_signing = {settings_.slack.signing_secret};
  }
  desks.discord = discord_desk_.get();
  desks.discord_key = settings_.discord.public_key;
  desks.replies = replies_.get();
  desks.inbound_secrets = settings_.email.inbound_secret;
  if (parts_.platforms.email) desks.unsubscribe = &unsubscribe_;
  return desks;
}

std::optional<bool> Reception::connected(std::string_view platform) const {
  if (platform == "slack" && slack_socket_) return slack_socket_->is_connected();
  if (platform == "email" && reply_inbox_) return reply_inbox_->is_connected();
  return std::nullopt;
}

std::unique_ptr<SlackDesk> Reception::make_slack_desk() {
  if (!parts_.platforms.slack) return nullptr;
  return std::make_unique<SlackDesk>(
      clicks_, *parts_.platforms.slack, [this](const Question& question) {
        return SlackDesk::Standing{parts_.views.ask_of(question),
                                   parts_.agents.may_cancel(question.agent_name)};
      });
}

std::unique_ptr<SlackSocket> Reception::make_slack_socket() {
  if (!slack_desk_ || settings_.slack.app_token.empty()) return nullptr;
  SlackSocket::Options options;
  options.api_url = settings_.slack.api_url;
  options.app_token = settings_.slack.app_token;
  return std::make_unique<SlackSocket>(
      parts_.client, guard_from(settings_),
      [this](std::string_view payload, const std::string& address, Time now) {
        return slack_desk_->take(payload, address, now);
      },
      parts_.clock, std::move(options));
}

std::unique_ptr<DiscordDesk> Reception::make_discord_desk() {
  if (!parts_.platforms.discord) return nullptr;
  return std::make_unique<DiscordDesk>(clicks_, parts_.views, parts_.agents, parts_.public_url);
}

std::unique_ptr<Replies> Reception::make_replies() {
  if (settings_.email.reply_to.empty()) return nullptr;
  return std::make_unique<Replies>(parts_.db, parts_.journal, parts_.answers, parts_.notices,
                                   parts_.reply_tokens,
                                   Replies::Options{settings_.email.reply_to, parts_.limits});
}

std::unique_ptr<ReplyInbox> Reception::make_reply_inbox() {
  if (settings_.email.imap_url.empty()) return nullptr;
  const ImapOptions imap = imap_from(settings_);
  return std::make_unique<ReplyInbox>(
      [imap](std::function<bool()> cancelled) { return open_imap(imap, std::move(cancelled)); },
      *replies_, parts_.clock, imap.url);
}

}  // namespace holdpoint
