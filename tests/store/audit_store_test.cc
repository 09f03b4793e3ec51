#include "store/audit_store.h"

#include <doctest/doctest.h>

#include "tests/store/fresh_database.h"

using namespace holdpoint;
using namespace holdpoint::test;
using audit_store::Entry;

namespace {

Entry entry(std::int64_t seq) {
  return {seq,
          to_iso(kNow + std::chrono::seconds{seq}),
          {"ana", "user:ana", "1.2.3.4"},
          "did",
          "session:" + std::to_string(seq),
          "a \"detail\"",
          "hash " + std::to_string(seq)};
}

struct Log : FreshDatabase {
  void append(std::int64_t seq) {
    write([&](Transaction& tx) {
      REQUIRE(audit_store::lock_head(tx, audit_store::Wait::yes));
      const std::string id = std::to_string(seq);
      audit_store::add_pending(tx, id, entry(seq));
      audit_store::link(tx, id, entry(seq));
      audit_store::move_head(tx, {seq, entry(seq).hash});
    });
  }
  audit_store::Head head() {
    return read([](Transaction& tx) { return audit_store::head(tx); });
  }
  std::vector<std::int64_t> after(std::int64_t seq, std::int64_t limit) {
    std::vector<std::int64_t> numbers;
    read([&](Transaction& tx) {
      audit_store::each(tx, seq, limit, [&](const Entry& e) { numbers.push_back(e.seq); });
    });
    return numbers;
  }
};

}  // namespace

TEST_CASE("the head is nothing before the first row, then always the last") {
  Log log;
  CHECK(log.head().seq == 0);
  CHECK(log.head().hash == "");
  for (std::int64_t seq = 1; seq <= 3; ++seq) {
    log.append(seq);
    CHECK(log.head().seq == seq);
    CHECK(log.head().hash == "hash " + std::to_string(seq));
  }
  CHECK(log.count("audit_head") == 1);
}

TEST_CASE("a row comes back as it was appended") {
  Log log;
  log.append(1);
  log.read([](Transaction& tx) {
    audit_store::each(tx, 0, 10, [](const Entry& e) {
      CHECK(e.seq == 1);
      CHECK(e.at == "2026-11-16T09:00:01.000Z");
      CHECK(e.actor.name == "ana");
      CHECK(e.actor.credential == "user:ana");
      CHECK(e.actor.address == "1.2.3.4");
      CHECK(e.action == "did");
      CHECK(e.subject == "session:1");
      CHECK(e.detail == "a \"detail\"");
      CHECK(e.hash == "hash 1");
    });
  });
}

TEST_CASE("rows come in the order of their numbers, after the one named, up to the limit") {
  Log log;
  for (std::int64_t seq = 1; seq <= 12; ++seq) log.append(seq);
  CHECK(log.after(0, 3) == std::vector<std::int64_t>{1, 2, 3});
  CHECK(log.after(9, 100) == std::vector<std::int64_t>{10, 11, 12});
  CHECK(log.after(12, 100).empty());
}

TEST_CASE("all rows come in order, those with an impossible number first") {
  Log log;
  for (std::int64_t seq = 1; seq <= 3; ++seq) log.append(seq);
  log.write([](Transaction& tx) {
    tx.execute("UPDATE audit_log SET seq = -5 WHERE seq = 3");
    tx.execute("UPDATE audit_log SET at = 'no time' WHERE seq = 2");
  });
  std::vector<std::int64_t> numbers;
  log.read([&](Transaction& tx) {
    audit_store::each(tx, [&](const Entry& e) { numbers.push_back(e.seq); });
  });
  CHECK(numbers == std::vector<std::int64_t>{-5, 1, 2});
}

TEST_CASE("rows that wait come oldest first, as they were written, and wait no more once linked") {
  Log log;
  log.write([](Transaction& tx) {
    for (std::int64_t seq : {3, 1, 2})
      audit_store::add_pending(tx, std::to_string(seq), entry(seq));
  });
  const auto subjects = [&] {
    std::vector<std::string> all;
    log.read([&](Transaction& tx) {
      for (const auto& [id, waiting] : audit_store::pending(tx, 10)) {
        CHECK(waiting.subject == "session:" + id);
        CHECK(waiting.at == entry(std::stoll(id)).at);
        CHECK(waiting.actor.credential == "user:ana");
        CHECK(waiting.detail == "a \"detail\"");
        all.push_back(id);
      }
    });
    return all;
  };
  CHECK(subjects() == std::vector<std::string>{"1", "2", "3"});
  log.write([](Transaction& tx) { audit_store::link(tx, "2", entry(1)); });
  CHECK(subjects() == std::vector<std::string>{"1", "3"});
  CHECK(log.after(0, 10) == std::vector<std::int64_t>{1});
  CHECK(log.read([](Transaction& tx) { return audit_store::any_pending(tx); }));
}

TEST_CASE("no number is given out twice") {
  Log log;
  log.append(1);
  CHECK_THROWS_AS(log.append(1), StoreError);
  CHECK(log.head().seq == 1);
}
