#pragma once

#include <doctest/doctest.h>
#include <signal.h>

#include <cerrno>
#include <fstream>
#include <iterator>
#include <thread>

#include "agents/command_runner.h"
#include "tests/support/temp_dir.h"

namespace holdpoint::test {

using namespace std::chrono_literals;

// As the server does: writing to a command that does not read must not kill us.
inline const auto kOldPipeAction = signal(SIGPIPE, SIG_IGN);

inline std::string read_file(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// True as soon as `condition` is; false if it is not for a long time.
template <class F>
bool eventually(F&& condition) {
  const auto deadline = std::chrono::steady_clock::now() + 20s;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::sleep_for(2ms);
  }
  return true;
}

// Dead and buried, or dead and waiting for init to bury it.
inline bool is_dead(pid_t pid) {
  if (kill(pid, 0) != 0 && errno == ESRCH) return true;
  const std::string stat = read_file("/proc/" + std::to_string(pid) + "/stat");
  const auto name_end = stat.rfind(')');
  return name_end != std::string::npos && stat.substr(name_end + 2, 1) == "Z";
}

// One agent in its own folder.
class Command {
 public:
  Command() {
    agent.name = "test";
    agent.runner = RunnerKind::command;
    agent.folder = dir.path();
    request.session_id = SessionId("s-1");
    request.agent_name = "test";
    request.payload = "{}";
    context.timeout = 30s;
    context.cancelled = [] { return false; };
    context.on_output = [this](std::vector<std::string> some) {
      lines.insert(lines.end(), some.begin(), some.end());
    };
  }

  std::string run(const std::string& script) {
    agent.command = {"/bin/sh", "-c", script};
    return CommandRunner().run(agent, request, context);
  }
  // Why the turn failed; empty if it did not.
  std::string failure_of(const std::string& script) {
    try {
      run(script);
    } catch (const TurnFailed& e) {
      CHECK(e.retryable());
      return e.what();
    }
    return "";
  }
  bool has_file(const std::string& name) const { return !read_file(dir.path() / name).empty(); }
  pid_t pid_in(const std::string& name) const { return std::stoi(read_file(dir.path() / name)); }

  TempDir dir;
  AgentDefinition agent;
  TurnRequest request;
  TurnContext context;
  std::vector<std::string> lines;
};

}  // namespace holdpoint::test
