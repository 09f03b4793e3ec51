#pragma once

#include <atomic>
#include <chrono>

#include "base/clock.h"

namespace holdpoint {

// The database's time, read now and then and carried on by this machine's steady clock: nodes whose
// own clocks are wrong still agree. Safe to share between threads.
class DatabaseClock final : public Clock {
 public:
  using Steady = std::chrono::steady_clock;

  DatabaseClock() { set(SystemClock().now(), Steady::now()); }

  Time now() const override { return Time{Duration{offset_ + millis(Steady::now())}}; }

  // The database said `time` between the two moments. A slow answer tells too little.
  void note(Time time, Steady::time_point before, Steady::time_point after) {
    if (after - before > std::chrono::milliseconds{250}) return;
    set(time, before + (after - before) / 2);
  }

 private:
  static std::int64_t millis(Steady::time_point at) {
    return std::chrono::duration_cast<Duration>(at.time_since_epoch()).count();
  }
  void set(Time time, Steady::time_point at) {
    offset_ = time.time_since_epoch().count() - millis(at);
  }

  std::atomic<std::int64_t> offset_{0};
};

}  // namespace holdpoint
