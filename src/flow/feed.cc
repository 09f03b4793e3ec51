#include "flow/feed.h"

namespace holdpoint {
namespace {

constexpr std::size_t kRecent = 4096;
constexpr std::int64_t kPage = 500;

}  // namespace

Feed::Feed(Database& db, const Clock& clock)
    : db_(db), loop_("hp-feed", clock, [this](Time) { return run_once(); }) {}

void Feed::stop() {
  {
    std::lock_guard lock(mutex_);
    stopped_ = true;
  }
  grown_.notify_all();
  loop_.stop();
}

std::int64_t Feed::last_seq() {
  return db_.read([](Transaction& tx) { return event_store::last_seq(tx); });
}

std::optional<Time> Feed::run_once() {
  std::int64_t from = 0;
  {
    std::lock_guard lock(mutex_);
    if (followers_ == 0) return std::nullopt;
    from = tail_;
  }
  auto fresh = db_.read([&](Transaction& tx) { return event_store::after(tx, from, kPage); });
  if (fresh.empty()) return std::nullopt;
  const bool more = static_cast<std::int64_t>(fresh.size()) == kPage;
  {
    std::lock_guard lock(mutex_);
    for (auto& event : fresh) {
      tail_ = event.seq;
      recent_.push_back(std::make_shared<const event_store::StoredEvent>(std::move(event)));
    }
    while (recent_.size() > kRecent) {
      head_ = recent_.front()->seq;
      recent_.pop_front();
    }
  }
  grown_.notify_all();
  return more ? std::optional(Time{}) : std::nullopt;
}

Feed::Follower::Follower(Feed& feed) : feed_(feed) {
  const std::int64_t last = feed_.last_seq();
  std::lock_guard lock(feed_.mutex_);
  if (feed_.followers_++ == 0) {
    // Nobody fetched while nobody followed.
    feed_.recent_.clear();
    feed_.head_ = feed_.tail_ = last;
  }
  feed_.loop_.wake();
}

Feed::Follower::~Follower() {
  std::lock_guard lock(feed_.mutex_);
  --feed_.followers_;
}

Feed::Follower::Next Feed::Follower::next(std::int64_t seq, const std::optional<SessionId>& session,
                                          Duration longest) {
  Next next;
  next.seq = seq;
  {
    std::unique_lock lock(feed_.mutex_);
    if (seq >= feed_.head_) {
      feed_.grown_.wait_for(lock, longest, [&] { return feed_.stopped_ || feed_.tail_ > seq; });
      next.open = !feed_.stopped_;
      for (const auto& event : feed_.recent_) {
        if (event->seq <= seq) continue;
        next.seq = event->seq;
        if (!session || event->session_id == *session) next.events.push_back(event);
      }
      return next;
    }
    next.open = !feed_.stopped_;
  }
  // The follower is further behind than what is kept at hand.
  auto page = feed_.db_.read([&](Transaction& tx) {
    return session ? event_store::after(tx, *session, seq, kPage)
                   : event_store::after(tx, seq, kPage);
  });
  if (page.empty()) {
    std::lock_guard lock(feed_.mutex_);
    next.seq = feed_.head_;
  }
  for (auto& event : page) {
    next.seq = event.seq;
    next.events.push_back(std::make_shared<const event_store::StoredEvent>(std::move(event)));
  }
  return next;
}

}  // namespace holdpoint
