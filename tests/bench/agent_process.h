#pragma once

#include "child.h"
#include "socket.h"

namespace holdpoint::bench {

// The bench's agent, as an HTTP server in a process of its own. Construct it before this process
// has threads.
class AgentProcess {
 public:
  AgentProcess();

  int port() const { return port_; }
  pid_t pid() const { return child_.pid(); }

 private:
  int port_ = 0;
  Child child_;
};

}  // namespace holdpoint::bench
