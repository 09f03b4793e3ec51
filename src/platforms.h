#pragma once

#include <memory>
#include <string>

#include "channels/discord_channel.h"
#include "channels/email_channel.h"
#include "channels/slack_channel.h"
#include "channels/slack_webhook_channel.h"
#include "flow/courier.h"
#include "net/imap_client.h"
#include "settings/settings.h"

namespace holdpoint {

ImapOptions imap_from(const Settings& settings);

// The channels that the settings set up; null where one is not.
struct Platforms {
  // Where a mail's recipient replies and unsubscribes, by delivery.
  struct MailWays {
    std::function<std::string(const DeliveryId&)> reply_address;
    std::function<std::string(const DeliveryId&)> unsubscribe_url;
  };
  // Throws SettingsError.
  Platforms(const Settings& settings, HttpClient& client, const std::string& public_url,
            MailWays ways);

  // All of them, and `url`.
  Courier::Channels channels(Channel& url);

  std::unique_ptr<SlackChannel> slack;
  std::unique_ptr<SlackWebhookChannel> slack_webhook;
  std::unique_ptr<DiscordChannel> discord;
  std::unique_ptr<MailSender> mail;
  std::unique_ptr<EmailChannel> email;
};

}  // namespace holdpoint
