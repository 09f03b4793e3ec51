#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>

namespace holdpoint::test {

// Counts what happens on other threads, so that tests wait for it instead of sleeping.
class Tally {
 public:
  void add() {
    {
      std::lock_guard lock(mutex_);
      ++count_;
    }
    changed_.notify_all();
  }
  // False if the count stays below `least` for too long.
  bool reaches(int least) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::seconds{20}, [&] { return count_ >= least; });
  }
  int count() {
    std::lock_guard lock(mutex_);
    return count_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int count_ = 0;
};

}  // namespace holdpoint::test
