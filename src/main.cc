#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <optional>

#include "agents/definition.h"
#include "channel_commands.h"
#include "cli/access_commands.h"
#include "cli/commands.h"
#include "cli/mcp_command.h"
#include "load.h"
#include "offline.h"
#include "serve.h"
#include "settings/settings.h"
#include "store/database.h"
#include "store_commands.h"

namespace {

// Exit codes: 0 done, 1 it did not work, 2 what was typed or configured is wrong.
int run(int argc, char** argv) {
  using namespace holdpoint;
  CLI::App app{
      "Holdpoint runs agents that webhooks start, parks them durably when they need a person, and "
      "goes on "
      "when the answer comes."};
  app.name("holdpoint");
  app.require_subcommand(0, 1);
  app.set_version_flag("--version", "holdpoint " HOLDPOINT_VERSION);
  app.footer(
      "Examples:\n"
      "  holdpoint serve --settings settings.toml\n"
      "  holdpoint trigger write-poem '{\"topic\":\"love\"}' --wait 10\n"
      "  holdpoint answer SESSION haiku --by ana\n"
      "  holdpoint ask 'Deploy to production?' --option Yes --option No --timeout 30m\n"
      "Exit codes: 0 done, 1 it did not work, 2 what was typed or configured is wrong; "
      "`ask` and `wait` have their own.");

  std::optional<std::filesystem::path> settings;
  const auto add_settings = [&](CLI::App* command) {
    command
        ->add_option("--settings", settings,
                     "TOML file; without it the defaults and HOLDPOINT_… variables count")
        ->check(CLI::ExistingFile);
  };
  auto* serve_command = app.add_subcommand("serve", "Run the server");
  add_settings(serve_command);
  auto* check_command =
      app.add_subcommand("check", "Check settings and agents without starting anything");
  add_settings(check_command);
  auto* version_command = app.add_subcommand("version", "Print the version");
  bool version_json = false;
  version_command->add_flag("--json", version_json, "As JSON");
  cli::Commands commands(app);
  cli::AccessCommands access(app);
  cli::McpCommand mcp(app);
  StoreCommands store(app);
  ChannelCommands channels(app);

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    const int code = app.exit(e);
    return code == 0 ? 0 : commands.exit_code_of_wrong_line();
  }
  if (*serve_command) return serve(settings);
  if (*check_command) return check(settings);
  if (*version_command) {
    std::printf(version_json ? "{\"version\":\"%s\"}\n" : "holdpoint %s\n", HOLDPOINT_VERSION);
    return 0;
  }
  if (app.get_subcommands().empty()) {
    std::fprintf(stderr, "%s", app.help().c_str());
    return 2;
  }
  if (mcp.chosen()) return mcp.run();
  if (store.chosen()) return store.run();
  if (channels.chosen()) return channels.run();
  if (access.chosen()) {
    const Settings known = read_settings(access.settings());
    return access.run([&] { return open_offline(known); }, address_of(known));
  }
  return commands.run();
}

}  // namespace

int main(int argc, char** argv) {
  const auto complain = [](const char* what, const std::exception& e) {
    std::fprintf(stderr, "holdpoint: %s%s\n", what, e.what());
  };
  try {
    return run(argc, argv);
  } catch (const holdpoint::SettingsError& e) {
    complain("the settings are wrong:\n", e);
    return 2;
  } catch (const holdpoint::DefinitionError& e) {
    complain("agents are wrong:\n", e);
    return 2;
  } catch (const std::exception& e) {
    complain("", e);
    return 1;
  }
}
