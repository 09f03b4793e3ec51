#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/loop.h"
#include "flow/replies.h"
#include "net/imap_client.h"

namespace holdpoint {

// Reads the mailbox that replies come to, and marks as seen what was taken: a mail that a crash or
// the store kept from being taken is still unseen. Several nodes may read the same one.
class ReplyInbox {
 public:
  using Open = std::function<std::unique_ptr<ImapClient>(std::function<bool()> cancelled)>;
  // `address` is what the audit log shows as where answers came from: the mail server.
  ReplyInbox(Open open, Replies& replies, const Clock& clock, std::string address);
  ~ReplyInbox() { stop(); }

  void start() { loop_.start(); }
  // Within two seconds, whatever the server does.
  void stop();

  // Takes all that is unseen, then waits for more. Returns when to run again.
  std::optional<Time> run_once(Time now);
  // Whether the mailbox was opened, and not lost since. From any thread.
  bool is_connected() const { return connected_; }

 private:
  static constexpr Duration kWait{180'000};  // Then it looks, in case word got lost.
  static constexpr Duration kPoll{30'000};   // For servers that give no word.
  static constexpr Duration kMostBackoff{60'000};

  void take_unseen();
  void take(ImapClient::Uid uid);
  // How long to wait after a failure; longer each time until something worked.
  Duration back_off();

  const Open open_;
  Replies& replies_;
  const Clock& clock_;
  const std::string address_;
  std::atomic<bool> stopping_{false};
  std::atomic<bool> connected_{false};
  std::unique_ptr<ImapClient> client_;  // Only the loop's thread.
  int failures_ = 0;
  Loop loop_;
};

}  // namespace holdpoint
