#pragma once

#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "agents/child_process.h"
#include "agents/runner.h"

namespace holdpoint {

// Cuts what a command prints on standard error into lines and hands them on in small lots.
class ErrorLines {
 public:
  explicit ErrorLines(const TurnContext& context) : context_(context) {}

  void add(std::string_view text);
  void flush();
  void finish();
  const std::deque<std::string>& last() const { return last_; }

 private:
  void end_line();

  const TurnContext& context_;
  std::string line_;
  std::vector<std::string> ready_;
  std::deque<std::string> last_;
  std::size_t count_ = 0;
};

// The exchange with one child, until it has ended; what it left running in its group does not
// count.
class CommandExchange {
 public:
  struct Bounds {
    Duration timeout;
    std::size_t max_output_bytes;
  };
  CommandExchange(ChildProcess& child, std::string input, Bounds bounds, const TurnContext& context)
      : child_(child),
        input_(std::move(input)),
        bounds_(bounds),
        context_(context),
        lines_(context) {}

  struct Said {
    std::string output;
    std::deque<std::string> last_errors;  // The last lines of standard error.
  };
  // Throws TurnFailed, with the whole group killed, if the turn is stopped or a bound is passed.
  Said run();

 private:
  [[noreturn]] void stop(const std::string& reason);
  void pump(Duration longest);
  // Each says whether there was something to read.
  bool read_output();
  bool read_errors();
  void write_input();
  void keep(std::string_view text);

  ChildProcess& child_;
  const std::string input_;
  const Bounds bounds_;
  const TurnContext& context_;
  ErrorLines lines_;
  std::size_t sent_ = 0;
  bool ended_ = false;
  std::string output_;
};

}  // namespace holdpoint
