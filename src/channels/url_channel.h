#pragma once

#include <functional>
#include <string>
#include <vector>

#include "channels/channel.h"
#include "net/http_client.h"
#include "wire/signature.h"

namespace holdpoint {

// Posts to a URL, signed as Standard Webhooks asks.
class UrlChannel final : public Channel {
 public:
  // The secrets that sign for an agent now, at most two; none: unsigned.
  using Secrets = std::function<std::vector<WebhookSecret>(const std::string& agent_name)>;

  UrlChannel(HttpClient& client, Secrets secrets) : client_(client), secrets_(std::move(secrets)) {}
  SendOutcome send(const Outgoing& message, Time now,
                   const std::function<bool()>& cancelled) override;

 private:
  HttpClient& client_;
  const Secrets secrets_;
};

}  // namespace holdpoint
