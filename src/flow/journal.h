#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <vector>

#include "flow/events.h"
#include "flow/seats.h"
#include "store/database.h"

namespace holdpoint {

// What one transaction tells: its events, and who has work now. Made inside the transaction,
// announced after its commit.
class Story {
 public:
  // Appends the event's row in the same transaction.
  void add(Transaction& tx, Event event, Time now);

  std::vector<Event> events;
  // If there is a seat, the turn that became due was claimed for it instead.
  std::optional<session_store::Seat> seat;
  std::optional<session_store::ClaimedTurn> claimed;
  bool turn_due = false;
  bool delivery_due = false;
  std::optional<Time> deadline;  // The earliest new one.
};

// Carries what was committed to those who wait for it. Safe to share between threads.
class Journal {
 public:
  // Where turns can run that are claimed as they become due; none: they are claimed afterwards.
  Seats* seats = nullptr;
  // Wakes for the loops; set before the first announcement, empty ones are not called.
  std::function<void()> on_turn_due;
  std::function<void()> on_delivery_due;
  std::function<void(Time deadline)> on_deadline;
  std::function<void()> on_events;
  std::function<void(const Story&)> on_announced;  // For the other nodes.

  // After the commit: logs, and wakes loops and watchers. A crash before this loses only the wake,
  // and a start makes up for it.
  void announce(const Story& story);

  // Interest in one session from construction on, so that look, then wait misses nothing.
  class Watch {
   public:
    Watch(Journal& journal, SessionId session);
    ~Watch();
    Watch(const Watch&) = delete;
    // True once something happened to the session since construction or the last call; false at the
    // deadline or on close.
    bool wait_until(std::chrono::steady_clock::time_point deadline);

   private:
    friend class Journal;
    Journal& journal_;
    const SessionId session_;
    std::condition_variable changed_;
    bool touched_ = false;
  };

  // Another node did something to the session: its watchers look again.
  void touch(const SessionId& session);
  // It is not known which sessions others did something to.
  void touch_all();

  // Ends all waiting, now and from now on.
  void close();
  bool is_closed();

 private:
  std::mutex mutex_;
  bool closed_ = false;
  std::unordered_multimap<SessionId, Watch*> watches_;
};

}  // namespace holdpoint
