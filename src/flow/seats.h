#pragma once

#include <optional>

#include "store/session_store.h"

namespace holdpoint {

// Places for turns on this node. Who makes a turn due may ask for one first, and then claim the
// turn in the same transaction: it needs none of its own for that. Safe to share between threads.
class Seats {
 public:
  virtual ~Seats() = default;
  // Nothing when all workers are busy; then whoever has room claims the turn.
  virtual std::optional<session_store::Seat> take(Time now) = 0;
  virtual void give_back() = 0;
  // Runs the turn that was claimed for a seat, once that is committed.
  virtual void start(session_store::ClaimedTurn turn) = 0;
};

// A seat for one transaction; given back by itself if no turn was claimed for it.
class Offer {
 public:
  Offer(Seats* seats, Time now) : seats_(seats) {
    if (seats_) seat_ = seats_->take(now);
  }
  ~Offer() {
    if (seat_) seats_->give_back();
  }
  Offer(const Offer&) = delete;

  const std::optional<session_store::Seat>& seat() const { return seat_; }
  // After the commit.
  void start(std::optional<session_store::ClaimedTurn> turn) {
    if (!turn) return;
    seat_.reset();
    seats_->start(std::move(*turn));
  }

 private:
  Seats* seats_;
  std::optional<session_store::Seat> seat_;
};

}  // namespace holdpoint
