#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/secret.h"

namespace holdpoint {

// All that is wrong with the settings, a line each.
class SettingsError : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

// What settings.example.toml, the user's file and the environment say, in that order. Paths are
// absolute, secrets looked up.
struct Settings {
  struct {
    std::string listen;
    std::string public_url;  // Empty: from `listen`.
    std::int64_t http_threads;
    std::filesystem::path tls_cert;  // Empty: no TLS.
    std::filesystem::path tls_key;
    std::vector<std::string> trusted_proxies;
    bool insecure_http;
    bool loopback;  // `listen` is an address of this machine alone.
  } server;
  struct {
    std::filesystem::path sqlite_path;  // Empty: PostgreSQL.
    Secret postgres_url;
    std::string name;  // Of either, without a password.
    std::int64_t connections;
  } database;
  struct {
    std::filesystem::path dir;
    std::int64_t workers;
    std::int64_t turn_timeout_seconds;
    std::int64_t lease_seconds;
    std::int64_t max_attempts;
  } agents;
  struct {
    std::int64_t timeout_seconds;
    std::int64_t max_timeout_seconds;
    std::string on_timeout;
    std::string callback_url;  // Empty: none.
    std::vector<Secret> callback_secret;
    std::vector<std::string> callback_events;
    bool notify_slack;  // Where agents' questions go that name no channels.
    std::string slack_channel;
    bool notify_discord;
    std::string discord_channel;
    bool notify_email;
    std::vector<std::string> email_to;
  } questions;
  struct {
    std::int64_t retention_days;
  } sessions;
  struct {
    std::int64_t max_questions;
    std::int64_t max_options;
    std::int64_t max_body_bytes;
    std::int64_t max_state_bytes;
    std::int64_t max_result_bytes;
    std::int64_t max_context_bytes;
    std::int64_t max_reply_bytes;
    std::int64_t max_messages;
    std::int64_t max_messages_chars;
    std::int64_t max_headers;
    std::int64_t max_header_bytes;
    std::int64_t head_deadline_seconds;
    std::int64_t body_deadline_seconds;
    std::int64_t max_connections_per_address;
    std::int64_t requests_per_key_per_second;
    std::int64_t wrong_credentials_per_minute;
  } limits;
  struct {
    std::vector<std::string> allow_private;
  } outgoing;
  struct {
    std::int64_t login_hours;
    std::string proxy_user_header;  // Empty: proxies vouch for nobody.
    std::string proxy_role;         // Empty: only for users who are known here.
  } auth;
  struct {
    std::int64_t wait_seconds;
    std::int64_t permission_wait_seconds;
    std::vector<std::string> allowed_origins;
    std::vector<std::string> allowed_hosts;
    bool test_tools;
  } mcp;
  // The platforms' people who are users here, by the platform's id.
  using Users = std::map<std::string, std::string>;
  struct {
    Secret bot_token;       // Empty: no Slack.
    Secret signing_secret;  // Empty: /slack/interactions takes nothing.
    Secret app_token;       // Empty: no Socket Mode.
    std::string api_url;    // Without a slash at the end, like the other one.
    std::vector<std::string> webhook_hosts;
    Users users;
  } slack;
  struct {
    Secret bot_token;        // Empty: no Discord.
    std::string public_key;  // In hex; empty: /discord/interactions takes nothing.
    std::string api_url;
    Users users;
  } discord;
  struct {
    std::string smtp_url;  // Empty: no mail.
    std::string smtp_user;
    Secret smtp_password;
    bool smtp_tls;         // STARTTLS is a must.
    std::string from;      // `Name <address>`, or an address.
    std::string reply_to;  // Empty: replies are not read.
    std::string imap_url;  // Empty: no mailbox is read.
    std::string imap_user;
    Secret imap_password;
    bool imap_tls;
    std::string imap_folder;
    std::vector<std::string> asks_may_add;  // Addresses and domains.
    std::vector<Secret> inbound_secret;     // None: /email/inbound takes nothing.
    std::filesystem::path ca_file;          // Empty: the system's.
  } email;
  // What one session of a model agent may use up.
  struct {
    std::int64_t steps;
    std::int64_t tokens;
    std::int64_t seconds;
    std::int64_t questions;
  } budgets;
  // Who serves models: one [llm.<name>].
  struct Llm {
    std::string name;
    std::string api;                                    // anthropic or openai.
    std::string base_url;                               // Without a slash at the end.
    Secret key;                                         // Empty: off, unless `auth` is none.
    std::string auth;                                   // bearer, x-api-key or none.
    std::string version;                                // Empty: none is said.
    std::map<std::string, std::string> models;          // By alias.
    std::map<std::string, std::vector<double>> prices;  // Two or three, as the example says.
    std::map<std::string, Secret> headers;
    std::int64_t timeout_seconds;
    std::int64_t max_attempts;
    std::int64_t max_tokens;
  };
  std::vector<Llm> llm;

  // Every setting as it counts, a line each, with secrets as ***.
  std::vector<std::string> shown;
};

// The environment's variables by name.
using Environment = std::map<std::string, std::string>;

// Throws SettingsError.
Settings load_settings(const std::optional<std::filesystem::path>& file,
                       const Environment& environment);

}  // namespace holdpoint
