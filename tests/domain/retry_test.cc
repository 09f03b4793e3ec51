#include "domain/retry.h"

#include <doctest/doctest.h>

#include <vector>

namespace holdpoint {
namespace {

using namespace std::chrono_literals;

const std::vector<double> kJitters{0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 0.999999};

TEST_CASE("a turn waits 1 s after its first failure, doubling up to 5 minutes") {
  const std::vector<Duration> waits{1s, 2s, 4s, 8s, 16s, 32s, 64s, 128s, 256s, 5min, 5min};
  for (std::size_t i = 0; i < waits.size(); ++i) {
    CHECK(turn_backoff(static_cast<std::int64_t>(i) + 1, 0.0) == waits[i]);
  }
  CHECK(turn_backoff(1000, 0.0) == 5min);
  CHECK(turn_backoff(std::int64_t{1} << 40, 0.0) == 5min);
  CHECK(turn_backoff(0, 0.0) == 1s);
}

TEST_CASE("jitter takes up to half of a turn's wait away") {
  for (std::int64_t attempts = 1; attempts <= 20; ++attempts) {
    const Duration full = turn_backoff(attempts, 0.0);
    Duration last = full;
    for (const double jitter : kJitters) {
      const Duration wait = turn_backoff(attempts, jitter);
      CHECK(wait <= last);
      CHECK(wait >= full / 2);
      last = wait;
    }
    CHECK(last < full * 51 / 100);
  }
}

TEST_CASE("a delivery is tried ten times") {
  for (std::int64_t attempts = 1; attempts <= 9; ++attempts) {
    CHECK(delivery_backoff(attempts, 0.5, std::nullopt));
  }
  CHECK_FALSE(delivery_backoff(10, 0.5, std::nullopt));
  CHECK_FALSE(delivery_backoff(11, 0.5, std::nullopt));
  CHECK_FALSE(delivery_backoff(10, 0.5, 1h));
  CHECK_FALSE(delivery_backoff(0, 0.5, std::nullopt));
}

TEST_CASE("a delivery's ten attempts take about three days") {
  const auto whole = [](double jitter) {
    Duration sum{0};
    for (std::int64_t attempts = 1; attempts <= 9; ++attempts) {
      sum += delivery_backoff(attempts, jitter, std::nullopt).value();
    }
    return sum;
  };
  CHECK(whole(0.5) > 66h);
  CHECK(whole(0.5) < 78h);
  CHECK(whole(0.0) > 52h);
  CHECK(whole(0.999999) < 94h);
}

TEST_CASE("a delivery's waits grow, and jitter spreads each by 20 % either way") {
  Duration last{0};
  for (std::int64_t attempts = 1; attempts <= 9; ++attempts) {
    const Duration middle = delivery_backoff(attempts, 0.5, std::nullopt).value();
    CHECK(middle > last);
    last = middle;
    for (const double jitter : kJitters) {
      const Duration wait = delivery_backoff(attempts, jitter, std::nullopt).value();
      CHECK(wait >= middle * 79 / 100);
      CHECK(wait <= middle * 121 / 100);
    }
    CHECK(delivery_backoff(attempts, 0.0, std::nullopt).value() < middle * 81 / 100);
    CHECK(delivery_backoff(attempts, 0.999999, std::nullopt).value() > middle * 119 / 100);
  }
}

TEST_CASE("Retry-After is obeyed when it asks for more, up to a day") {
  const Duration own = delivery_backoff(1, 0.5, std::nullopt).value();
  CHECK(delivery_backoff(1, 0.5, 0s) == own);
  CHECK(delivery_backoff(1, 0.5, own - 1ms) == own);
  CHECK(delivery_backoff(1, 0.5, 10min) == 10min);
  CHECK(delivery_backoff(1, 0.5, 24h) == 24h);
  CHECK(delivery_backoff(1, 0.5, 24h * 365) == 24h);
  const Duration ninth = delivery_backoff(9, 0.5, std::nullopt).value();
  REQUIRE(ninth > 24h);
  CHECK(delivery_backoff(9, 0.5, 24h * 365) == ninth);
}

}  // namespace
}  // namespace holdpoint
