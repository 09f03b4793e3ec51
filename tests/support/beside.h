#pragma once

#include <doctest/doctest.h>

#include <functional>
#include <list>
#include <string>
#include <thread>
#include <utility>

namespace holdpoint::test {

// Does something in a thread of its own, until `join` or its end. What it throws fails the test.
class Beside {
 public:
  explicit Beside(std::function<void()> deed)
      : thread_([deed = std::move(deed)] {
          try {
            deed();
          } catch (const std::exception& e) {
            FAIL_CHECK(std::string(e.what()));
          }
        }) {}
  ~Beside() { join(); }
  Beside(const Beside&) = delete;
  void join() {
    if (thread_.joinable()) thread_.join();
  }

 private:
  std::thread thread_;
};

// Does something so many times at once; returns once all have.
inline void side_by_side(int threads, const std::function<void(int)>& deed) {
  std::list<Beside> all;
  for (int i = 0; i < threads; ++i) all.emplace_back([&deed, i] { deed(i); });
}

}  // namespace holdpoint::test
