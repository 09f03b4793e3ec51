#include "settings/settings.h"

#include <toml++/toml.h>

#include <algorithm>
#include <charconv>
#include <set>
#include <sstream>

#include "base/embedded.h"
#include "base/secret.h"

namespace holdpoint {
namespace {

// toml++ recurses as deep as a key has dots: a file of 64 KiB can end the stack.
constexpr std::uintmax_t kMaxFileBytes = 32768;

// Looks every value up in the environment, the file and the defaults, and gathers what is wrong.
class Reader {
 public:
  Reader(const std::optional<std::filesystem::path>& file, const Environment& environment)
      : environment_(environment), defaults_(toml::parse(embedded::settings_example_toml)) {
    folder_ = std::filesystem::current_path();
    refuse_unknown_variables();
    if (!file) return;
    name_ = file->string();
    folder_ = std::filesystem::absolute(*file).parent_path();
    std::error_code unknown;  // The parser complains of a file that is not there.
    const auto size = std::filesystem::file_size(*file, unknown);
    if (!unknown && size > kMaxFileBytes) {
      throw SettingsError(name_ + ": has more than " + std::to_string(kMaxFileBytes) + " bytes");
    }
    try {
      given_ = toml::parse_file(file->string());
    } catch (const toml::parse_error& e) {
      std::ostringstream where;
      where << name_ << ":" << e.source().begin.line << ": " << e.description();
      throw SettingsError(where.str());
    }
    refuse_unknown();
  }

  const std::filesystem::path& folder() const { return folder_; }
  void complain(const std::string& what) { complaints_.push_back(what); }

  // Says which key of which file is wrong, and the line if it has one.
  void complain(const char* section, const char* key, const std::string& what) {
    std::string where;
    if (const auto* node = given_[section][key].node(); node && !from_environment(section, key)) {
      where = name_ + ":" + std::to_string(node->source().begin.line) + ": ";
    }
    complaints_.push_back(where + "[" + section + "] " + key + " " + what);
  }

  std::string text(const char* section, const char* key) {
    std::string value = read_text(section, key);
    show(section, key, "\"" + value + "\"");
    return value;
  }

  bool flag(const char* section, const char* key) {
    bool value = false;
    if (const auto given = from_environment(section, key)) {
      value = *given == "true";
      if (!value && *given != "false") complain(section, key, "must be true or false");
    } else if (const auto* node = find(section, key).as_boolean()) {
      value = node->get();
    } else {
      complain(section, key, "must be true or false");
    }
    show(section, key, value ? "true" : "false");
    return value;
  }

  std::int64_t number(const char* section, const char* key, std::int64_t least, std::int64_t most) {
    std::int64_t value = least;
    if (const auto given = from_environment(section, key)) {
      const char* end = given->data() + given->size();
      const auto [stop, error] = std::from_chars(given->data(), end, value);
      if (error != std::errc{} || stop != end) complain(section, key, "must be a whole number");
    } else if (const auto* node = find(section, key).as_integer()) {
      value = node->get();
    } else {
      complain(section, key, "must be a whole number");
      return least;
    }
    show(section, key, std::to_string(value));
    if (value < least || value > most) {
      complain(section, key,
               "must be from " + std::to_string(least) + " to " + std::to_string(most));
    }
    return value;
  }

  // A list of texts, or one text; from the environment separated by commas.
  std::vector<std::string> texts(const char* section, const char* key) {
    const auto values = read_texts(section, key);
    std::string all;
    for (const auto& value : values) all += (all.empty() ? "\"" : ", \"") + value + "\"";
    show(section, key, "[" + all + "]");
    return values;
  }
  std::vector<Secret> secrets(const char* section, const char* key) {
    std::vector<Secret> values;
    std::string all;
    for (const auto& text : read_texts(section, key)) {
      try {
        values.push_back(read_secret(text, folder_));
      } catch (const std::runtime_error& e) {
        complain(section, key, e.what());
      }
      all += all.empty() ? "***" : ", ***";
    }
    show(section, key, "[" + all + "]");
    return values;
  }

  Secret secret(const char* section, const char* key) {
    const std::string given = read_text(section, key);
    show(section, key, given.empty() ? "\"\"" : "***");
    try {
      return given.empty() ? Secret() : read_secret(given, folder_);
    } catch (const std::runtime_error& e) {
      complain(section, key, e.what());
    }
    return Secret();
  }

  // A URL that may hold a password, and may stand elsewhere because of it.
  Secret address(const char* section, const char* key) {
    const std::string given = read_text(section, key);
    show(section, key, "\"" + hide_password(given) + "\"");
    try {
      return read_secret(given, folder_);
    } catch (const std::runtime_error& e) {
      complain(section, key, e.what());
    }
    return Secret();
  }

  std::vector<std::string> take_shown() { return std::move(shown_); }

