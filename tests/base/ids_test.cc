#include "base/ids.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdio>
#include <set>
#include <thread>
#include <unordered_set>
#include <vector>

#include "base/clock.h"

namespace holdpoint {
namespace {

using namespace std::chrono_literals;

// Ids never go back in time within a process, so each test takes an hour that no earlier one had.
Time later_than_ever() {
  static Time last = SystemClock{}.now();
  return last += 1h;
}

TEST_CASE("an id has the form and the marks of a UUIDv7") {
  for (int i = 0; i < 1000; ++i) {
    const std::string id = new_uuid(later_than_ever());
    REQUIRE(is_uuid(id));
    REQUIRE(id[14] == '7');
    REQUIRE(std::string_view("89ab").find(id[19]) != std::string_view::npos);
  }
}

TEST_CASE("an id begins with its time") {
  const Time now = later_than_ever();
  char expected[16];
  std::snprintf(expected, sizeof expected, "%012llx",
                static_cast<unsigned long long>(now.time_since_epoch().count()));
  std::string id = new_uuid(now);
  id.erase(8, 1);
  CHECK(id.substr(0, 12) == expected);
}

TEST_CASE("100,000 ids of one millisecond sort in the order they were made") {
  const Time now = later_than_ever();
  std::vector<std::string> ids;
  for (int i = 0; i < 100'000; ++i) ids.push_back(new_uuid(now));
  const auto out_of_order = std::adjacent_find(ids.begin(), ids.end(), std::greater_equal<>());
  CHECK(out_of_order == ids.end());
}

TEST_CASE("ids keep their order when the clock is set back") {
  const Time now = later_than_ever();
  const std::string before = new_uuid(now);
  CHECK(new_uuid(now - 1min) > before);
  CHECK(new_uuid(now) > before);
  CHECK(new_uuid(now + 1ms) > before);
}

TEST_CASE("ids made by several threads are unique, and each thread's own are in order") {
  const Time now = later_than_ever();
  constexpr std::size_t kThreads = 4, kEach = 25'000;
  std::vector<std::vector<std::string>> made(kThreads);
  std::vector<std::thread> threads;
  for (auto& own : made) {
    threads.emplace_back([&own, now] {
      for (std::size_t i = 0; i < kEach; ++i) own.push_back(new_uuid(now));
    });
  }
  for (auto& thread : threads) thread.join();
  std::unordered_set<std::string> all;
  for (const auto& own : made) {
    CHECK(std::adjacent_find(own.begin(), own.end(), std::greater_equal<>()) == own.end());
    all.insert(own.begin(), own.end());
  }
  CHECK(all.size() == kThreads * kEach);
}

TEST_CASE("two ids of one millisecond differ in more than a counter") {
  // The last 48 bits are random: who knows one id cannot count up to the next.
  std::set<std::string> tails;
  for (int i = 0; i < 1000; ++i) tails.insert(new_uuid(SystemClock{}.now()).substr(24));
  CHECK(tails.size() == 1000);
}

TEST_CASE("only 36 characters of the lower-case form are a UUID") {
  CHECK(is_uuid("0190a0b0-c0d0-7e0f-8123-456789abcdef"));
  for (const std::string text :
       {"", "0190a0b0-c0d0-7e0f-8123-456789abcde", "0190a0b0-c0d0-7e0f-8123-456789abcdef0",
        "0190A0B0-c0d0-7e0f-8123-456789abcdef", "0190a0b0xc0d0-7e0f-8123-456789abcdef",
        "0190a0b0-c0d0-7e0f-8123-456789abcdeg", "0190a0b0c0d0-7e0f-8123-456789abcdef-",
        "{190a0b0-c0d0-7e0f-8123-456789abcde}", "0190a0b0-c0d0-7e0f-8123-456789abcde'"}) {
    CAPTURE(text);
    CHECK_FALSE(is_uuid(text));
  }
}

TEST_CASE("jitter is spread over the whole of [0, 1)") {
  int low = 0, high = 0;
  for (int i = 0; i < 2000; ++i) {
    const double jitter = random_fraction();
    REQUIRE(jitter >= 0.0);
    REQUIRE(jitter < 1.0);
    low += jitter < 0.1;
    high += jitter >= 0.9;
  }
  CHECK(low > 50);
  CHECK(high > 50);
}

}  // namespace
}  // namespace holdpoint
