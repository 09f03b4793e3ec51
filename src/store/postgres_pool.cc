#include "store/postgres_pool.h"

#include "base/log.h"
#include "store/commit_marks.h"
#include "store/postgres_start.h"

namespace holdpoint {

using namespace std::chrono_literals;
using Kind = PostgresError::Kind;

namespace {

// A connection is replaced after this long, so that a changed address or certificate comes to
// count.
constexpr auto kOldest = 30min;
// Within an outage this long callers wait for its end; then they are told at once.
constexpr auto kShortOutage = 3s;
constexpr auto kBetweenTries = 200ms;

}  // namespace

void PostgresPool::Taken::note_failure(const PostgresError& error) {
  if (error.kind() == Kind::plans) {
    if (error.state() != "0A000" && pool_.prepare_.exchange(false)) {
      log(Level::warning, "statements_not_kept",
          {{"reason", error.what()},
           {"what_now", "a pooler is in between: statements are sent as texts"}});
    }
    break_off();
  }
  if (error.kind() == Kind::lost && !broken_) {
    break_off();
    pool_.note_down(error.what());
  }
}

void PostgresPool::Taken::break_off() {
  if (!std::exchange(broken_, true)) pool_.free_place();
}

bool PostgresPool::Taken::was_committed(const Taken& lost) {
  auto& connection = this->connection();
  std::optional<std::int64_t> commits;
  connection.begin_write();
  try {
    commits = commit_marks::close(connection, lost.pooled_->connection.mark());
    connection.commit();
  } catch (const PostgresError&) {
    break_off();
    throw;
  }
  if (!commits) throw StoreError("the row that tells of the commit is gone", true, true);
  return *commits == lost.pooled_->connection.marked_commits() + 1;
}

PostgresPool::Taken PostgresPool::take(Steady::time_point deadline, Wait wait) {
  std::unique_lock lock(mutex_);
  while (true) {
    if (!idle_.empty()) {
      auto pooled = std::move(idle_.back());
      idle_.pop_back();
      if (Steady::now() - pooled->made_at < kOldest) return Taken(*this, std::move(pooled));
      --open_;
      continue;
    }
    const auto now = Steady::now();
    const bool may_try = open_ < options_.most && (!down_ || now >= next_try_);
    if (may_try) {
      ++open_;
      next_try_ = now + kBetweenTries;
      lock.unlock();
      try {
        auto pooled = make();
        note_up();
        return Taken(*this, std::move(pooled));
      } catch (const PostgresError& e) {
        const bool plans = e.kind() == Kind::plans;
        if (plans) prepare_ = false;
        if (!plans) note_down(e.what());
        lock.lock();
        --open_;
        if (e.kind() == Kind::refused) throw;
        if (plans) continue;
      } catch (...) {
        free_place();
        throw;
      }
    }
    const auto later = Steady::now();
    const bool patient =
        wait == Wait::through_outage || !down_ || later < down_since_ + kShortOutage;
    if (later >= deadline || !patient) {
      throw PostgresError(
          Kind::later, "",
          down_ ? "the database cannot be reached: " + why_down_
                : "all " + std::to_string(options_.most) + " connections to the database are busy");
    }
    if (down_) {
      changed_.wait_until(lock, std::min(deadline, std::max(next_try_, later + 1ms)));
    } else {
      changed_.wait_until(lock, deadline);
    }
  }
}

std::unique_ptr<PostgresPool::Pooled> PostgresPool::make() {
  PostgresConnection::Options options;
  options.url = options_.url;
  options.prepare = prepare_;
  if (options_.long_transactions) options.patience = 10min;
  options.mark = new_uuid(clock_.now());
  auto pooled = std::unique_ptr<Pooled>(new Pooled{PostgresConnection(std::move(options))});
  auto& connection = pooled->connection;
  commit_marks::insert(connection, connection.mark(), clock_.now());
  if (!options_.long_transactions) {
    // A node that is frozen in the middle of a transaction must not hold up the others.
    connection.post("SET idle_in_transaction_session_timeout = '5s'");
    // Longer than the server takes to find out that two wait for each other.
    connection.post("SET lock_timeout = '2500ms'");
  }
  // Every statement is planned once; which rows it is asked for makes no difference to any of ours.
  connection.post("SET plan_cache_mode = force_generic_plan");
  greet_postgres(connection, clock_);
  return pooled;
}

void PostgresPool::give_back(std::unique_ptr<Pooled> pooled) {
  {
    std::lock_guard lock(mutex_);
    idle_.push_back(std::move(pooled));
  }
  note_up();  // It was of use: an outage that was noted meanwhile is over.
  changed_.notify_one();
}

void PostgresPool::free_place() {
  {
    std::lock_guard lock(mutex_);
    --open_;
  }
  changed_.notify_one();
}

void PostgresPool::note_down(const std::string& why) {
  std::vector<std::unique_ptr<Pooled>> dead;  // Closed without the lock.
  std::lock_guard lock(mutex_);
  why_down_ = why;
  // What one lost, the others most likely lost too; and trying a dead one costs more than a new
  // one.
  dead.swap(idle_);
  open_ -= dead.size();
  if (down_.exchange(true)) return;
  down_since_ = Steady::now();
  next_try_ = down_since_;
  log(Level::error, "database_lost", {{"reason", why}});
  changed_.notify_all();
}

void PostgresPool::note_up() {
  if (!down_.exchange(false)) return;
  log(Level::info, "database_back");
  changed_.notify_all();
}

}  // namespace holdpoint
