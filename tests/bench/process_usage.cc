#include "process_usage.h"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>

namespace holdpoint::bench {
namespace {

std::ifstream open_proc(pid_t pid, const char* name) {
  return std::ifstream("/proc/" + std::to_string(pid) + "/" + name);
}

[[noreturn]] void throw_missing(pid_t pid) {
  throw std::runtime_error("no process " + std::to_string(pid));
}

double kibibytes(const std::string& line) {
  std::istringstream words(line);
  std::string label;
  double value = 0;
  words >> label >> value;
  return value * 1024;
}

}  // namespace

ProcessUsage usage_of(pid_t pid) {
  const auto process = find_process(pid);
  if (!process) throw_missing(pid);
  ProcessUsage usage;
  usage.cpu_seconds = process->cpu_seconds;
  std::ifstream file = open_proc(pid, "status");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("VmRSS:")) usage.rss_bytes = kibibytes(line);
    if (line.starts_with("VmHWM:")) usage.peak_rss_bytes = kibibytes(line);
  }
  return usage;
}

std::optional<Process> find_process(pid_t pid) {
  std::string line;
  std::ifstream file = open_proc(pid, "stat");
  if (!std::getline(file, line)) return std::nullopt;
  // The command's name may hold spaces and brackets, so count from its last bracket.
  const auto opening = line.find('(');
  const auto closing = line.rfind(')');
  if (opening == std::string::npos || closing == std::string::npos) return std::nullopt;

  Process process;
  process.name = line.substr(opening + 1, closing - opening - 1);
  std::istringstream words(line.substr(closing + 1));
  std::string skipped;
  words >> skipped >> process.parent;
  for (int i = 0; i < 9; ++i) words >> skipped;
  double user = 0, system = 0, children_user = 0, children_system = 0;
  words >> user >> system >> children_user >> children_system;
  const auto ticks = static_cast<double>(sysconf(_SC_CLK_TCK));
  process.cpu_seconds = (user + system) / ticks;
  process.children_cpu_seconds = (children_user + children_system) / ticks;
  return process;
}

double machine_cpu_seconds() {
  std::ifstream file("/proc/stat");
  std::string label;
  double user = 0, nice = 0, system = 0, idle = 0, waiting = 0, interrupts = 0, soft_interrupts = 0;
  file >> label >> user >> nice >> system >> idle >> waiting >> interrupts >> soft_interrupts;
  if (!file) throw std::runtime_error("cannot read /proc/stat");
  return (user + nice + system + interrupts + soft_interrupts) /
         static_cast<double>(sysconf(_SC_CLK_TCK));
}

double family_cpu_seconds(pid_t pid) {
  const auto head = find_process(pid);
  if (!head) throw_missing(pid);
  double sum = head->cpu_seconds + head->children_cpu_seconds;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const std::string name = entry.path().filename().string();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    const auto process = find_process(std::atoi(name.c_str()));
    if (process && process->parent == pid)
      sum += process->cpu_seconds + process->children_cpu_seconds;
  }
  return sum;
}

}  // namespace holdpoint::bench
