#pragma once

#include <memory>

namespace CLI {
class App;
}

namespace holdpoint::cli {

// The subcommands that talk to a running server: trigger, questions, answer, session, deliveries,
// link.
class Commands {
 public:
  // Adds them to `app`; both must outlive the parsing.
  explicit Commands(CLI::App& app);
  ~Commands();
  // Runs the one that was typed. Returns the exit code.
  int run();

 private:
  struct Parsed;
  std::unique_ptr<Parsed> parsed_;
};

}  // namespace holdpoint::cli
