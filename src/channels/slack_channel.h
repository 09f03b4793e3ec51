#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/secret.h"
#include "channels/channel.h"
#include "net/http_client.h"
#include "wire/json.h"

namespace holdpoint {

// Posts messages as a bot, and edits them. A message's name is `<channel id> <ts>`.
class SlackChannel final : public Channel {
 public:
  struct Options {
    std::string api_url = "https://slack.com/api";
    Secret bot_token;
    std::string public_url;
  };
  SlackChannel(HttpClient& client, Options options)
      : client_(client), options_(std::move(options)) {}

  SendOutcome send(const Outgoing& message, Time now,
                   const std::function<bool()>& cancelled) override;

  // The rest is about one click, and tried once. Each returns what went wrong, empty if nothing.

  // Shows `notice` to the one who clicked alone.
  std::string tell(const std::string& response_url, const std::string& notice);
  // Puts the ask's message as it is now in place of the one that was clicked.
  std::string replace(const std::string& response_url, const std::vector<Question>& questions,
                      bool may_cancel);
  // Opens the form for an answer in own words, with `ticked` options ticked.
  std::string open_form(const std::string& trigger_id, const Question& question,
                        const std::vector<std::size_t>& ticked);

  // Whose token it is, or what is wrong with it.
  struct AuthTest {
    bool ok = false;
    std::string says;  // `@holdpoint in Example Inc`, or what to mend.
  };
  AuthTest auth_test();

 private:
  // Moving a Json checks its own invariant, which the lint takes for a throw.
  struct Reply {  // NOLINT(bugprone-exception-escape)
    HttpResponse http;
    Json body;          // An object, empty if it was none.
    bool ok = false;    // Slack did it.
    std::string error;  // Slack's word for why not; empty if it gave none.
    // What went wrong, with what mends it.
    std::string complaint(const std::string& place) const;
  };
  Reply call(const std::string& method, std::string body, Duration timeout,
             const std::function<bool()>& cancelled);
  std::string respond(const std::string& response_url, std::string body);

  HttpClient& client_;
  const Options options_;
};

}  // namespace holdpoint
