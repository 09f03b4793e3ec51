#include <doctest/doctest.h>

#include <future>
#include <memory>
#include <thread>
#include <vector>

#include "base/loop.h"
#include "tests/base/tally.h"

namespace holdpoint {
namespace {

using namespace std::chrono_literals;
using test::Tally;

// Shared, since its job may outlive the case that gave up on it.
std::shared_ptr<Tally> shared_tally() { return std::make_shared<Tally>(); }

TEST_CASE("a pool grows while all its threads are blocked, up to its most") {
  const auto gate = shared_tally(), started = shared_tally();
  Pool pool("test", 8, 100);
  for (int n = 1; n <= 8; ++n) {
    REQUIRE(pool.submit([=] {
      started->add();
      gate->reaches(1);
    }));
    REQUIRE(started->reaches(n));
  }
  CHECK(pool.threads() == 8);
  REQUIRE(pool.submit([=] { started->add(); }));
  CHECK(pool.threads() == 8);
  gate->add();
  CHECK(started->reaches(9));
}

TEST_CASE("a job never waits behind a blocked one, however many threads are idle") {
  Pool pool("test", 64, 1000);
  for (int round = 0; round < 10; ++round) {
    // Each time one more job than there are threads from before.
    for (int jobs = 1; jobs <= 64; ++jobs) {
      const auto gate = shared_tally(), started = shared_tally();
      for (int i = 0; i < jobs; ++i) {
        REQUIRE(pool.submit([=] {
          started->add();
          gate->reaches(1);
        }));
      }
      const bool all = started->reaches(jobs);
      gate->add();
      REQUIRE(all);
    }
  }
  CHECK(pool.threads() <= 64);
}

TEST_CASE("a pool at its most queues a few jobs and refuses the rest") {
  const auto gate = shared_tally(), started = shared_tally(), done = shared_tally();
  Pool pool("test", 2, 3);
  const auto blocked = [=] {
    started->add();
    gate->reaches(1);
    done->add();
  };
  REQUIRE(pool.submit(blocked));
  REQUIRE(pool.submit(blocked));
  REQUIRE(started->reaches(2));
  for (int i = 0; i < 3; ++i) CHECK(pool.submit(blocked));
  CHECK_FALSE(pool.submit(blocked));
  CHECK_FALSE(pool.submit(blocked));
  gate->add();
  CHECK(done->reaches(5));
  CHECK(pool.submit(blocked));
  CHECK(done->reaches(6));
}

TEST_CASE("stop runs what is queued, in order, and takes nothing more") {
  const auto gate = shared_tally(), started = shared_tally();
  std::vector<int> order;
  Pool pool("test", 1, 100'000'000);
  REQUIRE(pool.submit([=] {
    started->add();
    gate->reaches(1);
  }));
  REQUIRE(started->reaches(1));
  for (int i = 0; i < 5; ++i) REQUIRE(pool.submit([&order, i] { order.push_back(i); }));
  auto stopped = std::async(std::launch::async, [&] { pool.stop(); });
  CHECK(stopped.wait_for(50ms) == std::future_status::timeout);
  const auto deadline = std::chrono::steady_clock::now() + 20s;
  while (pool.submit([] {})) REQUIRE(std::chrono::steady_clock::now() < deadline);
  gate->add();
  REQUIRE(stopped.wait_for(20s) == std::future_status::ready);
  CHECK(order == std::vector<int>{0, 1, 2, 3, 4});
  CHECK(pool.threads() == 0);
  CHECK_FALSE(pool.submit([] {}));
  pool.stop();
}

TEST_CASE("every job that was accepted runs once, whoever submits and whenever it stops") {
  for (int round = 0; round < 20; ++round) {
    std::atomic<int> ran = 0, accepted = 0;
    const auto warm = shared_tally();
    Pool pool("test", 4, 50);
    std::vector<std::thread> callers;
    for (int caller = 0; caller < 4; ++caller) {
      callers.emplace_back([&] {
        for (int i = 0; i < 500; ++i) {
          if (pool.submit([&] { ++ran; })) ++accepted;
          warm->add();
        }
      });
    }
    CHECK(warm->reaches(500));
    pool.stop();
    for (auto& caller : callers) caller.join();
    CHECK(ran == accepted);
    CHECK(accepted > 0);
  }
}

TEST_CASE("what a job holds is let go of outside of the pool's lock") {
  // Gone with the test if all is well; else it is stuck, and so would be its destructor.
  auto pool = std::make_unique<Pool>("test", 1, 10);
  const auto done = shared_tally();
  struct Parting {
    Pool& pool;
    std::shared_ptr<Tally> done;
    Parting(Pool& p, std::shared_ptr<Tally> d) : pool(p), done(std::move(d)) {}
    ~Parting() {
      if (pool.submit([done = done] { done->add(); })) done->add();
    }
  };
  REQUIRE(pool->submit([held = std::make_shared<Parting>(*pool, done)] {}));
  const bool went = done->reaches(2);
  CHECK(went);
  if (!went) static_cast<void>(pool.release());
}

}  // namespace
}  // namespace holdpoint
