#include "flow/roll_call.h"

namespace holdpoint {

using namespace std::chrono_literals;

namespace {

constexpr auto kBetweenBeats = 10s;
constexpr auto kLive = 30s;  // Two beats may get lost.
constexpr auto kForgotten = 1h;

}  // namespace

RollCall::RollCall(Database& db, node_store::Node self, const Clock& clock)
    : db_(db),
      self_(std::move(self)),
      shared_(db.bulletin() != nullptr),
      loop_("hp-roll-call", clock, [this](Time now) { return run_once(now); }) {}

void RollCall::stop() {
  loop_.stop();
  if (!listed_) return;
  listed_ = false;
  try {
    db_.write([&](Transaction& tx) { node_store::remove(tx, self_.id); });
  } catch (const StoreError&) {
    // Its row shows by its time that it is gone, and goes with the next that looks.
  }
}

std::optional<Time> RollCall::run_once(Time now) {
  node_store::Node seen = self_;
  seen.seen_at = now;
  listed_ = false;
  try {
    db_.write([&](Transaction& tx) {
      node_store::put(tx, seen);
      if (shared_) {
        node_store::remove_unseen(tx, now - kForgotten);
      } else {
        // The lock file lets one process in at a time, so theirs are gone.
        node_store::remove_all_but(tx, self_.id);
      }
    });
  } catch (const StoreError& e) {
    // Those who need the database say that it is away.
    if (!e.retryable()) throw;
    return now + kBetweenBeats;
  }
  listed_ = true;
  return shared_ ? std::optional<Time>(now + kBetweenBeats) : std::nullopt;
}

std::vector<RollCall::Present> RollCall::list(Time now) {
  std::vector<Present> all;
  bool found = false;
  for (auto& node : db_.read([](Transaction& tx) { return node_store::list(tx); })) {
    const bool self = node.id == self_.id;
    found = found || self;
    if (self) node.seen_at = now;  // Whoever asks can see it.
    const bool live = self || (shared_ && now - node.seen_at <= kLive);
    all.push_back({std::move(node), live, self});
  }
  if (!found) {
    all.push_back({self_, true, true});
    all.back().node.seen_at = now;
  }
  return all;
}

}  // namespace holdpoint
