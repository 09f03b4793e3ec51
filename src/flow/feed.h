#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "base/loop.h"
#include "store/event_store.h"

namespace holdpoint {

// New events for those who follow them live. One reader fetches each event once, however many
// follow.
class Feed {
 public:
  using EventPtr = std::shared_ptr<const event_store::StoredEvent>;  // Shared by all followers.

  Feed(Database& db, const Clock& clock);
  void start() { loop_.start(); }
  void stop();
  void wake() { loop_.wake(); }
  // Followers return from waiting, with nothing: who they are may count for nothing any more.
  void nudge();

  // Where a follower begins: after `seq`, unless no event has that number yet or none was given;
  // then after the newest, before which none can come any more.
  std::int64_t begin_after(std::optional<std::int64_t> seq);

  // While one lives, new events are fetched.
  class Follower {
   public:
    explicit Follower(Feed& feed);
    ~Follower();
    Follower(const Follower&) = delete;
    struct Next {
      std::vector<EventPtr> events;
      std::int64_t seq = 0;  // Where to go on from.
      bool open = true;      // False once the feed is stopped.
    };
    // Events after `seq`, of `session` if given; waits up to `longest` for the first.
    Next next(std::int64_t seq, const std::optional<SessionId>& session, Duration longest);

   private:
    Feed& feed_;
  };

 private:
  std::optional<Time> run_once(Time now);
  // How many of the fetched events, which begin after `from`, may be handed on: none may come to
  // stand before them. `oldest` is the oldest open transaction as they were fetched.
  std::size_t count_settled(const std::vector<event_store::StoredEvent>& fresh, std::int64_t from,
                            std::int64_t oldest, Time now);
  std::int64_t settled_last();
  std::int64_t new_transaction();

  Database& db_;
  const bool shared_;
  // Events up to `upto` are all there once every transaction before this one has ended. The loop's
  // own.
  struct Doubt {
    std::int64_t upto = 0;
    std::int64_t transaction = 0;
    Time since;
  };
  std::optional<Doubt> doubt_;
  std::mutex mutex_;
  std::condition_variable grown_;
  bool stopped_ = false;
  std::size_t followers_ = 0;
  std::uint64_t nudges_ = 0;
  std::int64_t head_ = 0;  // All events after this one are in recent_, up to tail_.
  std::int64_t tail_ = 0;
  std::deque<EventPtr> recent_;
  Loop loop_;
};

}  // namespace holdpoint
