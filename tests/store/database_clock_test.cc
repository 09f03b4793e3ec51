#include "store/database_clock.h"

#include <doctest/doctest.h>

using namespace holdpoint;
using namespace std::chrono_literals;
using Steady = DatabaseClock::Steady;

namespace {

const Time kThen = parse_iso("2031-01-01T00:00:00.000Z").value();

// How far it is from a time, at the most; reading it takes a moment.
bool shows(const DatabaseClock& clock, Time time) {
  const auto off = clock.now() - time;
  return off >= -1ms && off < 10s;
}

}  // namespace

TEST_CASE("before the database said anything its clock is this machine's") {
  CHECK(shows(DatabaseClock(), SystemClock().now() - 1ms));
}

TEST_CASE("the database's clock follows what the database says, forward and back") {
  DatabaseClock clock;
  for (const Time time : {kThen, kThen + 8760h, kThen - 8760h, kThen + 1ms}) {
    const auto at = Steady::now();
    clock.note(time, at, at);
    CHECK(shows(clock, time));
  }
}

TEST_CASE("an answer tells the time of the middle between question and answer") {
  DatabaseClock clock;
  const auto at = Steady::now();
  clock.note(kThen, at - 200ms, at);
  CHECK(shows(clock, kThen + 100ms));
  CHECK(clock.now() < kThen + 10s);
}

TEST_CASE("the database's clock goes on by itself between two answers") {
  DatabaseClock clock;
  const auto at = Steady::now();
  clock.note(kThen, at - 3600s, at - 3600s);
  CHECK(shows(clock, kThen + 3600s));
}

TEST_CASE("an answer that took long tells nothing") {
  DatabaseClock clock;
  const auto at = Steady::now();
  clock.note(kThen, at - 10ms, at);
  clock.note(kThen + 8760h, at - 251ms, at);
  CHECK(shows(clock, kThen));
  clock.note(kThen + 8760h, at - 250ms, at);
  CHECK(shows(clock, kThen + 8760h));
}
