#include "cli/mcp_command.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>
#include <iostream>

#include "cli/mcp_bridge.h"
#include "wire/form.h"

namespace holdpoint::cli {

struct McpCommand::Parsed {
  std::string server = "http://127.0.0.1:8080", key, agent;
  CLI::App* command = nullptr;
};

McpCommand::McpCommand(CLI::App& app) : parsed_(std::make_unique<Parsed>()) {
  Parsed& p = *parsed_;
  if (const char* server = std::getenv("HOLDPOINT_SERVER"); server && *server) p.server = server;
  if (const char* key = std::getenv("HOLDPOINT_KEY"); key && *key) p.key = key;
  p.command = app.add_subcommand(
      "mcp", "Speak MCP on standard input and output, for clients that cannot do HTTP");
  p.command
      ->add_option("--server", p.server,
                   "Where the server is; without it what HOLDPOINT_SERVER says")
      ->capture_default_str();
  p.command->add_option("--agent", p.agent, "The agent whose questions these are; without it mcp");
}

McpCommand::~McpCommand() = default;

bool McpCommand::chosen() const { return parsed_->command->parsed(); }

int McpCommand::run() {
  Parsed& p = *parsed_;
  while (p.server.ends_with('/')) p.server.pop_back();
  const std::string url =
      p.server + "/mcp" + (p.agent.empty() ? "" : "?agent=" + escape_url(p.agent));
  if (!host_of(url)) {
    std::fprintf(stderr, "holdpoint: --server must be a URL like http://127.0.0.1:8080, not %s\n",
                 p.server.c_str());
    return 2;
  }
  // People name the server themselves, so any address will do.
  const auto http = make_http_client(AddressGuard({"0.0.0.0/0", "::/0"}));
  McpLink link(*http, url, p.key);
  McpBridge bridge(link, [](const std::string& line) {
    std::fwrite(line.data(), 1, line.size(), stdout);
    std::fputc('\n', stdout);
    std::fflush(stdout);
  });
  for (std::string line; std::getline(std::cin, line);) bridge.take(line);
  // Clients end us so, and some then wait two seconds. What can be answered at once still is.
  bridge.stop(std::chrono::milliseconds{500});
  return 0;
}

}  // namespace holdpoint::cli
