#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/guarded.h"
#include "base/time.h"
#include "cli/client.h"

namespace holdpoint::cli {

// How `ask` and `wait` end.
namespace exits {
inline constexpr int kAnswered = 0, kFailed = 1, kTimedOut = 2, kCancelled = 3, kRefused = 4;
}

// A question from outside, from the first try to ask it until it is settled. Each run_once is one
// call to the server; a call that fails is made again for as long as that may help: an ask under
// the same idempotency key, so that one whose response was lost is not asked twice.
class Waiting {
 public:
  struct Start {
    std::string body;  // Of POST /agent/ask; empty: it was asked before.
    std::string id;    // Then the question's id, or its session's.
    bool detach = false;
    Duration connect_timeout = std::chrono::seconds{60};  // While nobody was ever reached.
  };
  struct End {
    int code = exits::kFailed;
    std::string complaint;  // For people; may be empty.
  };
  struct Seen {
    std::vector<Json> questions;     // Of the ask, in their order.
    std::vector<std::string> texts;  // The same as the server prints them.
    std::string away;                // Why the last call failed; empty: it did not.
    std::size_t outages = 0;         // How often calls began to fail.
    std::optional<End> end;
  };

  // `changed` is called after each run, by its thread.
  Waiting(Server& server, Start start, std::function<void()> changed)
      : server_(server), start_(std::move(start)), changed_(std::move(changed)) {}

  // When to run next; nothing once it has ended.
  std::optional<Time> run_once(Time now);

  // From any thread.
  Seen seen();

 private:
  // How long past the deadline a server that does not answer is still called.
  static constexpr Duration kMargin = std::chrono::minutes{10};

  std::optional<Time> step(Time now);
  void ask();
  void find();
  void find_by_session();
  // Waits a while for the first question that is pending; whether there was one.
  bool poll();
  void keep(std::vector<std::string> texts);
  std::optional<Time> fail(const CallFailed& failed, Time now);
  Time give_up_at(const Seen& seen) const;

  Server& server_;
  const Start start_;
  const std::function<void()> changed_;
  std::optional<Time> began_;
  bool reached_ = false;
  bool known_ = false;  // The questions are.
  int failures_ = 0;    // In a row.
  Guarded<Seen> seen_;
};

}  // namespace holdpoint::cli
