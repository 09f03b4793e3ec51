#include "flow/feed.h"

#include <algorithm>
#include <thread>

namespace holdpoint {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kRecent = 4096;
constexpr std::size_t kPage = 500;
constexpr auto kLimit = static_cast<std::int64_t>(kPage);
// None of ours is open for longer.
constexpr auto kLongestTransaction = 15s;

}  // namespace

Feed::Feed(Database& db, const Clock& clock)
    : db_(db),
      shared_(db.bulletin() != nullptr),
      loop_("hp-feed", clock, [this](Time now) { return run_once(now); }) {}

void Feed::stop() {
  {
    std::lock_guard lock(mutex_);
    stopped_ = true;
  }
  grown_.notify_all();
  loop_.stop();
}

std::int64_t Feed::begin_after(std::optional<std::int64_t> seq) {
  const auto last = db_.read([](Transaction& tx) { return event_store::last_seq(tx); });
  return seq && *seq <= last ? *seq : settled_last();
}

std::int64_t Feed::new_transaction() {
  return db_.write([](Transaction& tx) { return event_store::this_transaction(tx); });
}

std::int64_t Feed::settled_last() {
  const auto last = db_.read([](Transaction& tx) { return event_store::last_seq(tx); });
  if (!shared_) return last;
  const std::int64_t afterwards = new_transaction();
  const auto deadline = std::chrono::steady_clock::now() + kLongestTransaction;
  while (db_.read([](Transaction& tx) { return event_store::oldest_transaction(tx); }) <
             afterwards &&
         std::chrono::steady_clock::now() < deadline) {
    std::this_thread::sleep_for(1ms);
  }
  return last;
}

std::size_t Feed::count_settled(const std::vector<event_store::StoredEvent>& fresh,
                                std::int64_t from, std::int64_t oldest, Time now) {
  if (!shared_) return fresh.size();
  std::int64_t settled = from;
  if (doubt_ && (oldest >= doubt_->transaction || now > doubt_->since + kLongestTransaction)) {
    settled = std::max(from, doubt_->upto);
    doubt_.reset();
  }
  std::size_t count = 0;
  for (const auto& event : fresh) {
    if (event.seq > settled + 1) break;  // The number between belongs to nobody, or is on its way.
    settled = std::max(settled, event.seq);
    ++count;
  }
  if (count < fresh.size() && !doubt_) doubt_ = Doubt{fresh.back().seq, new_transaction(), now};
  return count;
}

void Feed::nudge() {
  {
    std::lock_guard lock(mutex_);
    ++nudges_;
  }
  grown_.notify_all();
}

std::optional<Time> Feed::run_once(Time now) {
  std::int64_t from = 0;
  {
    std::lock_guard lock(mutex_);
    if (followers_ == 0) return std::nullopt;
    from = tail_;
  }
  std::int64_t oldest = 0;
  auto fresh = db_.read([&](Transaction& tx) {
    auto events = event_store::after(tx, from, kLimit);
    if (shared_ && !events.empty()) oldest = event_store::oldest_transaction(tx);
    return events;
  });
  if (fresh.empty()) return std::nullopt;
  const std::size_t settled = count_settled(fresh, from, oldest, now);
  const bool more = settled == kPage;
  const bool in_doubt = settled < fresh.size();
  fresh.resize(settled);
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
  if (in_doubt) return now + 3ms;
  return more ? std::optional(Time{}) : std::nullopt;
}

Feed::Follower::Follower(Feed& feed) : feed_(feed) {
  const std::int64_t last = feed_.settled_last();
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
      const std::uint64_t nudges = feed_.nudges_;
      feed_.grown_.wait_for(lock, longest, [&] {
        return feed_.stopped_ || feed_.tail_ > seq || feed_.nudges_ != nudges;
      });
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
    return session ? event_store::after(tx, *session, seq, kLimit)
                   : event_store::after(tx, seq, kLimit);
  });
  {
    // Beyond what was handed on already, earlier ones may still come.
    std::lock_guard lock(feed_.mutex_);
    std::erase_if(page, [&](const auto& event) { return event.seq > feed_.head_; });
    if (page.empty()) next.seq = feed_.head_;
  }
  for (auto& event : page) {
    next.seq = event.seq;
    next.events.push_back(std::make_shared<const event_store::StoredEvent>(std::move(event)));
  }
  return next;
}

}  // namespace holdpoint
