#pragma once

#include <chrono>
#include <functional>
#include <thread>

namespace holdpoint::test {

// Whether the condition comes to hold, for as long as any machine may take.
inline bool eventually(const std::function<bool()>& condition) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds{20};
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds{1});
  }
  return true;
}

}  // namespace holdpoint::test
