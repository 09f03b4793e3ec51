#pragma once

#include <condition_variable>
#include <mutex>
#include <utility>

namespace holdpoint {

// Data that can be reached only while its lock is held.
template <class T>
class Guarded {
 public:
  template <class... Args>
  explicit Guarded(Args&&... args) : value_(std::forward<Args>(args)...) {}

  template <class F>
  decltype(auto) with(F&& use) {
    std::lock_guard lock(mutex_);
    return std::forward<F>(use)(value_);
  }

 private:
  std::mutex mutex_;
  T value_;
};

}  // namespace holdpoint
