#pragma once

#include <memory>

namespace CLI {
class App;
}

namespace holdpoint {

// channels: which of them are set up, and whether they work. Needs the settings alone, no server.
class ChannelCommands {
 public:
  // Adds them to `app`; both must outlive the parsing.
  explicit ChannelCommands(CLI::App& app);
  ~ChannelCommands();

  bool chosen() const;
  // Runs the one that was typed. Returns the exit code.
  int run();

 private:
  struct Parsed;
  std::unique_ptr<Parsed> parsed_;
};

}  // namespace holdpoint
