#pragma once

#include "base/time.h"

namespace holdpoint {

// Only loops and routes read it; below them `Time now` is a parameter.
class Clock {
 public:
  virtual ~Clock() = default;
  virtual Time now() const = 0;
};

class SystemClock final : public Clock {
 public:
  Time now() const override {
    return std::chrono::floor<Duration>(std::chrono::system_clock::now());
  }
};

}  // namespace holdpoint
