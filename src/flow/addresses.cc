#include "flow/addresses.h"

#include <algorithm>

#include "domain/bad_request.h"
#include "domain/text.h"
#include "net/http_client.h"

namespace holdpoint {
namespace {

void add_once(std::vector<Address>& all, const std::vector<Address>& more) {
  for (const auto& address : more) {
    if (std::find(all.begin(), all.end(), address) == all.end()) all.push_back(address);
  }
}

}  // namespace

std::vector<Address> Addresses::of(const Target& target, const std::string& field) const {
  const auto chat = [&](const std::optional<std::string>& host, const std::string& otherwise,
                        const char* key) -> std::vector<Address> {
    if (!host) {
      throw BadRequest(field, target.channel + " is not set up on this server: [" + target.channel +
                                  "] bot_token is empty");
    }
    const std::string& to = target.to.empty() ? otherwise : target.to;
    if (to.empty()) {
      throw BadRequest(field, target.channel + " names no channel, and [questions] " + key +
                                  " is empty: write " + target.channel + ":<channel>");
    }
    return {{target.channel, to, *host + "#" + to}};
  };
  if (target.channel == "slack")
    return chat(options_.slack, options_.slack_channel, "slack_channel");
  if (target.channel == "discord") {
    return chat(options_.discord, options_.discord_channel, "discord_channel");
  }
  if (target.channel != "email") return {};
  if (!options_.email) {
    throw BadRequest(field, "email is not set up on this server: [email] smtp_url is empty");
  }
  if (!target.to.empty()) return {{"email", lower_case(target.to), *options_.email}};
  if (options_.email_to.empty()) {
    throw BadRequest(
        field, "email names nobody, and [questions] email_to is empty: write email:<address>");
  }
  std::vector<Address> all;
  for (const auto& address : options_.email_to) {
    add_once(all, {{"email", lower_case(address), *options_.email}});
  }
  return all;
}

std::vector<Address> Addresses::of_ask(const AgentDefinition* agent,
                                       const std::vector<Target>& added) const {
  std::vector<Address> all;
  const auto& own = agent && !agent->channels.empty() ? agent->channels : options_.defaults;
  for (const auto& target : own) {
    try {
      add_once(all, of(target, "channels"));
    } catch (const BadRequest&) {
      // Looked at when definitions were read: no ask is refused for it.
    }
  }
  for (std::size_t i = 0; i < added.size(); ++i) {
    const std::string field = "channels[" + std::to_string(i) + "]";
    const auto places = of(added[i], field);
    if (added[i].channel == "email" && !added[i].to.empty() && !may_add(agent, added[i])) {
      throw BadRequest(field, "an ask may not add " + added[i].to +
                                  ": whoever gets the mail may answer. List the address or its "
                                  "domain in [email] asks_may_add");
    }
    add_once(all, places);
  }
  return all;
}

bool Addresses::may_add(const AgentDefinition* agent, const Target& mail) const {
  const std::string address = lower_case(mail.to);
  const std::string domain = address.substr(address.rfind('@') + 1);
  const auto named = [&](const std::string& name) { return lower_case(name) == address; };
  const auto any_named = [&](const std::vector<std::string>& names) {
    return std::any_of(names.begin(), names.end(), named);
  };
  if (any_named(options_.email_to) || any_named(options_.asks_may_add)) return true;
  if (std::any_of(options_.asks_may_add.begin(), options_.asks_may_add.end(),
                  [&](const std::string& name) { return lower_case(name) == domain; })) {
    return true;
  }
  if (!agent) return false;
  return any_named(agent->answerers) ||
         std::any_of(agent->channels.begin(), agent->channels.end(), [&](const Target& target) {
           return target.channel == "email" && named(target.to);
         });
}

std::vector<std::string> Addresses::platforms() const {
  std::vector<std::string> all;
  if (options_.slack) all.emplace_back("slack");
  if (options_.discord) all.emplace_back("discord");
  if (options_.email) all.emplace_back("email");
  return all;
}

bool Addresses::is_slack_webhook(const std::string& url) const {
  const auto host = host_of(url);
  if (!host) return false;
  const std::string name = host->substr(0, host->rfind(':'));
  return std::any_of(options_.slack_webhook_hosts.begin(), options_.slack_webhook_hosts.end(),
                     [&](const std::string& known) { return known == name || known == *host; });
}

}  // namespace holdpoint
