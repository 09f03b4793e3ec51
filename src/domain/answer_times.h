#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/time.h"

namespace holdpoint {

inline constexpr std::array kAnswerTimeBounds{
    std::chrono::seconds{10},  std::chrono::seconds{60},   std::chrono::seconds{300},
    std::chrono::seconds{900}, std::chrono::seconds{3600}, std::chrono::seconds{14400}};

// How long people took to answer.
struct AnswerTimes {
  // By the nearest rank, so that each is a time that somebody really took; none of no answers.
  std::optional<Duration> median;
  std::optional<Duration> p95;
  // Those below each bound, and not below the one before it; the last: all that took longer.
  std::array<std::int64_t, kAnswerTimeBounds.size() + 1> counts{};
};

AnswerTimes sum_up(std::vector<Duration> times);

}  // namespace holdpoint
