#include "store/sqlite.h"

#include <atomic>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <vector>

#include "base/embedded.h"
#include "base/log.h"
#include "base/loop.h"
#include "store/lock_file.h"
#include "store/migrations.h"
#include "store/sqlite_connection.h"

namespace holdpoint {
namespace {

// Read-only connections; a reader waits for one when all are taken.
class Readers {
 public:
  Readers(const std::string& path, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      idle_.push_back(std::make_unique<SqliteConnection>(path, SqliteConnection::Mode::reader));
    }
  }

  std::unique_ptr<SqliteConnection> take() {
    std::unique_lock lock(mutex_);
    returned_.wait(lock, [this] { return !idle_.empty(); });
    auto connection = std::move(idle_.back());
    idle_.pop_back();
    return connection;
  }

  void give_back(std::unique_ptr<SqliteConnection> connection) {
    {
      std::lock_guard lock(mutex_);
      idle_.push_back(std::move(connection));
    }
    returned_.notify_one();
  }

 private:
  std::mutex mutex_;
  std::condition_variable returned_;
  std::vector<std::unique_ptr<SqliteConnection>> idle_;
};

class SqliteDatabase final : public Database {
 public:
  SqliteDatabase(SqliteOptions options, Time now)
      : options_(std::move(options)),
        lock_(options_.path + ".lock"),
        writer_(options_.path, SqliteConnection::Mode::writer),
        loop_("hp-writer", clock_, [this](Time) {
          commit_next_batch();
          return std::nullopt;
        }) {
    sqlite3_wal_hook(
        writer_.handle(),
        [](void* self, sqlite3*, const char*, int pages) {
          static_cast<SqliteDatabase*>(self)->note_log_size(pages);
          return SQLITE_OK;
        },
        this);
    writer_.execute("BEGIN IMMEDIATE");
    migrate(writer_, read_migrations(embedded::schema_sql), now);
    writer_.execute("COMMIT");
    readers_ = std::make_unique<Readers>(options_.path, options_.readers);
    loop_.start();
  }

  ~SqliteDatabase() override {
    loop_.stop();
    std::shared_ptr<Batch> left;
    {
      std::lock_guard lock(mutex_);
      closed_ = true;
      left = std::exchange(open_, std::make_shared<Batch>());
    }
    fail_all(*left, std::make_exception_ptr(closing()));
    readers_.reset();
  }

  const Clock& clock() const override { return clock_; }

  bool healthy() override {
    if (last_commit_ok_) return true;
    try {
      // As large as a busy batch: the few frames that a failed commit left in the log would always
      // take a small one.
      const std::string filler(128 * 1024, '.');
      write([&](Transaction& tx) {
        tx.execute(
            "INSERT INTO commit_probe (id, filler) VALUES (1, $1) "
            "ON CONFLICT (id) DO UPDATE SET filler = excluded.filler",
            filler);
      });
    } catch (const StoreError&) {
      return false;
    }
    return true;
  }

 protected:
  void do_write(const Job& job) override {
    Waiting waiting{&job, nullptr};
    std::shared_ptr<Batch> batch;
    bool first = false;
    {
      std::lock_guard lock(mutex_);
      if (closed_) throw closing();
      batch = open_;
      first = batch->jobs.empty();
      batch->jobs.push_back(&waiting);
    }
    if (first) loop_.wake();
    batch->done.wait(false);
    if (waiting.error) std::rethrow_exception(waiting.error);
  }

  void do_read(const Job& job) override {
    auto connection = readers_->take();
    struct Return {
      Readers& readers;
      std::unique_ptr<SqliteConnection>& connection;
      ~Return() { readers.give_back(std::move(connection)); }
    } give_back{*readers_, connection};
    connection->execute("BEGIN");
    try {
      job(*connection);
    } catch (...) {
      connection->execute("ROLLBACK");
      throw;
    }
    connection->execute("COMMIT");
  }

