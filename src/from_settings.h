#pragma once

#include <map>
#include <string>
#include <vector>

#include "agents/definition.h"
#include "agents/llm/model.h"
#include "domain/limits.h"
#include "flow/notices.h"
#include "http/mcp_desk.h"
#include "net/address_guard.h"
#include "settings/settings.h"
#include "wire/question_json.h"

namespace holdpoint {

// What each part gets of the settings. Those that can find something wrong throw SettingsError, or
// DefinitionError for agents.
Limits limits_from(const Settings& s);
AskDefaults ask_defaults_from(const Settings& s);
std::vector<WebhookSecret> secrets_from(const Settings& s);
AddressGuard guard_from(const Settings& s);
AddressRanges proxies_from(const Settings& s);
// Only looks whether certificate and key can be used.
void check_tls(const Settings& s);
// `address` is where the server listens.
std::string public_url_from(const Settings& s, const std::string& address);
std::string callback_url_from(const Settings& s);
Notices::Options notices_from(const Settings& s, const std::string& public_url);
Addresses addresses_from(const Settings& s);
// The platforms' people who are users here, by channel.
std::map<std::string, std::map<std::string, std::string>> users_from(const Settings& s);
Models models_from(const Settings& s);
// With all that a session may use up, where its agent does not say.
Budget budget_from(const Settings& s);
McpDesk::Options mcp_from(const Settings& s);
std::map<std::string, AgentDefinition> definitions_from(const Settings& s);

}  // namespace holdpoint
