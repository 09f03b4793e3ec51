#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "store/database.h"

namespace holdpoint::test {

// The process died here. No part of the flow may treat it as something to try again.
class Crash : public StoreError {
 public:
  Crash() : StoreError("crash", false, true) {}
};

// A database that dies at the Nth point of its life: before any statement, before any commit, or
// right after one, when the caller has not heard of it yet. Once dead it stays dead.
class FailingDatabase final : public Database {
 public:
  FailingDatabase(std::unique_ptr<Database> real, std::int64_t fail_at)
      : real_(std::move(real)), fail_at_(fail_at) {}

  bool crashed() const { return dead_; }
  std::int64_t points() const { return points_; }
  bool healthy() override { return !dead_; }
  const Clock& clock() const override { return real_->clock(); }
  Bulletin* bulletin() override { return real_->bulletin(); }

 protected:
  void do_write(const Job& job) override {
    point();
    real_->write([&](Transaction& tx) {
      Counting counting(*this, tx);
      job(counting);
      point();
    });
    point();
  }
  void do_read(const Job& job) override {
    real_->read([&](Transaction& tx) {
      Counting counting(*this, tx);
      job(counting);
    });
  }

 private:
  class Counting final : public Transaction {
   public:
    Counting(FailingDatabase& owner, Transaction& real) : owner_(owner), real_(real) {}
    std::int64_t run(std::string_view sql, std::span<const Param> params,
                     const RowVisitor* visit) override {
      owner_.point();
      return real_.run(sql, params, visit);
    }

   private:
    FailingDatabase& owner_;
    Transaction& real_;
  };

  void point() {
    if (++points_ == fail_at_) dead_ = true;
    if (dead_) throw Crash();
  }

  std::unique_ptr<Database> real_;
  const std::int64_t fail_at_;
  std::atomic<std::int64_t> points_{0};
  std::atomic<bool> dead_{false};
};

}  // namespace holdpoint::test
