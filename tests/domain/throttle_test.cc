#include "domain/throttle.h"

#include <doctest/doctest.h>

namespace holdpoint {
namespace {

using namespace std::chrono_literals;

constexpr Time kStart{1'000'000'000s};

// Takes until it has to wait; returns how many it got.
int take_all(Throttle& throttle, const std::string& name, Time now) {
  int taken = 0;
  while (taken < 100'000 && !throttle.take(name, now)) ++taken;
  return taken;
}

TEST_CASE("a burst goes through at once, and not one more") {
  Throttle throttle(20, 60s);
  CHECK(take_all(throttle, "a", kStart) == 20);
  CHECK(throttle.take("a", kStart) == 3s);
  CHECK(throttle.take("b", kStart) == std::nullopt);
}

TEST_CASE("time refills one by one, up to the burst") {
  Throttle throttle(20, 60s);
  take_all(throttle, "a", kStart);
  CHECK(take_all(throttle, "a", kStart + 2999ms) == 0);
  CHECK(take_all(throttle, "a", kStart + 3s) == 1);
  CHECK(take_all(throttle, "a", kStart + 9s) == 2);
  CHECK(take_all(throttle, "a", kStart + 9s + 60s) == 20);
  CHECK(take_all(throttle, "a", kStart + 240h) == 20);
}

TEST_CASE("the wait it names is just enough") {
  for (const std::size_t burst : {1U, 2U, 3U, 7U, 20U, 49U, 333U, 1000U}) {
    for (const Duration per : {Duration{1000}, Duration{777}, Duration{60'000}}) {
      CAPTURE(burst);
      CAPTURE(per.count());
      Throttle throttle(burst, per);
      Time now = kStart;
      for (std::size_t i = 0; i < burst; ++i) REQUIRE_FALSE(throttle.take("a", now));
      // Above one a millisecond, rounding alone lets more than one through.
      for (int i = 0; i < 50 && static_cast<Duration::rep>(burst) <= per.count(); ++i) {
        const auto wait = throttle.take("a", now);
        REQUIRE(wait);
        REQUIRE(*wait > 0ms);
        REQUIRE((*wait <= 2ms || throttle.take("a", now + *wait - 2ms)));  // One is rounding.
        now += *wait;
        REQUIRE_FALSE(throttle.take("a", now));
      }
    }
  }
}

TEST_CASE("a steady rate below the limit never waits") {
  Throttle throttle(10, 1s);
  for (int i = 0; i < 10'000; ++i) REQUIRE_FALSE(throttle.take("a", kStart + i * 100ms));
}

TEST_CASE("what is refused is not taken: to ask too often does not make the wait longer") {
  Throttle throttle(2, 10s);
  take_all(throttle, "a", kStart);
  for (int i = 0; i < 100; ++i) CHECK(throttle.take("a", kStart + 1s) == 4s);
  CHECK_FALSE(throttle.take("a", kStart + 5s));
}

TEST_CASE("what is given back may be taken again, and no more than that") {
  Throttle throttle(2, 10s);
  take_all(throttle, "a", kStart);
  throttle.give_back("a");
  CHECK(take_all(throttle, "a", kStart) == 1);
  for (int i = 0; i < 10; ++i) throttle.give_back("a");
  throttle.give_back("nobody");
  CHECK(take_all(throttle, "a", kStart) == 2);
  CHECK(take_all(throttle, "nobody", kStart) == 2);
}

TEST_CASE("names that are idle are forgotten first, busy ones are still counted") {
  Throttle throttle(2, 60s);
  for (int i = 0; i < 9'999; ++i) throttle.take("idle " + std::to_string(i), kStart);
  const Time later = kStart + 31s;  // By then all of them are full again.
  take_all(throttle, "busy", later);
  CHECK_FALSE(throttle.take("one more", later));
  CHECK(throttle.take("busy", later) == 30s);
}

TEST_CASE("names are bounded: past ten thousand busy ones it forgets rather than grows") {
  Throttle throttle(1, 60s);
  for (int i = 0; i < 10'000; ++i) {
    REQUIRE_FALSE(throttle.take("busy " + std::to_string(i), kStart));
  }
  CHECK(throttle.take("busy 0", kStart));
  CHECK_FALSE(throttle.take("one more", kStart));
  CHECK_FALSE(throttle.take("busy 0", kStart));
  CHECK(throttle.take("one more", kStart));
}

TEST_CASE("a clock that goes backwards gives nothing away") {
  Throttle throttle(3, 60s);
  take_all(throttle, "a", kStart);
  CHECK(take_all(throttle, "a", kStart - 1h) == 0);
  CHECK(take_all(throttle, "a", kStart - 1h + 1s) == 0);
}

TEST_CASE("a clock that goes backwards keeps nobody waiting longer than was said") {
  Throttle throttle(3, 60s);
  take_all(throttle, "a", kStart);
  const Time earlier = kStart - 1h;
  const auto wait = throttle.take("a", earlier);
  REQUIRE(wait);
  CHECK(*wait <= 20s);
  CHECK_FALSE(throttle.take("a", earlier + *wait));
}

}  // namespace
}  // namespace holdpoint
