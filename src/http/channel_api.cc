#include "http/api.h"
#include "http/discord_api.h"
#include "http/slack_api.h"

namespace holdpoint {
namespace {

Response not_set_up(const char* platform, const char* setting) {
  return error_response(
      404, "not_set_up",
      std::string(platform) + " is not set up on this server: " + setting + " is empty");
}

}  // namespace

Routes channel_routes(Api& api) {
  const auto slack = [&api](const Request& request) {
    if (!api.desks.slack) return not_set_up("Slack", "[slack] bot_token");
    return slack_interaction(*api.desks.slack, api.desks.slack_signing, request, api.clock.now());
  };
  const auto discord = [&api](const Request& request) {
    if (!api.desks.discord) return not_set_up("Discord", "[discord] bot_token");
    return discord_interaction(*api.desks.discord, api.desks.discord_key, request, api.clock.now());
  };
  return {
      {"POST", "/slack/interactions", own_check(), slack, false, true},
      {"POST", "/discord/interactions", own_check(), discord},
  };
}

}  // namespace holdpoint
