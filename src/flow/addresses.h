#pragma once

#include <optional>
#include <string>
#include <vector>

#include "agents/definition.h"
#include "domain/target.h"

namespace holdpoint {

// One place that a message can be sent to.
struct Address {
  std::string channel;  // As `deliveries.channel` has it.
  std::string to;
  std::string host;  // What shares a receiver's capacity: messages to one host wait for each other.
  bool operator==(const Address&) const = default;
};

// Which platforms are set up, and what targets mean on them.
class Addresses {
 public:
  struct Options {
    // `host:port` of each platform, or of the mail server; none: it is not set up.
    std::optional<std::string> slack, discord, email;
    // What a target without a place means; empty: nothing.
    std::string slack_channel, discord_channel;
    std::vector<std::string> email_to;
    // Whom asks may add: addresses, or domains. Besides them, whom the settings or the agent name:
    // a mail lets its reader answer, and what asks must not answer itself.
    std::vector<std::string> asks_may_add;
    std::vector<Target> defaults;  // For agents that name no channels.
    std::vector<std::string> slack_webhook_hosts;
  };
  Addresses() = default;
  explicit Addresses(Options options) : options_(std::move(options)) {}

  // The places that a target names; none for `url`, whose place is the agent's. Throws BadRequest
  // naming `field` if its platform is not set up, or if it names none and the settings do neither.
  std::vector<Address> of(const Target& target, const std::string& field) const;

  // Where an ask goes besides its callback: the agent's channels, or the settings' if it names
  // none, and those that the ask adds; each place once. Throws BadRequest for the ask's, also for
  // an address that it may not add.
  std::vector<Address> of_ask(const AgentDefinition* agent, const std::vector<Target>& added) const;

  // Whether this callback is an incoming webhook of Slack's, which wants a message of its own kind.
  bool is_slack_webhook(const std::string& url) const;
  // The platforms that are set up, callbacks aside.
  std::vector<std::string> platforms() const;
  // Whether there is anything but callbacks.
  bool any() const { return options_.slack || options_.discord || options_.email; }

 private:
  bool may_add(const AgentDefinition* agent, const Target& mail) const;

  Options options_;
};

}  // namespace holdpoint
