#include "flow/journal.h"

#include "store/event_store.h"

namespace holdpoint {

void Story::add(Transaction& tx, Event event, Time now) {
  event_store::append(tx, event.session, event.type, now, "{" + to_json_members(event.facts) + "}");
  events.push_back(std::move(event));
}

void Journal::announce(const Story& story) {
  if (story.turn_due && on_turn_due) on_turn_due();
  if (story.delivery_due && on_delivery_due) on_delivery_due();
  if (story.deadline && on_deadline) on_deadline(*story.deadline);
  for (const auto& event : story.events) {
    if (event.moves) touch(event.session);
  }
  if (on_announced) on_announced(story);
  if (!story.events.empty() && on_events) on_events();
  for (const auto& event : story.events) {
    if (!event.logged) continue;
    Facts facts{{"session", event.session.text()}};
    facts.insert(facts.end(), event.facts.begin(), event.facts.end());
    log(event.level, event.type, facts);
  }
}

void Journal::touch(const SessionId& session) {
  std::lock_guard lock(mutex_);
  if (watches_.empty()) return;
  const auto [begin, end] = watches_.equal_range(session);
  for (auto it = begin; it != end; ++it) {
    it->second->touched_ = true;
    it->second->changed_.notify_one();
  }
}

void Journal::touch_all() {
  std::lock_guard lock(mutex_);
  for (auto& [session, watch] : watches_) {
    watch->touched_ = true;
    watch->changed_.notify_one();
  }
}

bool Journal::is_closed() {
  std::lock_guard lock(mutex_);
  return closed_;
}

void Journal::close() {
  std::lock_guard lock(mutex_);
  closed_ = true;
  for (auto& [session, watch] : watches_) watch->changed_.notify_one();
}

Journal::Watch::Watch(Journal& journal, SessionId session)
    : journal_(journal), session_(std::move(session)) {
  std::lock_guard lock(journal_.mutex_);
  journal_.watches_.emplace(session_, this);
}

Journal::Watch::~Watch() {
  std::lock_guard lock(journal_.mutex_);
  const auto [begin, end] = journal_.watches_.equal_range(session_);
  for (auto it = begin; it != end; ++it) {
    if (it->second != this) continue;
    journal_.watches_.erase(it);
    return;
  }
}

bool Journal::Watch::wait_until(std::chrono::steady_clock::time_point deadline) {
  std::unique_lock lock(journal_.mutex_);
  changed_.wait_until(lock, deadline, [this] { return touched_ || journal_.closed_; });
  if (journal_.closed_) return false;
  return std::exchange(touched_, false);
}

}  // namespace holdpoint
