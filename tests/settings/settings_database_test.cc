#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>

#include "settings/settings.h"
#include "tests/support/temp_dir.h"

namespace holdpoint {
namespace {

Settings load(const std::string& url) {
  return load_settings(std::nullopt, {{"HOLDPOINT_DATABASE_URL", url}});
}

std::string complaint(const Environment& environment) {
  try {
    load_settings(std::nullopt, environment);
  } catch (const SettingsError& e) {
    return e.what();
  }
  return "";
}

// How the setting is shown.
std::string shown(const Settings& settings) {
  const std::string key = "[database] url = ";
  for (const auto& line : settings.shown) {
    if (line.starts_with(key)) return line.substr(key.size());
  }
  return "";
}

bool tells(const Settings& settings, const std::string& word) {
  const auto has = [&](const std::string& text) { return text.find(word) != std::string::npos; };
  return has(settings.database.name) ||
         std::any_of(settings.shown.begin(), settings.shown.end(), has);
}

const std::string kUrl = "postgres://ana:s3cret@db.example:5433/holdpoint?sslmode=require";
const std::string kHidden = "postgres://ana:***@db.example:5433/holdpoint?sslmode=require";

TEST_CASE("a PostgreSQL URL counts as it is given, and is shown without its password") {
  const Settings settings = load(kUrl);
  CHECK(settings.database.postgres_url.reveal() == kUrl);
  CHECK(settings.database.sqlite_path.empty());
  CHECK(settings.database.name == kHidden);
  CHECK(shown(settings) == "\"" + kHidden + "\"");
  CHECK_FALSE(tells(settings, "s3cret"));
}

TEST_CASE("both schemes of PostgreSQL URLs are taken") {
  for (const std::string url :
       {"postgres://host/db", "postgresql://ana:s3cret@host/db",
        "postgres:///db?host=/run/postgresql&password=s3cret", "postgres://h1,h2:5433/db"}) {
    CAPTURE(url);
    const Settings settings = load(url);
    CHECK(settings.database.postgres_url.reveal() == url);
    CHECK_FALSE(tells(settings, "s3cret"));
  }
}

TEST_CASE("without PostgreSQL there is no URL of it") {
  const Settings settings = load("sqlite:/var/h.db");
  CHECK(settings.database.postgres_url.empty());
  CHECK(settings.database.sqlite_path == "/var/h.db");
  CHECK(settings.database.name == "/var/h.db");
}

TEST_CASE("a URL from the environment counts, and is shown as where it stands") {
  setenv("HOLDPOINT_TEST_URL", kUrl.c_str(), 1);
  const Settings settings = load("env:HOLDPOINT_TEST_URL");
  CHECK(settings.database.postgres_url.reveal() == kUrl);
  CHECK(settings.database.name == kHidden);
  CHECK(shown(settings) == "\"env:HOLDPOINT_TEST_URL\"");
  CHECK_FALSE(tells(settings, "s3cret"));
  unsetenv("HOLDPOINT_TEST_URL");
  CHECK(complaint({{"HOLDPOINT_DATABASE_URL", "env:HOLDPOINT_TEST_URL"}})
            .find("the environment has no HOLDPOINT_TEST_URL") != std::string::npos);
}

TEST_CASE("a URL from a file counts, without its line's end, and is shown as where it stands") {
  const test::TempDir dir;
  const auto path = dir.path() / "url";
  std::ofstream(path) << kUrl << "\n";
  const std::string setting = "file:" + path.string();
  std::filesystem::permissions(path, std::filesystem::perms{0644});
  CHECK(complaint({{"HOLDPOINT_DATABASE_URL", setting}}).find("chmod 600") != std::string::npos);
  std::filesystem::permissions(path, std::filesystem::perms{0600});
  const Settings settings = load(setting);
  CHECK(settings.database.postgres_url.reveal() == kUrl);
  CHECK(settings.database.name == kHidden);
  CHECK(shown(settings) == "\"" + setting + "\"");
  CHECK_FALSE(tells(settings, "s3cret"));
}

TEST_CASE("a file's URL is found beside the settings file") {
  const test::TempDir dir;
  std::ofstream(dir.path() / "url") << kUrl;
  std::filesystem::permissions(dir.path() / "url", std::filesystem::perms{0600});
  std::ofstream(dir.path() / "holdpoint.toml") << "[database]\nurl = \"file:url\"\n";
  const Settings settings = load_settings(dir.path() / "holdpoint.toml", {});
  CHECK(settings.database.postgres_url.reveal() == kUrl);
}

TEST_CASE("what is no database's URL is refused without being repeated") {
  for (const std::string url :
       {"postgre://ana:s3cret@host/db", "mysql://ana:s3cret@host/db", "ana:s3cret@host/db",
        "POSTGRES://ana:s3cret@host/db", "postgres:ana:s3cret@host"}) {
    CAPTURE(url);
    const std::string said = complaint({{"HOLDPOINT_DATABASE_URL", url}});
    CHECK(said.find("[database] url must be sqlite:") != std::string::npos);
    CHECK(said.find("s3cret") == std::string::npos);
  }
}

TEST_CASE("connections and leases have their bounds") {
  const Settings defaults = load_settings(std::nullopt, {});
  CHECK(defaults.database.connections == 16);
  CHECK(defaults.agents.lease_seconds == 30);
  const auto connections = [](const char* number) {
    return complaint({{"HOLDPOINT_DATABASE_CONNECTIONS", number}});
  };
  CHECK(connections("2") == "");
  CHECK(connections("1000") == "");
  for (const char* wrong : {"1", "0", "-1", "1001", "many", ""}) {
    CAPTURE(wrong);
    CHECK(connections(wrong).find("[database] connections") != std::string::npos);
  }
  const auto lease = [](const char* number) {
    return complaint({{"HOLDPOINT_AGENTS_LEASE_SECONDS", number}});
  };
  CHECK(lease("5") == "");
  CHECK(lease("3600") == "");
  for (const char* wrong : {"4", "3601", "soon"}) {
    CAPTURE(wrong);
    CHECK(lease(wrong).find("[agents] lease_seconds") != std::string::npos);
  }
}

}  // namespace
}  // namespace holdpoint
