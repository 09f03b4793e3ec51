#include "from_settings.h"

#include "domain/bad_request.h"
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

Notices::Options notices_from(const Settings& s, const std::string& public_url) {
  Notices::Options options;
  options.public_url = public_url;
  if (!s.questions.callback_url.empty()) options.callback_url = callback_url_from(s);
  options.callback_secrets = secrets_from(s);
  options.callback_events = s.questions.callback_events;
  return options;
}

std::map<std::string, AgentDefinition> definitions_from(const Settings& s) {
  return load_definitions(s.agents.dir, std::chrono::seconds{s.questions.max_timeout_seconds});
}

}  // namespace holdpoint
