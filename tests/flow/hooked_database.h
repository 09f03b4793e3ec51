#pragma once

#include <functional>

#include "store/database.h"

namespace holdpoint::test {

// Passes everything on to another database, and lets the test in before each write: in the thread
// of who writes, outside of the transaction.
class HookedDatabase final : public Database {
 public:
  explicit HookedDatabase(Database& real) : real_(real) {}
  bool healthy() override { return real_.healthy(); }
  const Clock& clock() const override { return real_.clock(); }
  Bulletin* bulletin() override { return real_.bulletin(); }

  std::function<void()> before_write;

 protected:
  void do_write(const Job& job) override {
    if (before_write) before_write();
    real_.write([&](Transaction& tx) { job(tx); });
  }
  void do_read(const Job& job) override {
    real_.read([&](Transaction& tx) { job(tx); });
  }

 private:
  Database& real_;
};

}  // namespace holdpoint::test
