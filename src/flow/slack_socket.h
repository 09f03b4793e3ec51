#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/loop.h"
#include "base/secret.h"
#include "net/http_client.h"
#include "net/websocket.h"
#include "wire/json.h"

namespace holdpoint {

// Slack's Socket Mode: clicks come over a connection that we open, so that Slack need not reach
// this server. Keeps one open for as long as it runs; where several nodes do, Slack gives each
// click to one of them.
class SlackSocket {
 public:
  // Takes an interaction's payload and returns the body of its acknowledgement, which may be empty.
  // Throws BadRequest for what cannot be read. Whatever else it throws, Slack sends it again.
  using Take =
      std::function<std::string(std::string_view payload, const std::string& address, Time now)>;
  struct Options {
    std::string api_url;  // `https://slack.com/api`
    Secret app_token;     // xapp-…
    Duration first_wait{1'000};
    Duration longest_wait{60'000};
    Duration longest_silence{60'000};  // Slack pings every few seconds.
  };
  SlackSocket(HttpClient& client, AddressGuard guard, Take take, const Clock& clock,
              Options options);
  ~SlackSocket() { stop(); }

  void start() { loop_.start(); }
  // Hangs up. What was taken is acknowledged by then.
  void stop();

  // Connects and serves until the connection is lost. Returns when to try again.
  std::optional<Time> run_once(Time now);
  // Whether Slack has greeted us on a line that was not lost since. From any thread.
  bool is_connected() const { return connected_; }

 private:
  enum class Next { go_on, replace, hang_up };

  // Null if there is none to be had; `wait_` says for how long.
  std::unique_ptr<WebSocket> dial();
  std::string fetch_url();
  // Until the line is lost. The one that takes its place, if Slack asked for that.
  std::unique_ptr<WebSocket> serve(WebSocket& line);
  // Whether the other side is silent for too long; asks it to say something first.
  bool is_dead(WebSocket& line);
  // Takes what has come on a line that is about to end.
  void drain(WebSocket& line);
  // One message. `reason_` says why to hang up.
  Next handle(WebSocket& line, const std::string& text);
  Next acknowledge(WebSocket& line, const Json& envelope);
  void fail(const std::string& reason, Duration wait);
  // Grows while no line lasts.
  Duration next_wait();

  HttpClient& client_;
  const AddressGuard guard_;
  const Take take_;
  const Clock& clock_;
  const Options options_;
  std::atomic<bool> stopping_{false};
  std::atomic<bool> connected_{false};
  int failures_ = 0;  // Since a line lasted.
  Duration wait_{0};  // What Slack asked for, or what a mistake deserves.
  std::string reason_;
  bool asked_ = false;  // The silent other side was pinged.
  Loop loop_;
};

}  // namespace holdpoint
