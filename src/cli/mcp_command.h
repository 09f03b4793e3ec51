#pragma once

#include <memory>

namespace CLI {
class App;
}

namespace holdpoint::cli {

// `holdpoint mcp`: for clients that speak MCP over standard input and output alone.
class McpCommand {
 public:
  // Adds it to `app`; both must outlive the parsing.
  explicit McpCommand(CLI::App& app);
  ~McpCommand();

  bool chosen() const;
  // Until standard input ends. Returns the exit code.
  int run();

 private:
  struct Parsed;
  std::unique_ptr<Parsed> parsed_;
};

}  // namespace holdpoint::cli
