#pragma once

#include <functional>

#include "store/database.h"

namespace holdpoint::test {

// Passes everything on to another database, and lets the test in before each write, outside of the
// transaction, and before each statement inside of it: in the thread of who writes.
class HookedDatabase final : public Database {
 public:
  explicit HookedDatabase(Database& real) : real_(real) {}
  bool healthy() override { return real_.healthy(); }
  const Clock& clock() const override { return real_.clock(); }
  Bulletin* bulletin() override { return real_.bulletin(); }

  std::function<void()> before_write;
  std::function<void(std::string_view sql)> before_statement;

 protected:
  void do_write(const Job& job) override {
    if (before_write) before_write();
    real_.write([&](Transaction& tx) {
      Hooked hooked(*this, tx);
      job(hooked);
    });
  }
  void do_read(const Job& job) override {
    real_.read([&](Transaction& tx) { job(tx); });
  }

 private:
  class Hooked final : public Transaction {
   public:
    Hooked(HookedDatabase& owner, Transaction& real) : owner_(owner), real_(real) {}
    std::int64_t run(std::string_view sql, std::span<const Param> params,
                     const RowVisitor* visit) override {
      if (owner_.before_statement) owner_.before_statement(sql);
      return real_.run(sql, params, visit);
    }
    void run_later(std::string_view sql, std::span<const Param> params) override {
      if (owner_.before_statement) owner_.before_statement(sql);
      real_.run_later(sql, params);
    }
    void run_lock(std::string_view sql, std::span<const Param> params) override {
      if (owner_.before_statement) owner_.before_statement(sql);
      real_.run_lock(sql, params);
    }

   private:
    HookedDatabase& owner_;
    Transaction& real_;
  };

  Database& real_;
};

}  // namespace holdpoint::test