 private:
  struct Waiting {
    const Job* job;
    std::exception_ptr error;
  };
  // Writes that will share one commit. Shared between its waiters and the writer: whoever looks at
  // it last frees it.
  struct Batch {
    std::vector<Waiting*> jobs;
    std::atomic<bool> done{false};
  };

  static StoreError closing() { return StoreError("the database is closing", true); }

  void commit_next_batch() {
    std::shared_ptr<Batch> batch;
    {
      std::lock_guard lock(mutex_);
      if (open_->jobs.empty()) return;
      batch = std::exchange(open_, std::make_shared<Batch>());
    }
    const std::size_t size = batch->jobs.size();
    try {
      commit(*batch);
      last_commit_ok_ = true;
    } catch (const std::exception& e) {
      if (writer_.last_error_was_sync()) options_.on_sync_failure(e.what());
      last_commit_ok_ = false;
      if (writer_.in_transaction()) roll_back();
      log(Level::error, "commit_failed",
          {{"reason", e.what()}, {"writes", static_cast<std::int64_t>(size)}});
      // Nothing of the batch is kept, so no job of it may report success, whatever it returned.
      fail_all(*batch, std::current_exception());
      return;
    }
    if (options_.on_commit) options_.on_commit(size);
    batch->done = true;
    batch->done.notify_all();
    if (wal_pages_ >= next_checkpoint_) checkpoint();
  }

  void commit(Batch& batch) {
    writer_.execute("BEGIN IMMEDIATE");
    for (Waiting* waiting : batch.jobs) {
      writer_.execute("SAVEPOINT job");
      try {
        (*waiting->job)(writer_);
      } catch (...) {
        // When the disk is full SQLite may have rolled back the jobs before this one too; then none
        // may go on.
        if (!writer_.in_transaction()) throw;
        waiting->error = std::current_exception();
        writer_.execute("ROLLBACK TO job");
      }
      writer_.execute("RELEASE job");
    }
    writer_.execute("COMMIT");
  }

  void roll_back() {
    try {
      writer_.execute("ROLLBACK");
    } catch (const StoreError& e) {
      log(Level::error, "rollback_failed", {{"reason", e.what()}});
    }
  }

  static void fail_all(Batch& batch, const std::exception_ptr& error) {
    for (Waiting* waiting : batch.jobs) waiting->error = error;
    batch.done = true;
    batch.done.notify_all();
  }

  void note_log_size(int pages) {
    if (pages < wal_pages_) next_checkpoint_ = options_.checkpoint_pages;  // It started over.
    wal_pages_ = pages;
  }

  void checkpoint() {
    // Readers can keep the log from starting over; once it is large, wait for them.
    const int mode = wal_pages_ < 8 * options_.checkpoint_pages ? SQLITE_CHECKPOINT_PASSIVE
                                                                : SQLITE_CHECKPOINT_RESTART;
    const int code = sqlite3_wal_checkpoint_v2(writer_.handle(), nullptr, mode, nullptr, nullptr);
    if (code != SQLITE_OK && writer_.last_error_was_sync()) {
      options_.on_sync_failure(sqlite3_errmsg(writer_.handle()));
    }
    if (code != SQLITE_OK && (code & 0xff) != SQLITE_BUSY) {
      log(Level::warning, "checkpoint_failed", {{"reason", sqlite3_errmsg(writer_.handle())}});
    }
    next_checkpoint_ = wal_pages_ + options_.checkpoint_pages;
  }

  const SqliteOptions options_;
  const SystemClock clock_;
  LockFile lock_;
  SqliteConnection writer_;
  int wal_pages_ = 0;
  int next_checkpoint_ = options_.checkpoint_pages;
  std::atomic<bool> last_commit_ok_{true};
  std::unique_ptr<Readers> readers_;
  std::mutex mutex_;
  bool closed_ = false;
  std::shared_ptr<Batch> open_ = std::make_shared<Batch>();
  Loop loop_;
};

}  // namespace

std::unique_ptr<Database> open_sqlite(SqliteOptions options, Time now) {
  return std::make_unique<SqliteDatabase>(std::move(options), now);
}

}  // namespace holdpoint
