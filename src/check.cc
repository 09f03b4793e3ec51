#include <cstdio>

#include "database.h"
#include "from_settings.h"
#include "load.h"
#include "platforms.h"
#include "serve.h"

namespace holdpoint {

namespace {

// The services that can be asked, and what their models are called here.
void show_models(const Settings& settings) {
  for (const auto& llm : settings.llm) {
    if (llm.auth != "none" && llm.key.empty()) continue;
    std::string aliases;
    for (const auto& [alias, name] : llm.models) {
      aliases += (aliases.empty() ? "" : ", ") + alias + " = " + name;
    }
    std::printf("models of %s at %s: %s\n", llm.name.c_str(), llm.base_url.c_str(),
                aliases.empty() ? "no aliases" : aliases.c_str());
  }
}

}  // namespace

int check(const std::optional<std::filesystem::path>& settings_file) {
  const Settings settings = read_settings(settings_file);
  check_database(settings);
  proxies_from(settings);
  secrets_from(settings);
  callback_url_from(settings);
  addresses_from(settings);
  check_tls(settings);
  const auto client = make_http_client(guard_from(settings));
  [[maybe_unused]] const Platforms platforms(settings, *client, "", {});
  const auto definitions = definitions_from(settings);
  std::printf("settings are fine: listen %s, database %s\n", settings.server.listen.c_str(),
              settings.database.name.c_str());
  for (const auto& line : settings.shown) std::printf("  %s\n", line.c_str());
  show_models(settings);
  for (const auto& [name, agent] : definitions) {
    std::printf("agent %s: %s%s%s%s\n", name.c_str(), std::string(to_text(agent.runner)).c_str(),
                agent.model.empty() ? "" : (" with " + agent.model).c_str(),
                agent.async_questions ? ", may ask" : "",
                agent.question_callback ? ", has a callback" : "");
  }
  if (definitions.empty()) {
    std::printf("no agents: put <name>.md files into %s\n", settings.agents.dir.c_str());
  }
  return 0;
}

}  // namespace holdpoint
