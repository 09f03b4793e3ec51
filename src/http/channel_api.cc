#include "http/api.h"
#include "http/discord_api.h"
#include "http/email_api.h"
#include "http/html.h"
#include "http/slack_api.h"

namespace holdpoint {
namespace {

Response not_set_up(const char* platform, const char* setting) {
  return error_response(
      404, "not_set_up",
      std::string(platform) + " is not set up on this server: " + setting + " is empty");
}

Response no_mail() {
  return message_page(404, "No mails come from here", "This server sends no mails.");
}

}  // namespace

Routes channel_routes(Api& api) {
  const auto slack = [&api](const Request& request) {
    if (!api.desks.slack) return not_set_up("Slack", "[slack] bot_token");
    return slack_interaction(*api.desks.slack, api.desks.slack_signing, request, api.clock.now());
  };
  const auto discord = [&api](const Request& request) {
    if (!api.desks.discord) return not_set_up("Discord", "[discord] bot_token");
    if (api.desks.discord_key.empty()) return not_set_up("Discord", "[discord] public_key");
    return discord_interaction(*api.desks.discord, api.desks.discord_key, request, api.clock.now());
  };
  const auto inbound = [&api](const Request& request) {
    if (!api.desks.replies || api.desks.inbound_secrets.empty()) {
      return not_set_up("Mail that is posted", "[email] reply_to or inbound_secret");
    }
    Response response =
        email_inbound(*api.desks.replies, api.desks.inbound_secrets, request, api.clock.now());
    if (response.status != 401) return response;
    return api.gate.note_wrong(request).value_or(std::move(response));
  };
  const auto ask_to_leave = [&api](const Request& request) {
    if (!api.desks.unsubscribe) return no_mail();
    return unsubscribe_page(*api.desks.unsubscribe, request);
  };
  const auto leave = [&api](const Request& request) {
    if (!api.desks.unsubscribe) return no_mail();
    return unsubscribe(*api.desks.unsubscribe, request, api.clock.now());
  };
  return {
      {"POST", "/slack/interactions", own_check(), slack, false, false, true},
      {"POST", "/discord/interactions", own_check(), discord},
      {"POST", "/email/inbound", own_check(), inbound, false, false, true},
      {"GET", "/email/unsubscribe", own_check(), ask_to_leave, true},
      {"POST", "/email/unsubscribe", own_check(), leave, true, true, true},
  };
}

}  // namespace holdpoint
