#include "base/loop.h"

#include <doctest/doctest.h>

#include <future>
#include <stdexcept>
#include <vector>

#include "base/guarded.h"
#include "tests/base/tally.h"

namespace holdpoint {
namespace {

using namespace std::chrono_literals;
using test::Tally;

// A loop's runs as they happen: when each was, and what it should return.
class Runs {
 public:
  std::optional<Time> add(Time now, std::optional<Time> next) {
    times_.with([&](auto& times) { times.push_back(now); });
    happened.add();
    return next;
  }
  Duration between(std::size_t first, std::size_t second) {
    return times_.with([&](auto& times) { return times.at(second) - times.at(first); });
  }
  Tally happened;

 private:
  Guarded<std::vector<Time>> times_;
};

TEST_CASE("a loop runs when it starts, to find what an earlier process left") {
  const SystemClock clock;
  Runs runs;
  Loop loop("test", clock, [&](Time now) { return runs.add(now, std::nullopt); });
  loop.start();
  CHECK(runs.happened.reaches(1));
}

TEST_CASE("a wake runs a loop that has nothing to do before tomorrow") {
  const SystemClock clock;
  Runs runs;
  Loop loop("test", clock, [&](Time now) { return runs.add(now, now + 24h); });
  loop.start();
  REQUIRE(runs.happened.reaches(1));
  loop.wake();
  CHECK(runs.happened.reaches(2));
  loop.wake();
  CHECK(runs.happened.reaches(3));
}

TEST_CASE("several wakes during a run make one run") {
  const SystemClock clock;
  Runs runs;
  Tally gate;
  Loop loop("test", clock, [&](Time now) {
    runs.add(now, std::nullopt);
    gate.reaches(1);
    return now + 50ms;
  });
  loop.start();
  REQUIRE(runs.happened.reaches(1));
  for (int i = 0; i < 5; ++i) loop.wake();
  gate.add();
  REQUIRE(runs.happened.reaches(3));
  loop.stop();
  // A second run for the wakes would have come at once; this one waited for its time.
  CHECK(runs.between(1, 2) >= 50ms);
}

TEST_CASE("a loop runs again when the time it named has come, and not before") {
  const SystemClock clock;
  Runs runs;
  Loop loop("test", clock, [&](Time now) { return runs.add(now, now + 40ms); });
  loop.start();
  REQUIRE(runs.happened.reaches(4));
  loop.stop();
  for (std::size_t i = 0; i < 3; ++i) CHECK(runs.between(i, i + 1) >= 40ms);
}

TEST_CASE("a loop whose time has already come runs at once") {
  const SystemClock clock;
  Runs runs;
  Loop loop("test", clock, [&](Time now) { return runs.add(now, now - 1h); });
  loop.start();
  CHECK(runs.happened.reaches(100));
}

TEST_CASE("a run that throws is tried again a second later, without a wake") {
  const SystemClock clock;
  Runs runs;
  Loop loop("test", clock, [&](Time now) -> std::optional<Time> {
    runs.add(now, std::nullopt);
    if (runs.happened.count() == 1) throw std::runtime_error("the disk is full");
    return std::nullopt;
  });
  loop.start();
  REQUIRE(runs.happened.reaches(2));
  CHECK(runs.between(0, 1) >= 1s);
}

TEST_CASE("a wake does not wait for the second after a throw") {
  const SystemClock clock;
  Runs runs;
  Loop loop("test", clock, [&](Time now) -> std::optional<Time> {
    runs.add(now, std::nullopt);
    throw std::runtime_error("again");
  });
  loop.start();
  for (int i = 1; i <= 50; ++i) {
    REQUIRE(runs.happened.reaches(i));
    loop.wake();
  }
  CHECK(runs.between(0, 49) < 20s);
}

TEST_CASE("stop waits for the run in progress") {
  const SystemClock clock;
  Tally started, gate;
  std::atomic<bool> ended = false;
  Loop loop("test", clock, [&](Time) {
    started.add();
    gate.reaches(1);
    ended = true;
    return std::nullopt;
  });
  loop.start();
  REQUIRE(started.reaches(1));
  auto stopped = std::async(std::launch::async, [&] {
    loop.stop();
    return ended.load();
  });
  CHECK(stopped.wait_for(50ms) == std::future_status::timeout);
  gate.add();
  REQUIRE(stopped.wait_for(20s) == std::future_status::ready);
  CHECK(stopped.get());
}

TEST_CASE("stop ends a loop that would run for ever") {
  const SystemClock clock;
  Runs runs;
  Loop loop("test", clock, [&](Time now) { return runs.add(now, now); });
  loop.start();
  REQUIRE(runs.happened.reaches(10));
  loop.stop();
  const int count = runs.happened.count();
  loop.wake();
  CHECK(runs.happened.count() == count);
}

TEST_CASE("a loop may be stopped twice, and without having started") {
  const SystemClock clock;
  int runs = 0;
  Loop loop("test", clock, [&](Time) {
    ++runs;
    return std::nullopt;
  });
  loop.wake();
  loop.stop();
  loop.stop();
  CHECK(runs == 0);
}

}  // namespace
}  // namespace holdpoint
