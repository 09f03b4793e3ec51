#include <doctest/doctest.h>

#include <fstream>

#include "settings/settings.h"
#include "tests/support/temp_dir.h"

namespace holdpoint {
namespace {

Settings read(const std::string& text) {
  const test::TempDir dir;
  const auto path = dir.path() / "holdpoint.toml";
  std::ofstream(path) << text;
  return load_settings(path, {{"HP_TEST_TOKEN", "unused"}});
}

std::string complaint_about(const std::string& text) {
  try {
    read(text);
  } catch (const SettingsError& e) {
    return e.what();
  }
  return "";
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST_CASE("every platform is off until it is set up") {
  const Settings s = load_settings(std::nullopt, {});
  CHECK(s.slack.bot_token.empty());
  CHECK(s.discord.bot_token.empty());
  CHECK(s.email.smtp_url.empty());
  CHECK_FALSE(s.questions.notify_slack);
  CHECK(s.slack.api_url == "https://slack.com/api");
  CHECK(s.slack.webhook_hosts == std::vector<std::string>{"hooks.slack.com"});
}

TEST_CASE("the platforms' settings are read, and their secrets are never shown") {
  const Settings s = read(
      "[slack]\nbot_token = \"xoxb-1\"\nsigning_secret = \"sss\"\napp_token = \"xapp-1\"\n"
      "users = [\"U1=ana\", \"U2=bo\"]\napi_url = \"http://127.0.0.1:9/api/\"\n"
      "[discord]\nbot_token = \"dtok\"\npublic_key = \"" +
      std::string(64, 'a') +
      "\"\n"
      "[email]\nsmtp_url = \"smtp://m:25\"\nsmtp_password = \"pppp\"\nfrom = \"h@example.org\"\n"
      "reply_to = \"r@example.org\"\nimap_url = \"imaps://m\"\nimap_password = \"qqqq\"\n"
      "[questions]\nnotify_slack = true\nslack_channel = \"#ops\"\nnotify_email = true\n"
      "email_to = [\"ana@example.org\"]\n");
  CHECK(s.slack.bot_token.reveal() == "xoxb-1");
  CHECK(s.slack.users == Settings::Users{{"U1", "ana"}, {"U2", "bo"}});
  CHECK(s.slack.api_url == "http://127.0.0.1:9/api");
  CHECK(s.email.imap_password.reveal() == "qqqq");
  CHECK(s.questions.email_to == std::vector<std::string>{"ana@example.org"});
  for (const auto& line : s.shown) {
    for (const char* secret : {"xoxb-1", "sss", "xapp-1", "dtok", "pppp", "qqqq"}) {
      CHECK_FALSE(has(line, secret));
    }
  }
}

TEST_CASE("what does not go together is told, with what is missing") {
  CHECK(has(complaint_about("[slack]\napp_token = \"xapp\"\n"), "app_token needs a bot_token"));
  CHECK(has(complaint_about("[slack]\nusers = [\"U1\"]\n"),
            "[slack] users holds \"U1\", which is not <id>=<user>"));
  CHECK(has(complaint_about("[slack]\nusers = [\"U1=a\", \"U1=b\"]\n"), "has U1 twice"));
  CHECK(has(complaint_about("[discord]\npublic_key = \"abc\"\n"), "must be 64 hex digits"));
  CHECK(has(complaint_about("[discord]\napi_url = \"discord.com\"\n"), "must begin with https://"));
  CHECK(has(complaint_about("[email]\nsmtp_url = \"mail.example.org\"\n"),
            "must be like smtp://mail.example.org:587"));
  CHECK(has(complaint_about("[email]\nsmtp_url = \"smtp://m\"\n"), "from is needed"));
  CHECK(has(complaint_about("[email]\nimap_url = \"imaps://m\"\n"), "reply_to is needed"));
  CHECK(has(complaint_about("[email]\nreply_to = \"r@example.org\"\n"), "else nobody reads"));
  const std::string all = complaint_about(
      "[questions]\nnotify_slack = true\nnotify_discord = true\nnotify_email = true\n");
  for (const char* part :
       {"needs [slack] bot_token", "needs a slack_channel", "needs [discord] bot_token",
        "needs a discord_channel", "needs [email] smtp_url", "needs email_to"}) {
    CHECK(has(all, part));
  }
}

}  // namespace
}  // namespace holdpoint
