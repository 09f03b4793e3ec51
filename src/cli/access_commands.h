#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "cli/client.h"

namespace CLI {
class App;
}

namespace holdpoint::cli {

// keys, users and audit: on the database itself while no server has it, else through that server.
class AccessCommands {
 public:
  // Adds them to `app`; both must outlive the parsing.
  explicit AccessCommands(CLI::App& app);
  ~AccessCommands();

  bool chosen() const;
  const std::optional<std::filesystem::path>& settings() const;

  // The database as a server without a network. Throws DatabaseInUse.
  using OpenDatabase = std::function<std::unique_ptr<Server>()>;
  // Runs the one that was typed; `running` is where the server that has the database would be.
  // Returns the exit code.
  int run(const OpenDatabase& open, const std::string& running);

 private:
  struct Parsed;
  std::unique_ptr<Parsed> parsed_;
};

}  // namespace holdpoint::cli
