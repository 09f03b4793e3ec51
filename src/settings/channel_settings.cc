#include "settings/reader.h"

namespace holdpoint {
namespace {

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

}  // namespace

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
  e.asks_may_add = in.texts("email", "asks_may_add");
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

}  // namespace holdpoint
