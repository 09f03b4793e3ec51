#pragma once

#include <optional>
#include <string>
#include <unordered_map>

#include "base/guarded.h"
#include "base/time.h"

namespace holdpoint {

// How often something may happen to each of many names: a bucket a name, which time refills. Safe
// to share between threads. Names are forgotten once their bucket is full again.
class Throttle {
 public:
  // `burst` at once, refilled evenly over `per`.
  Throttle(std::size_t burst, Duration per) : burst_(burst), per_(per) {}

  // Takes one, or says how long it would have to wait.
  std::optional<Duration> take(const std::string& name, Time now);
  // Undoes a take.
  void give_back(const std::string& name);

 private:
  struct Bucket {
    double level = 0;  // What was taken and is not refilled yet.
    Time at;
  };
  using Buckets = std::unordered_map<std::string, Bucket>;
  double drained(const Bucket& bucket, Time now) const;
  void forget_idle(Buckets& buckets, Time now) const;

  const std::size_t burst_;
  const Duration per_;
  Guarded<Buckets> buckets_;
};

}  // namespace holdpoint
