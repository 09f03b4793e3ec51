#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <list>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "base/clock.h"

namespace holdpoint {

// A thread that calls `run_once(now)` whenever it is woken or the time that the last call returned
// has come. The logic stays a plain function, which tests call without a thread. A run_once that
// throws is logged and tried again a second later.
class Loop {
 public:
  // Returns when it wants to run next; nothing means only when woken.
  using RunOnce = std::function<std::optional<Time>(Time now)>;

  Loop(std::string name, const Clock& clock, RunOnce run_once);
  ~Loop() { stop(); }
  Loop(const Loop&) = delete;

  void start();
  // From any thread, at any time, before start too. Several wakes before the next run make one run.
  void wake();
  // Returns once the run in progress has ended. Safe to call twice.
  void stop();

 private:
  void run();

  const std::string name_;
  const Clock& clock_;
  const RunOnce run_once_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool woken_ = true;  // The first run finds what an earlier process left.
  bool stopping_ = false;
  std::thread thread_;
};

// Worker threads that grow with the work, up to `most`; idle ones end after a while. Jobs must not
// throw.
class Pool {
 public:
  Pool(std::string name, std::size_t most, std::size_t max_queued);
  ~Pool() { stop(); }
  Pool(const Pool&) = delete;

  // False when stopped, or when all threads are busy and the queue is full.
  [[nodiscard]] bool submit(std::function<void()> job);
  // Runs what is queued, then joins all threads. Safe to call twice.
  void stop();
  std::size_t threads();

 private:
  using Threads = std::list<std::thread>;
  void work(Threads::iterator self);
  void join_ended(std::unique_lock<std::mutex>& lock);

  const std::string name_;
  const std::size_t most_;
  const std::size_t max_queued_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> jobs_;
  std::size_t idle_ = 0;
  bool stopping_ = false;
  Threads threads_;
  Threads ended_;
};

// Names the calling thread, as `top -H` and gdb show it.
void name_thread(const std::string& name);

}  // namespace holdpoint
