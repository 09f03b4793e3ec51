#pragma once

#include <chrono>
#include <cstdint>
#include <set>
#include <string>

#include "flow/feed.h"
#include "wire/json_writer.h"

namespace holdpoint {

void write_event(JsonWriter& out, const event_store::StoredEvent& event);

// A stream of server-sent events as text. Lines with an id alone tell the client where the stream
// stands, so that one that breaks off goes on there although nothing it wanted was among the
// events.
class EventLines {
 public:
  using Types = std::set<std::string, std::less<>>;
  using Instant = std::chrono::steady_clock::time_point;

  // Begins after the event `seq`. An empty `types` wants all.
  EventLines(std::int64_t seq, Types types, Instant now)
      : seq_(seq), types_(std::move(types)), written_at_(now) {}

  // The last event that is dealt with.
  std::int64_t seq() const { return seq_; }

  std::string greeting() const;
  // What to write next; empty: nothing for now. Something comes every `kHeartbeat`, however many
  // events go by that nobody wants here.
  std::string of(const Feed::Follower::Next& next, Instant now);
  static constexpr Duration kHeartbeat = std::chrono::seconds{15};

 private:
  bool wanted(const event_store::StoredEvent& event) const;

  std::int64_t seq_;
  Types types_;
  Instant written_at_;
};

}  // namespace holdpoint
