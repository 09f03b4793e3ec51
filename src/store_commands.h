#pragma once

#include <memory>

namespace CLI {
class App;
}

namespace holdpoint {

// store: the database as a whole.
class StoreCommands {
 public:
  // Adds them to `app`; both must outlive the parsing.
  explicit StoreCommands(CLI::App& app);
  ~StoreCommands();

  bool chosen() const;
  // Runs the one that was typed. Returns the exit code.
  int run();

 private:
  struct Parsed;
  std::unique_ptr<Parsed> parsed_;
};

}  // namespace holdpoint
