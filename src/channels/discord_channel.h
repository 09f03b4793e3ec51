#pragma once

#include <functional>
#include <string>

#include "base/secret.h"
#include "channels/channel.h"
#include "net/http_client.h"

namespace holdpoint {

// Posts messages as a bot of Discord, and edits them.
class DiscordChannel final : public Channel {
 public:
  struct Options {
    std::string api_url;  // `https://discord.com/api/v10`
    Secret bot_token;
    std::string public_url;  // Without a slash at the end.
  };
  DiscordChannel(HttpClient& client, Options options)
      : client_(client), options_(std::move(options)) {}

  SendOutcome send(const Outgoing& message, Time now,
                   const std::function<bool()>& cancelled) override;

  struct Check {
    std::string bot_name;  // As Discord calls it; empty if it does not answer.
    std::string error;     // What is wrong, and how to mend it.
  };
  // Whether Discord takes the token.
  Check check();

 private:
  HttpRequest request(const std::string& method, const std::string& path) const;

  HttpClient& client_;
  const Options options_;
};

}  // namespace holdpoint