  void finish() {
    if (complaints_.empty()) return;
    std::string all;
    for (const auto& line : complaints_) all += (all.empty() ? "" : "\n") + line;
    throw SettingsError(all);
  }

 private:
  void show(const char* section, const char* key, const std::string& value) {
    shown_.push_back(std::string("[") + section + "] " + key + " = " + value);
  }

  std::string read_text(const char* section, const char* key) {
    if (auto given = from_environment(section, key)) return *given;
    if (const auto* node = find(section, key).as_string()) return node->get();
    complain(section, key, "must be a text");
    return "";
  }

  std::vector<std::string> read_texts(const char* section, const char* key) {
    std::vector<std::string> values;
    if (const auto given = from_environment(section, key)) {
      std::istringstream in(*given);
      for (std::string part; std::getline(in, part, ',');) {
        if (!part.empty()) values.push_back(part);
      }
      return values;
    }
    const auto view = find(section, key);
    if (const auto* one = view.as_string()) {
      if (!one->get().empty()) values.push_back(one->get());
      return values;
    }
    const auto* list = view.as_array();
    if (!list) complain(section, key, "must be a list of texts");
    for (std::size_t i = 0; list && i < list->size(); ++i) {
      if (const auto* item = list->get(i)->as_string()) {
        values.push_back(item->get());
      } else {
        complain(section, key, "must be a list of texts");
      }
    }
    return values;
  }

  std::optional<std::string> from_environment(const char* section, const char* key) const {
    const auto it = environment_.find(variable(section, key));
    return it == environment_.end() ? std::nullopt : std::optional(it->second);
  }

  toml::node_view<const toml::node> find(const char* section, const char* key) const {
    const toml::table& given = given_;
    if (const auto view = given[section][key]) return view;
    const toml::table& defaults = defaults_;
    return defaults[section][key];
  }

  static std::string variable(std::string_view section, std::string_view key) {
    std::string name = "HOLDPOINT_" + std::string(section) + "_" + std::string(key);
    for (char& c : name) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    return name;
  }

  // A variable that begins like one of ours and is none is a typing error, not noise.
  void refuse_unknown_variables() {
    std::set<std::string> known;
    std::vector<std::string> prefixes;
    for (const auto& [section, content] : defaults_) {
      prefixes.push_back(variable(section.str(), ""));
      for (const auto& [key, value] : *content.as_table()) {
        known.insert(variable(section.str(), key.str()));
      }
    }
    for (const auto& entry : environment_) {
      const std::string& name = entry.first;
      const bool ours = std::any_of(prefixes.begin(), prefixes.end(),
                                    [&](const auto& prefix) { return name.starts_with(prefix); });
      if (ours && !known.count(name)) complain("the environment's " + name + " is no setting");
    }
  }

  void refuse_unknown() {
    for (const auto& [section, content] : given_) {
      const std::string at = name_ + ":" + std::to_string(content.source().begin.line) + ": ";
      const auto* known = defaults_.get(section) ? defaults_.get(section)->as_table() : nullptr;
      if (!known) {
        complain(at + "there is no section [" + std::string(section.str()) + "]");
        continue;
      }
      const auto* keys = content.as_table();
      if (!keys) {
        complain(at + std::string(section.str()) + " must be a section");
        continue;
      }
      for (const auto& [key, value] : *keys) {
        if (known->contains(key)) continue;
        complain(name_ + ":" + std::to_string(value.source().begin.line) + ": [" +
                 std::string(section.str()) + "] has no key \"" + std::string(key.str()) + "\"");
      }
    }
  }

