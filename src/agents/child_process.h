#pragma once

#include <sys/types.h>

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace holdpoint {

// A program in its own process group, with pipes to its three streams. Destroying it kills the
// group and reaps the child.
class ChildProcess {
 public:
  // Its environment is ours with these on top. Throws std::runtime_error if the program cannot be
  // started.
  ChildProcess(const std::vector<std::string>& command, const std::filesystem::path& folder,
               const std::map<std::string, std::string>& environment = {});
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;

  // Non-blocking; -1 once closed.
  int input() const { return input_; }
  int output() const { return output_; }
  int errors() const { return errors_; }
  // Readable once the child has ended.
  int ended() const { return ended_; }
  void close_input();
  void close_output();
  void close_errors();

  // Kills the whole group, and waits for the child. How it ended: "exit code 3", "signal 9".
  void kill_group();
  struct End {
    bool clean = false;
    std::string how;
  };
  End wait();

 private:
  pid_t pid_ = -1;
  bool reaped_ = false;
  int status_ = 0;
  int input_ = -1;
  int output_ = -1;
  int errors_ = -1;
  int ended_ = -1;
};

}  // namespace holdpoint
