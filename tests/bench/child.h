#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

#include "instant.h"

namespace holdpoint::bench {

// A forked process that dies with its owner, or with this process.
class Child {
 public:
  explicit Child(pid_t pid) : pid_(pid) {}
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  // Kills it without asking, unless it has ended.
  ~Child();

  pid_t pid() const { return pid_; }
  void send(int signal);

  // How it ended ("exit code 3", "signal 9 (Killed)"), waiting for that until `deadline` at most;
  // nothing while it still runs.
  std::optional<std::string> ended(Instant deadline = {});
  bool ended_well() const { return status_ && *status_ == 0; }

 private:
  pid_t pid_;
  std::optional<int> status_;
};

// To be called first in a forked child: the kernel kills it when the bench itself is gone.
void die_with_parent(pid_t parent);

}  // namespace holdpoint::bench
