#pragma once

#include <atomic>

#include "base/loop.h"
#include "flow/journal.h"
#include "flow/settling.h"

namespace holdpoint {

// Ends questions that nobody answered in time.
class Expiry {
 public:
  Expiry(Database& db, Journal& journal, Settling& settling, const Clock& clock);

  void start() { loop_.start(); }
  void stop() { loop_.stop(); }
  // A new question ends at `deadline`; wakes the loop only if that is sooner than what it sleeps
  // for.
  void note_deadline(Time deadline);
  // There may be deadlines that another node set.
  void wake() { loop_.wake(); }

  // Expires all that is overdue; returns the next deadline.
  std::optional<Time> run_once(Time now);

 private:
  Story expire(Transaction& tx, const std::vector<SessionId>& sessions, Time now);

  Database& db_;
  Journal& journal_;
  Settling& settling_;
  std::atomic<Time> sleeps_until_{Time::min()};
  Loop loop_;
};

}  // namespace holdpoint
