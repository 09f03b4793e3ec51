#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "child.h"
#include "socket.h"

namespace holdpoint::bench {

// The real binary on a fresh folder, with one agent named `bench`. The constructor returns when it
// listens; what goes wrong throws std::runtime_error with the end of the server's log.
class ServerProcess {
 public:
  ServerProcess(const std::filesystem::path& binary, std::filesystem::path dir, int agent_port,
                const std::string& database_url);

  const Endpoint& endpoint() const { return endpoint_; }
  pid_t pid() const { return child_->pid(); }

  // SIGTERM, then waits. Throws when it does not leave in time, or leaves with an error.
  void stop();

  // `problem`, with how the server ended if it did, and the last lines of its log.
  std::string explain(const std::string& problem);

 private:
  void await_listening();
  std::filesystem::path log_path() const { return dir_ / "server.log"; }

  std::filesystem::path dir_;
  std::unique_ptr<Child> child_;
  Endpoint endpoint_;
};

}  // namespace holdpoint::bench
