#pragma once

#include <memory>

namespace CLI {
class App;
}

namespace holdpoint::cli {

// The subcommands that talk to a running server: trigger, questions, answer, session, deliveries,
// link, ask, wait, inbox.
class Commands {
 public:
  // Adds them to `app`; both must outlive the parsing.
  explicit Commands(CLI::App& app);
  ~Commands();
  // For a line that did not parse: scripts tell by it that `ask` was typed wrong.
  int exit_code_of_wrong_line() const;
  // Runs the one that was typed. Returns the exit code.
  int run();

 private:
  struct Parsed;
  std::unique_ptr<Parsed> parsed_;
};

}  // namespace holdpoint::cli
