#pragma once

#include <atomic>
#include <cstdint>
#include <functional>

#include "store/database.h"

namespace holdpoint {

// Whether there is any key or user. Safe to share between threads.
class Credentials {
 public:
  explicit Credentials(Database& db) : db_(db) {}

  // Tells the other nodes; set before the first change.
  std::function<void()> on_changed;

  // Whether somebody has ever made one, revoked or removed since or not. Looked up again at most
  // once a second, until it is so; then it stays so.
  bool ever(Time now);
  // The first one was just made by this process: it counts from now on.
  void note_made() {
    ever_ = true;
    note_changed();
  }
  // One was taken away or changed. Who let somebody in for long looks again when `changes` has
  // changed.
  void note_changed() {
    ++changes_;
    if (on_changed) on_changed();
  }
  // The same, by another node.
  void hear_changed() {
    ++changes_;
    looked_at_ = 0;
  }
  std::uint64_t changes() const { return changes_; }
  // Whether one is there that lets somebody in.
  bool live(Time now);

 private:
  Database& db_;
  std::atomic<bool> ever_{false};
  std::atomic<std::int64_t> looked_at_{0};
  std::atomic<std::uint64_t> changes_{0};
};

}  // namespace holdpoint
