#pragma once

#include <memory>
#include <string>

#include "flow/clicks.h"
#include "flow/discord_desk.h"
#include "flow/reply_inbox.h"
#include "flow/slack_desk.h"
#include "flow/slack_socket.h"
#include "flow/unsubscribe.h"
#include "http/api.h"
#include "platforms.h"
#include "settings/settings.h"

namespace holdpoint {

// Where people's answers come in from the platforms that are set up: what the routes call, and what
// fetches them by itself.
class Reception {
 public:
  struct Parts {
    Database& db;
    const Clock& clock;
    HttpClient& client;
    Journal& journal;
    Notices& notices;
    Agents& agents;
    Answers& answers;
    Control& control;
    Views& views;
    Platforms& platforms;
    const ReplyTokens& reply_tokens;
    const ReplyTokens& unsubscribe_tokens;
    std::string public_url;
    Limits limits;
  };
  Reception(const Settings& settings, Parts parts);

  void start();
  // What was taken is acknowledged by then.
  void stop();
  Desks desks();
  // Whether the connection that a platform's answers come by is there; nothing if they come by
  // none. From any thread.
  std::optional<bool> connected(std::string_view platform) const;

 private:
  std::unique_ptr<SlackDesk> make_slack_desk();
  std::unique_ptr<SlackSocket> make_slack_socket();
  std::unique_ptr<DiscordDesk> make_discord_desk();
  std::unique_ptr<Replies> make_replies();
  std::unique_ptr<ReplyInbox> make_reply_inbox();

  const Settings& settings_;
  const Parts parts_;
  Clicks clicks_;
  // Null where a platform is not set up.
  const std::unique_ptr<SlackDesk> slack_desk_;
  const std::unique_ptr<SlackSocket> slack_socket_;
  const std::unique_ptr<DiscordDesk> discord_desk_;
  const std::unique_ptr<Replies> replies_;
  const std::unique_ptr<ReplyInbox> reply_inbox_;
  Unsubscribe unsubscribe_;
};

}  // namespace holdpoint
