#include "from_settings.h"

#include "domain/bad_request.h"
#include "domain/text.h"
#include "http/tls.h"
#include "net/http_client.h"

namespace holdpoint {

Limits limits_from(const Settings& s) {
  Limits limits;
  limits.max_questions = static_cast<std::size_t>(s.limits.max_questions);
  limits.max_options = static_cast<std::size_t>(s.limits.max_options);
  limits.max_context_bytes = static_cast<std::size_t>(s.limits.max_context_bytes);
  limits.max_state_bytes = static_cast<std::size_t>(s.limits.max_state_bytes);
  limits.max_result_bytes = static_cast<std::size_t>(s.limits.max_result_bytes);
  limits.max_messages = static_cast<std::size_t>(s.limits.max_messages);
  limits.max_messages_chars = static_cast<std::size_t>(s.limits.max_messages_chars);
  limits.max_timeout = std::chrono::seconds{s.questions.max_timeout_seconds};
  return limits;
}

AskDefaults ask_defaults_from(const Settings& s) {
  return {std::chrono::seconds{s.questions.timeout_seconds},
          on_timeout_from(s.questions.on_timeout).value()};
}

std::vector<WebhookSecret> secrets_from(const Settings& s) {
  std::vector<WebhookSecret> secrets;
  for (const auto& secret : s.questions.callback_secret) {
    try {
      secrets.push_back(WebhookSecret::parse(secret.reveal()));
    } catch (const BadRequest& e) {
      throw SettingsError(std::string("[questions] callback_secret ") + e.what());
    }
  }
  return secrets;
}

AddressGuard guard_from(const Settings& s) {
  try {
    return AddressGuard(s.outgoing.allow_private);
  } catch (const std::invalid_argument& e) {
    throw SettingsError(std::string("[outgoing] allow_private: ") + e.what());
  }
}

AddressRanges proxies_from(const Settings& s) {
  try {
    return AddressRanges(s.server.trusted_proxies);
  } catch (const std::invalid_argument& e) {
    throw SettingsError(std::string("[server] trusted_proxies: ") + e.what());
  }
}

void check_tls(const Settings& s) {
  try {
    if (!s.server.tls_cert.empty()) TlsContext(s.server.tls_cert, s.server.tls_key);
  } catch (const std::runtime_error& e) {
    throw SettingsError(std::string("[server] ") + e.what());
  }
}

std::string public_url_from(const Settings& s, const std::string& address) {
  if (!s.server.public_url.empty()) return s.server.public_url;
  return (s.server.tls_cert.empty() ? "http://" : "https://") + address;
}

std::string callback_url_from(const Settings& s) {
  const std::string& url = s.questions.callback_url;
  if (!url.empty() && !host_of(url)) {
    throw SettingsError(
        "[questions] callback_url must be an http or https URL with a plain host: no userinfo, no "
        "escapes, other alphabets as xn--…");
  }
  return url;
}

Addresses addresses_from(const Settings& s) {
  Addresses::Options options;
  const auto api_host = [](const std::string& url, const char* section) {
    const auto host = host_of(url);
    if (!host) {
      throw SettingsError(std::string("[") + section +
                          "] api_url must be an http or https URL with a plain host");
    }
    return host;
  };
  if (!s.slack.bot_token.empty()) options.slack = api_host(s.slack.api_url, "slack");
  if (!s.discord.bot_token.empty()) options.discord = api_host(s.discord.api_url, "discord");
  if (!s.email.smtp_url.empty()) options.email = s.email.smtp_url;
  options.slack_channel = s.questions.slack_channel;
  options.discord_channel = s.questions.discord_channel;
  options.email_to = s.questions.email_to;
  options.asks_may_add = s.email.asks_may_add;
  if (s.questions.notify_slack) options.defaults.push_back({"slack", ""});
  if (s.questions.notify_discord) options.defaults.push_back({"discord", ""});
  if (s.questions.notify_email) options.defaults.push_back({"email", ""});
  options.slack_webhook_hosts = s.slack.webhook_hosts;
  // What they say is held to the rules that targets are.
  const auto check = [](const std::string& channel, const std::string& to, const char* key) {
    try {
      if (!to.empty()) parse_target(channel + ":" + to, "");
    } catch (const BadRequest& e) {
      throw SettingsError(std::string("[questions] ") + key + ": " + e.what());
    }
  };
  check("slack", options.slack_channel, "slack_channel");
  check("discord", options.discord_channel, "discord_channel");
  for (const auto& address : options.email_to) check("email", address, "email_to");
  if (!s.email.reply_to.empty() && !is_mail_address(s.email.reply_to)) {
    throw SettingsError("[email] reply_to must be one address, like reply@example.org");
  }
  return Addresses(std::move(options));
}

std::map<std::string, std::map<std::string, std::string>> users_from(const Settings& s) {
  return {{"slack", s.slack.users}, {"discord", s.discord.users}};
}

Notices::Options notices_from(const Settings& s, const std::string& public_url) {
  Notices::Options options;
  options.public_url = public_url;
  if (!s.questions.callback_url.empty()) options.callback_url = callback_url_from(s);
  options.callback_secrets = secrets_from(s);
  options.callback_events = s.questions.callback_events;
  options.addresses = addresses_from(s);
  return options;
}

namespace {

// Which of the two spellings of chat completions it wants.
const Provider& provider_of(const std::string& api, const std::string& host) {
  if (api == "anthropic") return anthropic_messages();
  const bool openai = host == "api.openai.com:443" || host.ends_with(".openai.azure.com:443");
  return openai ? openai_chat_completions() : chat_completions();
}

Models::Service service_from(const Settings::Llm& llm) {
  const auto host = host_of(llm.base_url);
  if (!host || llm.base_url.find_first_of("?#") != std::string::npos) {
    throw SettingsError("[llm." + llm.name +
                        "] base_url must be an http or https URL with a plain host, without a "
                        "query: requests go to what is below it");
  }
  Models::Service service;
  service.name = llm.name;
  service.provider = &provider_of(llm.api, *host);
  service.base_url = llm.base_url;
  service.headers = llm.headers;
  if (!llm.version.empty()) service.headers["anthropic-version"] = Secret(llm.version);
  if (llm.auth == "bearer") {
    service.headers["Authorization"] = Secret("Bearer " + llm.key.reveal());
  } else if (llm.auth == "x-api-key") {
    service.headers["X-Api-Key"] = llm.key;
  }
  service.lacks_key = llm.auth != "none" && llm.key.empty();
  service.aliases = llm.models;
  for (const auto& [model, prices] : llm.prices) {
    // What is not said to be cheaper is not.
    service.prices[model] = {prices.at(0), prices.at(1), prices.size() > 2 ? prices[2] : prices[0]};
  }
  service.timeout = std::chrono::seconds{llm.timeout_seconds};
  service.max_attempts = llm.max_attempts;
  service.max_tokens = llm.max_tokens;
  return service;
}

}  // namespace

Models models_from(const Settings& s) {
  std::vector<Models::Service> services;
  for (const auto& llm : s.llm) services.push_back(service_from(llm));
  return Models(std::move(services));
}

Budget budget_from(const Settings& s) {
  return {s.budgets.steps, s.budgets.tokens, s.budgets.seconds, s.budgets.questions};
}

std::map<std::string, AgentDefinition> definitions_from(const Settings& s) {
  auto definitions =
      load_definitions(s.agents.dir, std::chrono::seconds{s.questions.max_timeout_seconds});
  const Addresses addresses = addresses_from(s);
  const Models models = models_from(s);
  std::string complaints;
  const auto complain = [&](const AgentDefinition& agent, const char* key, const BadRequest& e) {
    complaints += (complaints.empty() ? "" : "\n") +
                  (agent.folder / (agent.name + ".md")).string() + ": " + key + ": " + e.what();
  };
  for (const auto& [name, agent] : definitions) {
    for (const auto& target : agent.channels) {
      try {
        if (target.channel == "url" && !agent.question_callback &&
            s.questions.callback_url.empty()) {
          throw BadRequest("", "url needs a question_callback, or [questions] callback_url");
        }
        addresses.of(target, "");
      } catch (const BadRequest& e) {
        complain(agent, "channels", e);
      }
    }
    try {
      if (agent.runner == RunnerKind::llm) models.find(agent.model);
    } catch (const BadRequest& e) {
      complain(agent, "model", e);
    }
  }
  if (!complaints.empty()) throw DefinitionError(complaints);
  return definitions;
}

McpDesk::Options mcp_from(const Settings& s) {
  McpDesk::Options options;
  options.wait = std::chrono::seconds{s.mcp.wait_seconds};
  options.permission_wait = std::chrono::seconds{s.mcp.permission_wait_seconds};
  for (const auto& origin : s.mcp.allowed_origins) {
    options.allowed_origins.push_back(lower_case(origin));
  }
  for (const auto& host : s.mcp.allowed_hosts) options.allowed_hosts.push_back(lower_case(host));
  options.kept_for = std::chrono::days{s.sessions.retention_days};
  options.test_tools = s.mcp.test_tools;
  options.version = HOLDPOINT_VERSION;
  return options;
}

}  // namespace holdpoint
