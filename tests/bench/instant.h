#pragma once

#include <chrono>

namespace holdpoint::bench {

using Instant = std::chrono::steady_clock::time_point;
using Seconds = std::chrono::duration<double>;
using Milliseconds = std::chrono::duration<double, std::milli>;

inline Instant now() { return std::chrono::steady_clock::now(); }

inline Instant after(Seconds span) {
  return now() + std::chrono::duration_cast<std::chrono::steady_clock::duration>(span);
}

inline double milliseconds_between(Instant from, Instant to) {
  return Milliseconds(to - from).count();
}

}  // namespace holdpoint::bench
