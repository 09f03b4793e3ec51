#include "settings/settings.h"

#include <doctest/doctest.h>
#include <stdlib.h>

#include <algorithm>
#include <iterator>

#include "base/embedded.h"
#include "tests/settings/settings_file.h"

namespace holdpoint {
namespace {

using File = test::SettingsFile;

std::string complaint_about(const std::string& text, const Environment& environment = {}) {
  return File(text).complaint(environment);
}

TEST_CASE("the defaults are those of the example, which is embedded to the letter") {
  std::ifstream in(HOLDPOINT_SETTINGS_EXAMPLE);
  const std::string example{std::istreambuf_iterator<char>(in), {}};
  REQUIRE(!example.empty());
  CHECK(embedded::settings_example_toml == example);
}

TEST_CASE("without a file the defaults hold") {
  const Settings s = load_settings(std::nullopt, {});
  CHECK(s.server.listen == "127.0.0.1:8080");
  CHECK(s.server.public_url == "");
  CHECK(s.server.http_threads == 2048);
  CHECK(s.database.sqlite_path == std::filesystem::current_path() / "holdpoint.db");
  CHECK(s.agents.dir == std::filesystem::current_path() / "agents");
  CHECK(s.agents.workers == 64);
  CHECK(s.agents.turn_timeout_seconds == 300);
  CHECK(s.agents.max_attempts == 5);
  CHECK(s.questions.timeout_seconds == 3600);
  CHECK(s.questions.max_timeout_seconds == 86400);
  CHECK(s.questions.on_timeout == "fail");
  CHECK(s.questions.callback_url == "");
  CHECK(s.questions.callback_secret.empty());
  CHECK(s.questions.callback_events.empty());
  CHECK(s.sessions.retention_days == 30);
  CHECK(s.limits.max_questions == 4);
  CHECK(s.limits.max_options == 5);
  CHECK(s.limits.max_body_bytes == 1 << 20);
  CHECK(s.limits.max_state_bytes == 1 << 20);
  CHECK(s.limits.max_result_bytes == 1 << 20);
  CHECK(s.limits.max_context_bytes == 65536);
  CHECK(s.limits.max_reply_bytes == 4 << 20);
  CHECK(s.limits.max_messages == 1000);
  CHECK(s.outgoing.allow_private.empty());
}

TEST_CASE("a file needs only what differs") {
  const Settings s = File("[agents]\nworkers = 3\n").load();
  CHECK(s.agents.workers == 3);
  CHECK(s.agents.max_attempts == 5);
  CHECK(File("").load().agents.workers == 64);
}

TEST_CASE("the example itself is a good file") {
  CHECK(complaint_about(std::string(embedded::settings_example_toml)) == "");
}

TEST_CASE("relative paths are relative to the file, absolute ones stay") {
  const File relative("[database]\nurl = \"sqlite:data/h.db\"\n[agents]\ndir = \"../crew\"\n");
  const Settings s = relative.load();
  CHECK(s.database.sqlite_path == relative.dir.path() / "data/h.db");
  CHECK(s.agents.dir == relative.dir.path() / "../crew");
  const Settings t =
      File("[database]\nurl = \"sqlite:/var/h.db\"\n[agents]\ndir = \"/srv/crew\"\n").load();
  CHECK(t.database.sqlite_path == "/var/h.db");
  CHECK(t.agents.dir == "/srv/crew");
}

TEST_CASE("a file that is named by a relative path gives absolute paths") {
  const File file("");
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(file.dir.path());
  const Settings s = load_settings("holdpoint.toml", {});
  std::filesystem::current_path(before);
  CHECK(s.agents.dir.is_absolute());
  CHECK(s.agents.dir.filename() == "agents");
}

TEST_CASE("the environment overrides the file") {
  const File file("[server]\nlisten = \"1.2.3.4:5\"\n[agents]\nworkers = 3\n");
  const Settings s = file.load({{"HOLDPOINT_SERVER_LISTEN", "0.0.0.0:0"},
                                {"HOLDPOINT_AGENTS_WORKERS", "7"},
                                {"HOLDPOINT_QUESTIONS_MAX_TIMEOUT_SECONDS", "7200"},
                                {"HOLDPOINT_QUESTIONS_CALLBACK_URL", "https://example.org/"},
                                {"HOLDPOINT_OUTGOING_ALLOW_PRIVATE", "127.0.0.0/8,fd00::/8"},
                                {"HOME", "/root"}});
  CHECK(s.server.listen == "0.0.0.0:0");
  CHECK(s.agents.workers == 7);
  CHECK(s.questions.max_timeout_seconds == 7200);
  CHECK(s.questions.callback_url == "https://example.org/");
  CHECK(s.outgoing.allow_private == std::vector<std::string>{"127.0.0.0/8", "fd00::/8"});
}

TEST_CASE("a bad value of the environment is not blamed on the file") {
  CHECK(complaint_about("[agents]\nworkers = 3\n", {{"HOLDPOINT_AGENTS_WORKERS", "many"}}) ==
        "[agents] workers must be a whole number");
  CHECK(complaint_about("", {{"HOLDPOINT_AGENTS_WORKERS", ""}}) ==
        "[agents] workers must be a whole number");
  CHECK(complaint_about("", {{"HOLDPOINT_AGENTS_WORKERS", "3 "}}) ==
        "[agents] workers must be a whole number");
}

TEST_CASE("a variable that looks like a setting and is none is refused") {
  CHECK(complaint_about("", {{"HOLDPOINT_AGENTS_WORKER", "3"}}) ==
        "the environment's HOLDPOINT_AGENTS_WORKER is no setting");
  CHECK(complaint_about("", {{"HOLDPOINT_BINARY", "/x"}}) == "");
}

TEST_CASE("a bad value of the environment hides what the file says") {
  CHECK(complaint_about("[agents]\nworkers = \"many\"\n", {{"HOLDPOINT_AGENTS_WORKERS", "3"}}) ==
        "");
}

TEST_CASE("lists may be one text") {
  CHECK(File("[outgoing]\nallow_private = \"10.0.0.0/8\"\n").load().outgoing.allow_private ==
        std::vector<std::string>{"10.0.0.0/8"});
  CHECK(File("[outgoing]\nallow_private = [\"10.0.0.0/8\", \"::1\"]\n")
            .load()
            .outgoing.allow_private == std::vector<std::string>{"10.0.0.0/8", "::1"});
}

TEST_CASE("a public URL loses the slashes at its end") {
  CHECK(File("[server]\npublic_url = \"https://example.org/hold//\"\n").load().server.public_url ==
        "https://example.org/hold");
}

TEST_CASE("secrets are looked up, relative to the file") {
  const File file("[questions]\ncallback_secret = [\"file:secret\", \"env:HOLDPOINT_TEST_KEY\"]\n");
  std::ofstream(file.dir.path() / "secret") << "from the file\n";
  std::filesystem::permissions(file.dir.path() / "secret", std::filesystem::perms::owner_read);
  setenv("HOLDPOINT_TEST_KEY", "from the environment", 1);
  const auto settings = file.load();
  REQUIRE(settings.questions.callback_secret.size() == 2);
  CHECK(settings.questions.callback_secret[0].reveal() == "from the file");
  CHECK(settings.questions.callback_secret[1].reveal() == "from the environment");
  const auto& shown = settings.shown;
  CHECK(std::count(shown.begin(), shown.end(), "[questions] callback_secret = [***, ***]") == 1);
  unsetenv("HOLDPOINT_TEST_KEY");
  CHECK(file.complaint() ==
        "FILE:2: [questions] callback_secret the environment has no HOLDPOINT_TEST_KEY");
}

}  // namespace
}  // namespace holdpoint
