#include "platforms.h"

#include "domain/target.h"

namespace holdpoint {
namespace {

Mailbox sender_from(const Settings& s) {
  const auto from = read_mailbox(s.email.from);
  if (!from || !is_mail_address(from->address)) {
    throw SettingsError(
        "[email] from must be one address, like \"Holdpoint <holdpoint@example.org>\"");
  }
  return *from;
}

}  // namespace

ImapOptions imap_from(const Settings& s) {
  ImapOptions imap;
  imap.url = s.email.imap_url;
  imap.user = s.email.imap_user;
  imap.password = s.email.imap_password;
  imap.tls = s.email.imap_tls;
  imap.folder = s.email.imap_folder;
  imap.ca_file = s.email.ca_file.string();
  return imap;
}

Platforms::Platforms(const Settings& s, HttpClient& client, const std::string& public_url,
                     MailWays ways)
    : slack_webhook(std::make_unique<SlackWebhookChannel>(client, public_url)) {
  if (!s.slack.bot_token.empty()) {
    slack = std::make_unique<SlackChannel>(
        client, SlackChannel::Options{s.slack.api_url, s.slack.bot_token, public_url});
  }
  if (!s.discord.bot_token.empty()) {
    discord = std::make_unique<DiscordChannel>(
        client, DiscordChannel::Options{s.discord.api_url, s.discord.bot_token, public_url});
  }
  if (s.email.smtp_url.empty()) return;
  SmtpOptions smtp;
  smtp.url = s.email.smtp_url;
  smtp.user = s.email.smtp_user;
  smtp.password = s.email.smtp_password;
  smtp.tls_required = s.email.smtp_tls;
  smtp.ca_file = s.email.ca_file.string();
  mail = make_smtp_client(std::move(smtp));
  email = std::make_unique<EmailChannel>(
      *mail, EmailChannel::Options{sender_from(s), public_url, std::move(ways.reply_address),
                                   std::move(ways.unsubscribe_url)});
}

Courier::Channels Platforms::channels(Channel& url) {
  Courier::Channels all{{"url", &url}, {"slack-webhook", slack_webhook.get()}};
  if (slack) all.emplace("slack", slack.get());
  if (discord) all.emplace("discord", discord.get());
  if (email) all.emplace("email", email.get());
  return all;
}

}  // namespace holdpoint
