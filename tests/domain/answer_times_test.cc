#include "domain/answer_times.h"

#include <doctest/doctest.h>

#include <numeric>

namespace holdpoint {
namespace {

using namespace std::chrono_literals;

using Counts = decltype(AnswerTimes::counts);

// 1 s, 2 s … `most` s, not in this order.
std::vector<Duration> seconds_up_to(int most) {
  std::vector<Duration> times;
  for (int i = most; i > 0; --i) times.push_back(std::chrono::seconds{i});
  std::swap(times.front(), times[times.size() / 2]);
  return times;
}

TEST_CASE("no answers have no median, and count nowhere") {
  const auto none = sum_up({});
  CHECK(none.median == std::nullopt);
  CHECK(none.p95 == std::nullopt);
  CHECK(none.counts == Counts{});
}

TEST_CASE("median and p95 are times that somebody really took") {
  const auto of = [](int most) {
    const auto sum = sum_up(seconds_up_to(most));
    return std::pair(sum.median.value(), sum.p95.value());
  };
  CHECK(of(1) == std::pair<Duration, Duration>(1s, 1s));
  CHECK(of(2) == std::pair<Duration, Duration>(1s, 2s));
  CHECK(of(3) == std::pair<Duration, Duration>(2s, 3s));
  CHECK(of(19) == std::pair<Duration, Duration>(10s, 19s));
  CHECK(of(20) == std::pair<Duration, Duration>(10s, 19s));
  CHECK(of(21) == std::pair<Duration, Duration>(11s, 20s));
  CHECK(of(100) == std::pair<Duration, Duration>(50s, 95s));
  CHECK(of(10'000) == std::pair<Duration, Duration>(5'000s, 9'500s));
}

TEST_CASE("one that took days moves neither") {
  auto times = seconds_up_to(99);
  times.push_back(72h);
  const auto sum = sum_up(times);
  CHECK(sum.median == 50s);
  CHECK(sum.p95 == 95s);
}

TEST_CASE("a time counts below the first bound that is above it") {
  const auto one = [](Duration time) { return sum_up({time}).counts; };
  CHECK(one(0ms) == Counts{1, 0, 0, 0, 0, 0, 0});
  CHECK(one(9'999ms) == Counts{1, 0, 0, 0, 0, 0, 0});
  CHECK(one(10s) == Counts{0, 1, 0, 0, 0, 0, 0});
  CHECK(one(59'999ms) == Counts{0, 1, 0, 0, 0, 0, 0});
  CHECK(one(299s) == Counts{0, 0, 1, 0, 0, 0, 0});
  CHECK(one(15min) == Counts{0, 0, 0, 0, 1, 0, 0});
  CHECK(one(14'399s) == Counts{0, 0, 0, 0, 0, 1, 0});
  CHECK(one(4h) == Counts{0, 0, 0, 0, 0, 0, 1});
  // Clocks that were set back between the two.
  CHECK(one(-5s) == Counts{1, 0, 0, 0, 0, 0, 0});
}

TEST_CASE("every answer is counted once") {
  const auto counts = sum_up(seconds_up_to(20'000)).counts;
  CHECK(counts == Counts{9, 50, 240, 600, 2'700, 10'800, 5'601});
  CHECK(std::accumulate(counts.begin(), counts.end(), std::int64_t{0}) == 20'000);
}

}  // namespace
}  // namespace holdpoint
