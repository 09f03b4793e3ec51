#include "domain/retry.h"

#include <algorithm>
#include <array>

namespace holdpoint {

using namespace std::chrono_literals;

namespace {

Duration scaled(Duration wait, double factor) {
  return Duration{static_cast<std::int64_t>(static_cast<double>(wait.count()) * factor)};
}

}  // namespace

Duration turn_backoff(std::int64_t attempts, double jitter) {
  const auto doublings = std::clamp<std::int64_t>(attempts - 1, 0, 9);
  const Duration full = std::min<Duration>(1000ms * (1 << doublings), 5min);
  return scaled(full, 1.0 - jitter / 2);
}

std::optional<Duration> delivery_backoff(std::int64_t attempts, double jitter,
                                         std::optional<Duration> retry_after) {
  constexpr std::array<Duration, 9> waits{5s, 1min, 5min, 30min, 2h, 5h, 10h, 24h, 28h};
  const auto at = static_cast<std::size_t>(attempts - 1);
  if (attempts < 1 || at >= waits.size()) return std::nullopt;
  const Duration wait = scaled(waits[at], 0.8 + 0.4 * jitter);
  // A day at the most: a receiver may slow us down, not switch us off.
  return std::max(wait, std::min<Duration>(retry_after.value_or(0ms), 24h));
}

}  // namespace holdpoint
