#include "base/time.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

namespace holdpoint {
namespace {

using namespace std::chrono_literals;

TEST_CASE("a time is printed in UTC with milliseconds") {
  CHECK(to_iso(Time{0ms}) == "1970-01-01T00:00:00.000Z");
  CHECK(to_iso(Time{1ms}) == "1970-01-01T00:00:00.001Z");
  CHECK(to_iso(Time{-1ms}) == "1969-12-31T23:59:59.999Z");
  CHECK(to_iso(Time{1704110400000ms}) == "2024-01-01T12:00:00.000Z");
  CHECK(to_iso(Time{1709251199999ms}) == "2024-02-29T23:59:59.999Z");
}

TEST_CASE("a printed time reads back as the same time") {
  // Odd steps over several centuries, so that every field takes many values.
  int count = 0;
  for (Time t = *parse_iso("1900-01-01T00:00:00.000Z"); t < *parse_iso("2200-01-01T00:00:00.000Z");
       t += 12345h + 89s + 7ms) {
    REQUIRE(parse_iso(to_iso(t)) == t);
    ++count;
  }
  CHECK(count > 100);
  for (const std::string text :
       {"0001-01-01T00:00:00.000Z", "2000-02-29T23:59:59.999Z", "9999-12-31T23:59:59.999Z"}) {
    CAPTURE(text);
    CHECK(to_iso(*parse_iso(text)) == text);
  }
}

TEST_CASE("a text of another form is no time") {
  for (const std::string text : {"",
                                 "2024",
                                 "2024-01-01",
                                 "2024-01-01T12:00:00Z",
                                 "2024-01-01T12:00:00.00Z",
                                 "2024-01-01T12:00:00.0000Z",
                                 "2024-01-01 12:00:00.000Z",
                                 "2024-01-01t12:00:00.000Z",
                                 "2024-01-01T12:00:00.000z",
                                 "2024-01-01T12:00:00.000+",
                                 "2024-01-01T12:00:00,000Z",
                                 "2024/01/01T12:00:00.000Z",
                                 "2024-01-01T12-00:00.000Z",
                                 "2024-01-01T12:00-00.000Z",
                                 " 024-01-01T12:00:00.000Z",
                                 "-024-01-01T12:00:00.000Z",
                                 "2024-1 -01T12:00:00.000Z",
                                 "2024-01-01T+2:00:00.000Z",
                                 "2024-01-01T12:00:00.0x0Z",
                                 "2024-01-01T12:00:00.000Z "}) {
    CAPTURE(text);
    CHECK_FALSE(parse_iso(text));
  }
}

TEST_CASE("a day or an hour that no calendar has is no time") {
  for (const std::string text :
       {"2024-00-01T12:00:00.000Z", "2024-13-01T12:00:00.000Z", "2024-01-00T12:00:00.000Z",
        "2024-01-32T12:00:00.000Z", "2023-02-29T12:00:00.000Z", "2100-02-29T12:00:00.000Z",
        "2024-04-31T12:00:00.000Z", "2024-01-01T24:00:00.000Z", "2024-01-01T12:60:00.000Z",
        "2024-01-01T12:00:60.000Z"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_iso(text));
  }
}

TEST_CASE("printed times sort as the times do") {
  const Time start = *parse_iso("2023-12-31T23:59:59.990Z");
  std::vector<std::string> texts;
  for (const Duration after : {0ms, 1ms, 9ms, 10ms, 100ms, 1000ms, 9999ms, 60000ms, 3600000ms,
                               86400000ms, 2764800000ms, 31622400000ms}) {
    texts.push_back(to_iso(start + after));
  }
  CHECK(std::is_sorted(texts.begin(), texts.end()));
  CHECK(std::adjacent_find(texts.begin(), texts.end()) == texts.end());
}

}  // namespace
}  // namespace holdpoint