  const Environment& environment_;
  const toml::table defaults_;
  toml::table given_;
  std::string name_;
  std::filesystem::path folder_;
  std::vector<std::string> complaints_;
  std::vector<std::string> shown_;
};

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
  static const std::set<std::string> known{"question_pending", "question_settled",
                                           "session_completed", "session_failed",
                                           "session_cancelled"};
  for (const auto& event : q.callback_events) {
    if (!known.count(event)) {
      in.complain("questions", "callback_events", "has no event \"" + event + "\"");
    }
  }
}

bool is_url(const std::string& url, std::initializer_list<std::string_view> schemes) {
  return std::any_of(schemes.begin(), schemes.end(), [&](std::string_view scheme) {
    return url.starts_with(scheme) && url.size() > scheme.size() &&
           url.find_first_of(" \t\r\n") == std::string::npos;
  });
}

std::string read_api_url(Reader& in, const char* section) {
  std::string url = in.text(section, "api_url");
  while (url.ends_with('/')) url.pop_back();
  if (!is_url(url, {"https://", "http://"})) {
    in.complain(section, "api_url", "must begin with https:// or http://");
  }
  return url;
}

// `id=user` each.
Settings::Users read_users(Reader& in, const char* section) {
  Settings::Users users;
  for (const auto& entry : in.texts(section, "users")) {
    const auto equals = entry.find('=');
    const std::string id = entry.substr(0, equals);
    if (equals == std::string::npos || id.empty() || equals + 1 == entry.size()) {
      in.complain(section, "users", "holds \"" + entry + "\", which is not <id>=<user>");
    } else if (!users.emplace(id, entry.substr(equals + 1)).second) {
      in.complain(section, "users", "has " + id + " twice");
    }
  }
  return users;
}

void read_slack(Reader& in, Settings& s) {
  s.slack.bot_token = in.secret("slack", "bot_token");
  s.slack.signing_secret = in.secret("slack", "signing_secret");
  s.slack.app_token = in.secret("slack", "app_token");
  s.slack.api_url = read_api_url(in, "slack");
  s.slack.webhook_hosts = in.texts("slack", "webhook_hosts");
  s.slack.users = read_users(in, "slack");
  const bool bot = !s.slack.bot_token.empty();
  if (!s.slack.app_token.empty() && !bot) in.complain("slack", "app_token", "needs a bot_token");
  s.questions.notify_slack = in.flag("questions", "notify_slack");
  s.questions.slack_channel = in.text("questions", "slack_channel");
  if (!s.questions.notify_slack) return;
  if (!bot) in.complain("questions", "notify_slack", "needs [slack] bot_token");
  if (s.questions.slack_channel.empty()) {
    in.complain("questions", "notify_slack", "needs a slack_channel");
  }
}

void read_discord(Reader& in, Settings& s) {
  s.discord.bot_token = in.secret("discord", "bot_token");
  s.discord.public_key = in.text("discord", "public_key");
  const auto& key = s.discord.public_key;
  if (!key.empty() &&
      (key.size() != 64 || key.find_first_not_of("0123456789abcdefABCDEF") != std::string::npos)) {
    in.complain("discord", "public_key", "must be 64 hex digits, as the developer portal shows it");
  }
  s.discord.api_url = read_api_url(in, "discord");
  s.discord.users = read_users(in, "discord");
  s.questions.notify_discord = in.flag("questions", "notify_discord");
  s.questions.discord_channel = in.text("questions", "discord_channel");
  if (!s.questions.notify_discord) return;
  if (s.discord.bot_token.empty()) {
    in.complain("questions", "notify_discord", "needs [discord] bot_token");
  }
  if (s.questions.discord_channel.empty()) {
    in.complain("questions", "notify_discord", "needs a discord_channel");
  }
}

void read_email(Reader& in, Settings& s) {
  auto& e = s.email;
  e.smtp_url = in.text("email", "smtp_url");
  if (!e.smtp_url.empty() && !is_url(e.smtp_url, {"smtp://", "smtps://"})) {
    in.complain("email", "smtp_url", "must be like smtp://mail.example.org:587 or smtps://…");
  }
  e.smtp_user = in.text("email", "smtp_user");
  e.smtp_password = in.secret("email", "smtp_password");
  e.smtp_tls = in.flag("email", "smtp_tls");
  e.from = in.text("email", "from");
  e.reply_to = in.text("email", "reply_to");
  e.imap_url = in.text("email", "imap_url");
  if (!e.imap_url.empty() && !is_url(e.imap_url, {"imap://", "imaps://"})) {
    in.complain("email", "imap_url", "must be like imaps://mail.example.org or imap://…");
  }
  e.imap_user = in.text("email", "imap_user");
  e.imap_password = in.secret("email", "imap_password");
  e.imap_tls = in.flag("email", "imap_tls");
  e.imap_folder = in.text("email", "imap_folder");
  e.inbound_secret = in.secrets("email", "inbound_secret");
  if (const std::string file = in.text("email", "ca_file"); !file.empty()) {
    e.ca_file = in.folder() / file;
  }
  if (!e.smtp_url.empty() && e.from.empty()) {
    in.complain("email", "from", "is needed: who mails come from");
  }
  const bool reads = !e.imap_url.empty() || !e.inbound_secret.empty();
  if (reads && e.reply_to.empty()) {
    in.complain("email", "reply_to", "is needed to read replies: the address they go to");
  }
  if (!e.reply_to.empty() && !reads) {
    in.complain("email", "reply_to", "needs imap_url or inbound_secret: else nobody reads replies");
  }
  s.questions.notify_email = in.flag("questions", "notify_email");
  s.questions.email_to = in.texts("questions", "email_to");
  if (!s.questions.notify_email) return;
  if (e.smtp_url.empty()) in.complain("questions", "notify_email", "needs [email] smtp_url");
  if (s.questions.email_to.empty()) in.complain("questions", "notify_email", "needs email_to");
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
  read_slack(in, s);
  read_discord(in, s);
  read_email(in, s);
  in.finish();
  s.shown = in.take_shown();
  return s;
}

}  // namespace holdpoint
