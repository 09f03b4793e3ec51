#include "channels/slack_errors.h"

#include <algorithm>
#include <map>
#include <vector>

#include "domain/text.h"

namespace holdpoint {
namespace {

const std::string kToken =
    "Slack does not take the bot token: copy it anew from the app's page \"OAuth & Permissions\" "
    "to [slack] bot_token";

const std::map<std::string, std::string>& fixes() {
  static const std::map<std::string, std::string> all{
      {"invalid_auth", kToken},
      {"not_authed", kToken},
      {"account_inactive", kToken},
      {"token_revoked", kToken},
      {"token_expired", kToken},
      {"not_allowed_token_type",
       "[slack] bot_token is a token of another kind: it must begin with xoxb-"},
      {"not_in_channel", "the bot is not in the channel: invite it there with /invite @<the bot>"},
      {"channel_not_found",
       "the bot sees no such channel: check its name or id, and if it is private invite the bot "
       "there with /invite @<the bot>"},
      {"is_archived", "the channel is archived: unarchive it, or send questions to another"},
      {"restricted_action", "the workspace lets only some people post there: ask its admins"},
      {"ratelimited", "Slack wants fewer messages for a while"},
      {"rate_limited", "Slack wants fewer messages for a while"},
      {"cant_update_message",
       "the message is another bot's: was [slack] bot_token changed since it was sent?"},
      {"edit_window_closed", "the workspace lets messages be edited for a short time only"},
      {"expired_trigger_id", "the form came later than the 3 s that Slack waits"},
  };
  return all;
}

std::string text_of(const Json& object, const char* name) {
  if (!object.is_object() || !object.contains(name) || !object[name].is_string()) return "";
  std::string text = object[name].get<std::string>();
  return is_clean_utf8(text) ? text : "";
}

// What Slack adds about blocks it does not take.
std::string detail_of(const Json& reply) {
  if (!reply.is_object() || !reply.contains("response_metadata")) return "";
  const Json& metadata = reply["response_metadata"];
  if (!metadata.is_object() || !metadata.contains("messages")) return "";
  const Json& messages = metadata["messages"];
  if (!messages.is_array() || messages.empty() || !messages.front().is_string()) return "";
  std::string text = messages.front().get<std::string>();
  return is_clean_utf8(text) ? text : "";
}

}  // namespace

bool is_fault_of_message(const std::string& error) {
  static const std::vector<std::string> all{
      "invalid_blocks", "invalid_blocks_format", "msg_too_long",     "msg_blocks_too_long",
      "no_text",        "invalid_arguments",     "invalid_arg_name", "too_many_attachments"};
  return std::find(all.begin(), all.end(), error) != all.end();
}

std::string slack_error_text(const std::string& error, const Json& reply,
                             const std::string& place) {
  const std::string shown = shorten(error.empty() ? "no reason" : error, 60);
  const std::string where = place.empty() ? "" : shorten(place, 60) + ": ";
  if (error == "missing_scope") {
    const std::string needed = text_of(reply, "needed");
    return where + "the bot token lacks the scope " +
           (needed.empty() ? "chat:write" : shorten(needed, 60)) +
           ": add it on the app's page \"OAuth & Permissions\" and install the app anew (" + shown +
           ")";
  }
  if (is_fault_of_message(error)) {
    const std::string detail = detail_of(reply);
    return where + "Slack does not take the message" +
           (detail.empty() ? "" : ": " + shorten(detail, 200)) + " (" + shown + ")";
  }
  const auto fix = fixes().find(error);
  if (fix != fixes().end()) return where + fix->second + " (" + shown + ")";
  return where + "Slack says: " + shown;
}

}  // namespace holdpoint
