#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

namespace holdpoint::bench {

struct ProcessUsage {
  double rss_bytes = 0;
  double peak_rss_bytes = 0;
  double cpu_seconds = 0;  // user and system, all threads
};

// Throws std::runtime_error when the process is gone.
ProcessUsage usage_of(pid_t pid);

struct Process {
  std::string name;
  pid_t parent = 0;
  double cpu_seconds = 0;
  double children_cpu_seconds = 0;  // of those that have ended and been waited for
};

// Nothing when there is no such process.
std::optional<Process> find_process(pid_t pid);

// Processor time of the whole machine since it started, idle time left out.
double machine_cpu_seconds();

// Processor time of a process and of its children, those that have ended included.
double family_cpu_seconds(pid_t pid);

}  // namespace holdpoint::bench
