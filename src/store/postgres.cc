#include "store/postgres.h"

#include <shared_mutex>
#include <thread>
#include <typeindex>
#include <unordered_set>

#include "base/log.h"
#include "store/postgres_bulletin.h"
#include "store/postgres_pool.h"
#include "store/postgres_start.h"

namespace holdpoint {
namespace {

using namespace std::chrono_literals;
using Kind = PostgresError::Kind;
using SteadyTime = std::chrono::steady_clock::time_point;

constexpr int kMostRounds = 50;

// Reads by the place in the program they come from. One that makes do with a single statement needs
// no transaction around it, which is two thirds of its cost; each place is taken for such until it
// runs a second one.
class SingleReads {
 public:
  bool holds(const std::type_info& place) {
    std::shared_lock lock(mutex_);
    return !others_.contains(place);
  }
  void drop(const std::type_info& place) {
    std::lock_guard lock(mutex_);
    others_.insert(place);
  }

 private:
  std::shared_mutex mutex_;
  std::unordered_set<std::type_index> others_;
};

class PostgresDatabase final : public Database {
 public:
  explicit PostgresDatabase(PostgresOptions options)
      : options_(std::move(options)),
        pool_({options_.url, options_.connections, options_.long_transactions}, clock_),
        bulletin_(options_.url, pool_, clock_) {
    prepare_postgres(options_.url, options_.start_patience, options_.give_up, clock_);
  }

  const Clock& clock() const override { return clock_; }
  Bulletin* bulletin() override { return &bulletin_; }

  bool healthy() override {
    if (!pool_.is_down()) return true;
    try {
      read([](Transaction& tx) { tx.query("SELECT 1", [](const Row&) {}); });
    } catch (const StoreError&) {
      return false;
    }
    return true;
  }

 protected:
  void do_write(const Job& job) override {
    with_connection([&](PostgresPool::Taken& taken) { run_write(taken, job); });
    if (options_.on_commit) options_.on_commit();
  }

  void do_read(const Job& job) override {
    bool alone = single_.holds(job.target_type());
    with_connection([&](PostgresPool::Taken& taken) {
      auto& connection = taken.connection();
      if (alone) {
        connection.begin_single();
        try {
          job(connection);
          return;
        } catch (const PostgresConnection::SecondStatement&) {
          single_.drop(job.target_type());
          alone = false;
        }
      }
      connection.begin_read();
      try {
        job(connection);
      } catch (const PostgresError& e) {
        if (e.kind() != Kind::lost) connection.roll_back();
        throw;
      } catch (...) {
        connection.roll_back();
        throw;
      }
      connection.end_read();
    });
  }

 private:
  // Runs `use` on a connection, again as long as that may help.
  template <class Use>
  void with_connection(Use use) {
    const SteadyTime deadline = std::chrono::steady_clock::now() + 3s;
    for (int round = 1;; ++round) {
      auto taken = pool_.take(deadline);
      try {
        use(taken);
        return;
      } catch (const PostgresError& e) {
        taken.note_failure(e);
        const bool over = round >= kMostRounds || std::chrono::steady_clock::now() >= deadline;
        if (e.kind() == Kind::refused || e.kind() == Kind::later || e.in_doubt() || over) throw;
        if (e.kind() == Kind::lost || round < 3) continue;
      }
      // It lost against others a few times: step back for a moment, each for another one.
      std::this_thread::sleep_for(std::chrono::microseconds(
          static_cast<std::int64_t>(random_fraction() * 1000 * std::min(round, 20))));
    }
  }

  void run_write(PostgresPool::Taken& taken, const Job& job) {
    auto& connection = taken.connection();
    connection.begin_write();
    try {
      job(connection);
      connection.commit();
    } catch (const PostgresError& e) {
      if (e.kind() == Kind::lost && connection.commit_sent()) {
        taken.note_failure(e);
        if (!connection.has_written()) return;  // There was nothing to lose.
        if (was_committed(taken)) return;
        throw;  // It was not, and never will be: run again.
      }
      if (e.kind() != Kind::lost) connection.roll_back();
      throw;
    } catch (...) {
      connection.roll_back();
      throw;
    }
  }

  bool was_committed(const PostgresPool::Taken& lost) {
    const SteadyTime deadline = std::chrono::steady_clock::now() + 10s;
    log(Level::warning, "commit_in_doubt", {{"what_now", "looking whether it happened"}});
    while (true) {
      try {
        auto taken = pool_.take(deadline, PostgresPool::Wait::through_outage);
        const auto committed = taken.was_committed(lost);
        log(Level::warning, "commit_found_out", {{"committed", committed}});
        return committed;
      } catch (const PostgresError& e) {
        if (std::chrono::steady_clock::now() >= deadline) {
          throw StoreError(
              "the database went away during a commit, and it is not known whether "
              "it happened: " +
                  std::string(e.what()),
              true, true);
        }
      }
      std::this_thread::sleep_for(50ms);
    }
  }

  const PostgresOptions options_;
  DatabaseClock clock_;
  PostgresPool pool_;
  PostgresBulletin bulletin_;
  SingleReads single_;
};

}  // namespace

std::unique_ptr<Database> open_postgres(PostgresOptions options) {
  return std::make_unique<PostgresDatabase>(std::move(options));
}

}  // namespace holdpoint
