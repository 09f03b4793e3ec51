#pragma once

#include <atomic>

#include "base/loop.h"
#include "store/database.h"

namespace holdpoint {

// Links the audit log's new rows into its chain, a few times a second while there are any.
class Notary {
 public:
  Notary(Database& db, const Clock& clock);

  void start() { loop_.start(); }
  // Links the last ones too.
  void stop();
  // Something was committed; called often, from any thread.
  void wake() {
    if (!asked_.exchange(true)) loop_.wake();
  }
  // Returns when to look again.
  std::optional<Time> run_once(Time now);

 private:
  Database& db_;
  std::atomic<bool> asked_{true};
  Time linked_at_{};
  Loop loop_;
};

}  // namespace holdpoint
