#pragma once

#include "base/loop.h"
#include "store/database.h"

namespace holdpoint {

// Removes sessions that finished long ago, with all that belongs to them.
class Retention {
 public:
  Retention(Database& db, std::chrono::days keep, const Clock& clock);

  void start() { loop_.start(); }
  void stop() { loop_.stop(); }
  // Removes a small lot at a time, so that answers never wait long for it; returns when to look
  // again.
  std::optional<Time> run_once(Time now);

 private:
  Database& db_;
  const std::chrono::days keep_;
  Loop loop_;
};

}  // namespace holdpoint
