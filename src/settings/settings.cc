#include "settings/settings.h"

#include <algorithm>
#include <charconv>
#include <set>

#include "settings/reader.h"

namespace holdpoint {
namespace {

// Whether only this machine can reach it.
bool is_loopback(const std::string& listen) {
  const std::string host = listen.substr(0, listen.rfind(':'));
  return host == "localhost" || host == "[::1]" || host == "::1" ||
         (host.starts_with("127.") && host.find_first_not_of("0123456789.") == std::string::npos);
}

void read_server(Reader& in, Settings& s) {
  s.server.listen = in.text("server", "listen");
  const auto colon = s.server.listen.rfind(':');
  int port = -1;
  if (colon != std::string::npos && colon > 0) {
    const char* end = s.server.listen.data() + s.server.listen.size();
    const auto [stop, error] = std::from_chars(s.server.listen.data() + colon + 1, end, port);
    if (error != std::errc{} || stop != end) port = -1;
  }
  if (port < 0 || port > 65535) {
    in.complain("server", "listen", "must be an address and a port, like 127.0.0.1:8080");
  }
  s.server.public_url = in.text("server", "public_url");
  while (s.server.public_url.ends_with('/')) s.server.public_url.pop_back();
  if (!s.server.public_url.empty() && !s.server.public_url.starts_with("http://") &&
      !s.server.public_url.starts_with("https://")) {
    in.complain("server", "public_url", "must begin with http:// or https://");
  }
  s.server.http_threads = in.number("server", "http_threads", 16, 100'000);
  s.server.loopback = is_loopback(s.server.listen);
  const std::string cert = in.text("server", "tls_cert");
  const std::string key = in.text("server", "tls_key");
  if (cert.empty() != key.empty()) {
    in.complain("server", cert.empty() ? "tls_key" : "tls_cert",
                "needs the other: tls_cert and tls_key go together");
  }
  if (!cert.empty()) s.server.tls_cert = in.folder() / cert;
  if (!key.empty()) s.server.tls_key = in.folder() / key;
  s.server.trusted_proxies = in.texts("server", "trusted_proxies");
  s.server.insecure_http = in.flag("server", "insecure_http");
}

void read_database(Reader& in, Settings& s) {
  const std::string url = in.address("database", "url").reveal();
  constexpr std::string_view prefix = "sqlite:";
  if (url.starts_with("postgres://") || url.starts_with("postgresql://")) {
    s.database.postgres_url = Secret(url);
    s.database.name = hide_password(url);
  } else if (url.starts_with(prefix) && url.size() > prefix.size()) {
    s.database.sqlite_path = in.folder() / url.substr(prefix.size());
    s.database.name = s.database.sqlite_path.string();
  } else if (!url.empty()) {
    in.complain("database", "url",
                "must be sqlite: and a path, like sqlite:holdpoint.db, or "
                "postgres://user@host:5432/name");
  }
  s.database.connections = in.number("database", "connections", 2, 1000);
}

void read_questions(Reader& in, Settings& s) {
  auto& q = s.questions;
  q.max_timeout_seconds = in.number("questions", "max_timeout_seconds", 1, 31'536'000);
  q.timeout_seconds = in.number("questions", "timeout_seconds", 1, 31'536'000);
  if (q.timeout_seconds > q.max_timeout_seconds) {
    in.complain("questions", "timeout_seconds", "must not be more than max_timeout_seconds");
  }
  q.on_timeout = in.text("questions", "on_timeout");
  if (q.on_timeout != "fail" && q.on_timeout != "default" && q.on_timeout != "continue") {
    in.complain("questions", "on_timeout", "must be fail, default or continue");
  }
  q.callback_url = in.text("questions", "callback_url");
  if (!q.callback_url.empty() && !q.callback_url.starts_with("http://") &&
      !q.callback_url.starts_with("https://")) {
    in.complain("questions", "callback_url", "must begin with http:// or https://");
  }
  q.callback_secret = in.secrets("questions", "callback_secret");
  if (q.callback_secret.size() > 2) {
    in.complain("questions", "callback_secret", "has at most two: the new and the old one");
  }
  q.callback_events = in.texts("questions", "callback_events");
  static const std::set<std::string> known{"question_pending",  "question_settled",
                                           "session_completed", "session_failed",
                                           "session_cancelled", "card_posted"};
  for (const auto& event : q.callback_events) {
    if (!known.count(event)) {
      in.complain("questions", "callback_events", "has no event \"" + event + "\"");
    }
  }
}

void read_limits(Reader& in, Settings& s) {
  constexpr std::int64_t kMost = std::int64_t{1} << 30;
  s.limits.max_questions = in.number("limits", "max_questions", 1, 4);
  s.limits.max_options = in.number("limits", "max_options", 2, 25);
  s.limits.max_body_bytes = in.number("limits", "max_body_bytes", 1024, kMost);
  s.limits.max_state_bytes = in.number("limits", "max_state_bytes", 1024, kMost);
  s.limits.max_result_bytes = in.number("limits", "max_result_bytes", 1024, kMost);
  s.limits.max_context_bytes = in.number("limits", "max_context_bytes", 2, kMost);
  s.limits.max_reply_bytes = in.number("limits", "max_reply_bytes", 1024, kMost);
  s.limits.max_messages = in.number("limits", "max_messages", 1, 1'000'000);
  s.limits.max_messages_chars = in.number("limits", "max_messages_chars", 1024, kMost);
  s.limits.max_headers = in.number("limits", "max_headers", 10, 1000);
  s.limits.max_header_bytes = in.number("limits", "max_header_bytes", 1024, 1 << 20);
  s.limits.head_deadline_seconds = in.number("limits", "head_deadline_seconds", 1, 600);
  s.limits.body_deadline_seconds = in.number("limits", "body_deadline_seconds", 1, 3600);
  s.limits.max_connections_per_address =
      in.number("limits", "max_connections_per_address", 1, 100'000);
  s.limits.requests_per_key_per_second =
      in.number("limits", "requests_per_key_per_second", 1, 1'000'000);
  s.limits.wrong_credentials_per_minute =
      in.number("limits", "wrong_credentials_per_minute", 1, 1'000'000);
}

void read_auth(Reader& in, Settings& s) {
  s.auth.login_hours = in.number("auth", "login_hours", 1, 8760);
  s.auth.proxy_user_header = in.text("auth", "proxy_user_header");
  s.auth.proxy_role = in.text("auth", "proxy_role");
  const auto& role = s.auth.proxy_role;
  if (!role.empty() && role != "viewer" && role != "answerer" && role != "admin") {
    in.complain("auth", "proxy_role", "must be viewer, answerer, admin or empty");
  }
  if (!s.auth.proxy_user_header.empty() && s.server.trusted_proxies.empty()) {
    in.complain("auth", "proxy_user_header",
                "needs [server] trusted_proxies: from anybody else it would be a lie");
  }
}

void read_mcp(Reader& in, Settings& s) {
  s.mcp.wait_seconds = in.number("mcp", "wait_seconds", 0, 3600);
  s.mcp.permission_wait_seconds = in.number("mcp", "permission_wait_seconds", 1, 86'400);
  s.mcp.allowed_origins = in.texts("mcp", "allowed_origins");
  for (const auto& origin : s.mcp.allowed_origins) {
    const auto start = origin.find("://");
    const bool plain =
        start != std::string::npos && origin.find_first_of("/?#", start + 3) == std::string::npos;
    if (!plain) {
      in.complain("mcp", "allowed_origins",
                  "must be like \"https://app.example.org\": no path, no slash at the end");
    }
  }
  s.mcp.allowed_hosts = in.texts("mcp", "allowed_hosts");
  s.mcp.test_tools = in.flag("mcp", "test_tools");
}

}  // namespace

Settings load_settings(const std::optional<std::filesystem::path>& file,
                       const Environment& environment) {
  Reader in(file, environment);
  Settings s;
  read_server(in, s);
  read_database(in, s);
  s.agents.dir = in.folder() / in.text("agents", "dir");
  s.agents.workers = in.number("agents", "workers", 1, 10'000);
  s.agents.turn_timeout_seconds = in.number("agents", "turn_timeout_seconds", 1, 86'400);
  s.agents.lease_seconds = in.number("agents", "lease_seconds", 5, 3600);
  s.agents.max_attempts = in.number("agents", "max_attempts", 1, 1000);
  read_questions(in, s);
  s.sessions.retention_days = in.number("sessions", "retention_days", 1, 36'500);
  read_limits(in, s);
  s.outgoing.allow_private = in.texts("outgoing", "allow_private");
  read_auth(in, s);
  read_mcp(in, s);
  read_slack(in, s);
  read_discord(in, s);
  read_email(in, s);
  read_models(in, s);
  in.finish();
  s.shown = in.take_shown();
  return s;
}

}  // namespace holdpoint
