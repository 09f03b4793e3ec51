#pragma once

#include <string>

#include "channels/channel.h"
#include "net/http_client.h"

namespace holdpoint {

// Posts to one of Slack's incoming webhooks, whose URL is the delivery's destination and a secret.
// Its messages have links for buttons and are never edited: how a question ended is a message of
// its own, for the event `question_settled`.
class SlackWebhookChannel final : public Channel {
 public:
  SlackWebhookChannel(HttpClient& client, std::string public_url)
      : client_(client), public_url_(std::move(public_url)) {}
  SendOutcome send(const Outgoing& message, Time now,
                   const std::function<bool()>& cancelled) override;

 private:
  HttpClient& client_;
  const std::string public_url_;
};

}  // namespace holdpoint
