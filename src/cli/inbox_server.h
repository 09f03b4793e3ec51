#pragma once

#include <atomic>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/clock.h"
#include "base/guarded.h"
#include "base/loop.h"
#include "cli/client.h"
#include "cli/event_text.h"
#include "cli/inbox_desk.h"

namespace holdpoint::cli {

// The server's side of `holdpoint inbox`: what is pending, again whenever something happens there;
// and what the person decided, sent until the server has said what came of it.
class InboxServer {
 public:
  // `changed` is called by other threads when there is something to take.
  InboxServer(const Whereabouts& where, std::string by, std::function<void()> changed);
  ~InboxServer() { stop(); }
  InboxServer(const InboxServer&) = delete;

  void start();
  void stop();

  void send(SendAnswer answer);
  void send(CancelSession cancel);
  void look_up(std::string question);
  void look_again();

  struct Pending {
    std::vector<Json> questions;
    bool more = false;
  };
  struct Outcome {
    std::string question;
    bool over = false;  // No more answers; else it is open again.
    std::string text;   // For people.
  };
  struct News {
    std::optional<Pending> pending;
    std::vector<Outcome> outcomes;
    std::vector<Json> looked_up;
    std::optional<std::string> refused;  // There is no going on: no access, or no Holdpoint server.
  };
  News take();
  // Why the server cannot be reached; empty: it can.
  std::string away();

 private:
  using Task = std::variant<SendAnswer, CancelSession, std::string>;  // The string: look it up.
  struct Shared {
    News news;
    std::deque<Task> tasks;
    std::string away;
  };

  std::optional<Time> list_once(Time now);
  std::optional<Time> follow_once(Time now);
  std::optional<Time> send_once(Time now);
  void add(Task task);
  void run(const Task& task);
  Outcome answer(const SendAnswer& answer);
  Outcome cancel(const CancelSession& cancel);
  void set_away(const std::string& why);
  void refuse(const CallFailed& failed);

  const std::string by_;
  const std::function<void()> changed_;
  std::atomic<bool> stopping_ = false;
  std::atomic<bool> follows_ = true;  // False: it may not, and looks now and then.
  std::atomic<bool> reached_ = false;
  Client client_;
  Guarded<Shared> shared_;
  EventText events_;
  Time listed_at_{};  // By the list's own thread.
  const SystemClock clock_;
  Loop list_, follow_, send_;
};

}  // namespace holdpoint::cli
