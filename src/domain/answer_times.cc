#include "domain/answer_times.h"

#include <algorithm>

namespace holdpoint {
namespace {

std::optional<Duration> nearest_rank(const std::vector<Duration>& sorted, std::size_t percent) {
  if (sorted.empty()) return std::nullopt;
  const std::size_t rank = (sorted.size() * percent + 99) / 100;
  return sorted[rank - 1];
}

}  // namespace

AnswerTimes sum_up(std::vector<Duration> times) {
  std::sort(times.begin(), times.end());
  AnswerTimes sum;
  sum.median = nearest_rank(times, 50);
  sum.p95 = nearest_rank(times, 95);
  for (const auto time : times) {
    const auto bound = std::upper_bound(kAnswerTimeBounds.begin(), kAnswerTimeBounds.end(), time);
    ++sum.counts[static_cast<std::size_t>(bound - kAnswerTimeBounds.begin())];
  }
  return sum;
}

}  // namespace holdpoint
