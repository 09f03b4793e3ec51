#include "store/receipt_store.h"

#include <doctest/doctest.h>

#include "tests/store/fresh_database.h"

using namespace holdpoint;
using namespace holdpoint::test;
using receipt_store::Receipt;

namespace {

struct Receipts : FreshDatabase {
  bool take(const Receipt& receipt, Time now = kNow) {
    return write([&](Transaction& tx) { return receipt_store::insert(tx, receipt, now); });
  }
  std::int64_t sweep(Time before) {
    return write([&](Transaction& tx) { return receipt_store::remove_older(tx, before); });
  }
};

}  // namespace

TEST_CASE("the same signature is taken once") {
  Receipts receipts;
  CHECK(receipts.take({"poet", "sig", "id", "body"}));
  CHECK_FALSE(receipts.take({"poet", "sig", "id", "body"}));
  CHECK_FALSE(receipts.take({"poet", "sig", "another id", "body"}));
  CHECK_FALSE(receipts.take({"poet", "sig", "", "another body"}));
  CHECK(receipts.count("webhook_receipts") == 1);
}

TEST_CASE("a known id with another body is refused, and nothing is kept of it") {
  Receipts receipts;
  CHECK(receipts.take({"poet", "sig", "id", "body"}));
  CHECK_FALSE(receipts.take({"poet", "new sig", "id", "another body"}));
  CHECK(receipts.count("webhook_receipts") == 1);
}

TEST_CASE("the same id and body under a new signature is the sender's own retry") {
  Receipts receipts;
  CHECK(receipts.take({"poet", "sig", "id", "body"}));
  CHECK(receipts.take({"poet", "sig 2", "id", "body"}));
  CHECK(receipts.take({"poet", "sig 3", "id", "body"}));
  CHECK_FALSE(receipts.take({"poet", "sig 2", "id", "body"}));
  CHECK_FALSE(receipts.take({"poet", "sig 4", "id", "another body"}));
}

TEST_CASE("without an id only the signature counts") {
  Receipts receipts;
  CHECK(receipts.take({"poet", "sig", "", "body"}));
  CHECK(receipts.take({"poet", "sig 2", "", "another body"}));
  CHECK_FALSE(receipts.take({"poet", "sig 2", "", "third body"}));
}

TEST_CASE("each agent has receipts of its own") {
  Receipts receipts;
  CHECK(receipts.take({"poet", "sig", "id", "body"}));
  CHECK(receipts.take({"critic", "sig", "id", "another body"}));
  CHECK_FALSE(receipts.take({"critic", "sig", "id", "another body"}));
}

TEST_CASE("old receipts are swept, and what they held may come again") {
  Receipts receipts;
  CHECK(receipts.take({"poet", "sig", "id", "body"}));
  CHECK(receipts.take({"poet", "later", "id 2", "body"}, kNow + 1h));
  CHECK(receipts.sweep(kNow) == 0);
  CHECK_FALSE(receipts.take({"poet", "sig", "id", "body"}));
  CHECK(receipts.sweep(kNow + 1ms) == 1);
  CHECK(receipts.take({"poet", "sig", "id", "another body"}));
  CHECK_FALSE(receipts.take({"poet", "later", "id 2", "body"}));
}

TEST_CASE("retention keeps receipts for 24 hours") {
  Receipts receipts;
  ManualClock clock;
  Retention retention(*receipts.db, std::chrono::days{30}, clock);
  CHECK(receipts.take({"poet", "sig", "id", "body"}));
  retention.run_once(kNow + 24h);
  CHECK(receipts.count("webhook_receipts") == 1);
  retention.run_once(kNow + 24h + 1ms);
  CHECK(receipts.count("webhook_receipts") == 0);
}
