#include "http/event_lines.h"

#include <doctest/doctest.h>

using namespace holdpoint;
using namespace std::chrono_literals;

namespace {

const EventLines::Instant kStart{};

Feed::Follower::Next batch(std::int64_t from, const std::vector<std::string>& types) {
  Feed::Follower::Next next;
  next.seq = from;
  for (const auto& type : types) {
    event_store::StoredEvent event{next.seq++, SessionId("s"), type, Time{}, "{}"};
    next.events.push_back(std::make_shared<const event_store::StoredEvent>(event));
  }
  if (!types.empty()) --next.seq;
  return next;
}

std::string line(int seq, const std::string& type) {
  return "id: " + std::to_string(seq) +
         "\nevent: state_change\ndata: {\"seq\":" + std::to_string(seq) +
         ",\"session_id\":\"s\",\"type\":\"" + type +
         "\",\"at\":\"1970-01-01T00:00:00.000Z\",\"data\":{}}\n\n";
}

}  // namespace

TEST_CASE("a stream tells where it begins, and of all that happens unless it is asked for some") {
  EventLines lines(7, {}, kStart);
  CHECK(lines.greeting() == ": following\nid: 7\n\n");
  CHECK(lines.of(batch(8, {"a", "b"}), kStart) == line(8, "a") + line(9, "b"));
  CHECK(lines.seq() == 9);
}

TEST_CASE("a stream of some types passes over the others, and goes on after them") {
  EventLines lines(7, {"b", "c"}, kStart);
  CHECK(lines.of(batch(8, {"a", "b", "a"}), kStart) == line(9, "b"));
  CHECK(lines.seq() == 10);
  CHECK(lines.of(batch(11, {"a"}), kStart).empty());
  CHECK(lines.seq() == 11);
}

TEST_CASE("a stream without news gives a sign of life and its place") {
  EventLines lines(7, {}, kStart);
  CHECK(lines.of(batch(7, {}), kStart + 15s) == ": still here\nid: 7\n\n");
}

TEST_CASE("a stream that others' events go by gives its sign of life as often as a quiet one") {
  EventLines lines(0, {"b"}, kStart);
  CHECK(lines.of(batch(1, {"a"}), kStart + 10s).empty());
  CHECK(lines.of(batch(2, {"a"}), kStart + 15s) == ": still here\nid: 2\n\n");
  CHECK(lines.of(batch(3, {"a"}), kStart + 29s).empty());
  CHECK(lines.of(batch(4, {"b"}), kStart + 30s) == line(4, "b"));
  CHECK(lines.of(batch(5, {"a"}), kStart + 44s).empty());
  CHECK(lines.of(batch(6, {"a"}), kStart + 45s) == ": still here\nid: 6\n\n");
}
