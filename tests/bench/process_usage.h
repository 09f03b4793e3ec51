#pragma once

#include <sys/types.h>

namespace holdpoint::bench {

struct ProcessUsage {
  double rss_bytes = 0;
  double peak_rss_bytes = 0;
  double cpu_seconds = 0;  // user and system, all threads
};

// Throws std::runtime_error when the process is gone.
ProcessUsage usage_of(pid_t pid);

}  // namespace holdpoint::bench
