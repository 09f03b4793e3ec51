#include "process_usage.h"

#include <unistd.h>

#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>

namespace holdpoint::bench {
namespace {

std::ifstream open_proc(pid_t pid, const char* name) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/" + name);
  if (!file) throw std::runtime_error("no process " + std::to_string(pid));
  return file;
}

double kibibytes(const std::string& line) {
  std::istringstream words(line);
  std::string label;
  double value = 0;
  words >> label >> value;
  return value * 1024;
}

double cpu_seconds(pid_t pid) {
  std::string line;
  std::ifstream file = open_proc(pid, "stat");
  std::getline(file, line);
  // The command's name may hold spaces and brackets, so count from its last bracket.
  std::istringstream words(line.substr(line.rfind(')') + 1));
  std::string skipped;
  for (int i = 0; i < 11; ++i) words >> skipped;
  double user = 0;
  double system = 0;
  words >> user >> system;
  return (user + system) / static_cast<double>(sysconf(_SC_CLK_TCK));
}

}  // namespace

ProcessUsage usage_of(pid_t pid) {
  ProcessUsage usage;
  usage.cpu_seconds = cpu_seconds(pid);
  std::ifstream file = open_proc(pid, "status");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("VmRSS:")) usage.rss_bytes = kibibytes(line);
    if (line.starts_with("VmHWM:")) usage.peak_rss_bytes = kibibytes(line);
  }
  return usage;
}

}  // namespace holdpoint::bench
