#include "domain/throttle.h"

#include <algorithm>
#include <cmath>

namespace holdpoint {
namespace {

constexpr std::size_t kManyNames = 10'000;

}  // namespace

std::optional<Duration> Throttle::take(const std::string& name, Time now) {
  return buckets_.with([&](Buckets& buckets) -> std::optional<Duration> {
    const auto it = buckets.find(name);
    // A clock that was set back must not hold a bucket full for as long as the jump.
    if (it != buckets.end() && now < it->second.at) it->second.at = now;
    const double level = it == buckets.end() ? 0 : drained(it->second, now);
    const auto burst = static_cast<double>(burst_);
    if (level + 1 > burst) {
      const double wait = (level + 1 - burst) / burst * static_cast<double>(per_.count());
      return Duration{static_cast<std::int64_t>(std::ceil(wait))};
    }
    if (it == buckets.end() && buckets.size() >= kManyNames) forget_idle(buckets, now);
    buckets[name] = {level + 1, now};
    return std::nullopt;
  });
}

void Throttle::give_back(const std::string& name) {
  buckets_.with([&](Buckets& buckets) {
    const auto it = buckets.find(name);
    if (it != buckets.end()) it->second.level = std::max(0.0, it->second.level - 1);
  });
}

double Throttle::drained(const Bucket& bucket, Time now) const {
  const auto passed = static_cast<double>(std::max((now - bucket.at).count(), Duration::rep{0}));
  return std::max(
      0.0, bucket.level - passed * static_cast<double>(burst_) / static_cast<double>(per_.count()));
}

// Past the bound even busy names are forgotten: memory is worth more than a neighbour's count.
void Throttle::forget_idle(Buckets& buckets, Time now) const {
  std::erase_if(buckets, [&](const auto& entry) { return drained(entry.second, now) <= 0; });
  if (buckets.size() >= kManyNames) buckets.clear();
}

}  // namespace holdpoint
