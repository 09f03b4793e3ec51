#include "http/event_lines.h"

namespace holdpoint {

void write_event(JsonWriter& out, const event_store::StoredEvent& event) {
  out.begin_object().member("seq", event.seq).member("session_id", event.session_id);
  out.member("type", event.type).member("at", event.at).raw_member("data", event.data);
  out.end_object();
}

std::string EventLines::greeting() const {
  return ": following\nid: " + std::to_string(seq_) + "\n\n";
}

bool EventLines::wanted(const event_store::StoredEvent& event) const {
  return types_.empty() || types_.count(event.type) > 0;
}

std::string EventLines::of(const Feed::Follower::Next& next, Instant now) {
  std::string text;
  for (const auto& event : next.events) {
    if (!wanted(*event)) continue;
    JsonWriter out;
    write_event(out, *event);
    text +=
        "id: " + std::to_string(event->seq) + "\nevent: state_change\ndata: " + out.take() + "\n\n";
  }
  const bool quiet = next.seq == seq_;
  seq_ = next.seq;
  if (text.empty() && (quiet || now - written_at_ >= kHeartbeat)) {
    text = ": still here\nid: " + std::to_string(seq_) + "\n\n";
  }
  if (!text.empty()) written_at_ = now;
  return text;
}

}  // namespace holdpoint
