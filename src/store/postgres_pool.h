#pragma once

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "store/database_clock.h"
#include "store/postgres_connection.h"

namespace holdpoint {

// Connections that are made when they are needed and kept for the next. Safe to share between
// threads.
class PostgresPool {
 public:
  using Steady = std::chrono::steady_clock;
  struct Options {
    std::string url;
    std::size_t most = 16;
    bool long_transactions = false;
  };
  PostgresPool(Options options, DatabaseClock& clock)
      : options_(std::move(options)), clock_(clock) {}

  // A connection with its row in commit_marks; see postgres.h.
  struct Pooled {
    PostgresConnection connection;
    Steady::time_point made_at = Steady::now();
  };

  // One connection for one transaction; goes back by itself, unless it is broken.
  class Taken {
   public:
    Taken(PostgresPool& pool, std::unique_ptr<Pooled> pooled)
        : pool_(pool), pooled_(std::move(pooled)) {}
    ~Taken() {
      if (!broken_) pool_.give_back(std::move(pooled_));
    }
    Taken(const Taken&) = delete;

    PostgresConnection& connection() { return pooled_->connection; }
    void note_failure(const PostgresError& error);
    // The connection is of no use; its place in the pool is free from now on.
    void break_off();
    // Whether the commit that `lost` sent last has happened. If not, it never will.
    bool was_committed(const Taken& lost);

   private:
    PostgresPool& pool_;
    std::unique_ptr<Pooled> pooled_;
    bool broken_ = false;
  };

  enum class Wait { as_usual, through_outage };
  // Waits for one until the deadline, or not at all in an outage that lasts already. Throws
  // StoreError.
  Taken take(Steady::time_point deadline, Wait wait = Wait::as_usual);
  bool is_down() const { return down_; }

 private:
  std::unique_ptr<Pooled> make();
  void give_back(std::unique_ptr<Pooled> pooled);
  void free_place();
  void note_down(const std::string& why);
  void note_up();

  const Options options_;
  DatabaseClock& clock_;
  std::atomic<bool> prepare_{true};
  std::atomic<bool> down_{false};
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::unique_ptr<Pooled>> idle_;
  std::size_t open_ = 0;
  Steady::time_point down_since_;
  Steady::time_point next_try_;
  std::string why_down_;
};

}  // namespace holdpoint
