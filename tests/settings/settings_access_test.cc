#include <doctest/doctest.h>

#include <algorithm>

#include "tests/settings/settings_file.h"

namespace holdpoint {
namespace {

using File = test::SettingsFile;

bool shows(const Settings& settings, const std::string& line) {
  const auto& shown = settings.shown;
  return std::count(shown.begin(), shown.end(), line) == 1;
}

TEST_CASE("without a file nothing is open to others, and nobody is trusted") {
  const Settings s = load_settings(std::nullopt, {});
  CHECK(s.server.loopback);
  CHECK(s.server.tls_cert.empty());
  CHECK(s.server.tls_key.empty());
  CHECK(s.server.trusted_proxies.empty());
  CHECK_FALSE(s.server.insecure_http);
  CHECK(s.limits.max_headers == 100);
  CHECK(s.limits.max_header_bytes == 32768);
  CHECK(s.limits.head_deadline_seconds == 10);
  CHECK(s.limits.body_deadline_seconds == 15);
  CHECK(s.limits.max_connections_per_address == 512);
  CHECK(s.limits.requests_per_key_per_second == 1000);
  CHECK(s.limits.wrong_credentials_per_minute == 20);
  CHECK(s.auth.login_hours == 12);
  CHECK(s.auth.proxy_user_header == "");
  CHECK(s.auth.proxy_role == "");
}

TEST_CASE("only an address of this machine alone counts as loopback") {
  const auto loopback = [](const std::string& listen) {
    return File("[server]\nlisten = \"" + listen + "\"\n").load().server.loopback;
  };
  for (const std::string listen : {"127.0.0.1:8080", "127.1.2.3:0", "localhost:80", "[::1]:8080"}) {
    CAPTURE(listen);
    CHECK(loopback(listen));
  }
  for (const std::string listen :
       {"0.0.0.0:8080", "[::]:8080", "10.0.0.1:80", "hold.example:80", "127.evil.example:80",
        "127.0.0.1.evil.example:80", "localhost.evil.example:80", "1127.0.0.1:80", "[::2]:80",
        "[::ffff:10.0.0.1]:80"}) {
    CAPTURE(listen);
    CHECK_FALSE(loopback(listen));
  }
}

TEST_CASE("flags are true or false, in the file and in the environment") {
  const File file("[server]\ninsecure_http = true\n");
  CHECK(file.load().server.insecure_http);
  CHECK_FALSE(file.load({{"HOLDPOINT_SERVER_INSECURE_HTTP", "false"}}).server.insecure_http);
  CHECK(File("").load({{"HOLDPOINT_SERVER_INSECURE_HTTP", "true"}}).server.insecure_http);
  for (const std::string value : {"", "1", "yes", "True", "true ", "on", "0"}) {
    CAPTURE(value);
    CHECK(File("").complaint({{"HOLDPOINT_SERVER_INSECURE_HTTP", value}}) ==
          "[server] insecure_http must be true or false");
  }
  for (const std::string value : {"1", "\"true\"", "[true]"}) {
    CAPTURE(value);
    CHECK(File("[server]\ninsecure_http = " + std::string(value) + "\n").complaint() ==
          "FILE:2: [server] insecure_http must be true or false");
  }
}

TEST_CASE("a certificate and its key go together, relative to the file") {
  const File both("[server]\ntls_cert = \"cert.pem\"\ntls_key = \"/etc/key.pem\"\n");
  CHECK(both.load().server.tls_cert == both.dir.path() / "cert.pem");
  CHECK(both.load().server.tls_key == "/etc/key.pem");
  CHECK(File("[server]\ntls_cert = \"cert.pem\"\n").complaint() ==
        "FILE:2: [server] tls_cert needs the other: tls_cert and tls_key go together");
  CHECK(File("[server]\ntls_key = \"key.pem\"\n").complaint() ==
        "FILE:2: [server] tls_key needs the other: tls_cert and tls_key go together");
  CHECK(File("[server]\ntls_cert = \"cert.pem\"\n")
            .complaint({{"HOLDPOINT_SERVER_TLS_KEY", "key.pem"}}) == "");
}

TEST_CASE("trusted proxies are a list, or from the environment with commas") {
  using Texts = std::vector<std::string>;
  CHECK(File("[server]\ntrusted_proxies = [\"10.0.0.5\", \"fd00::/8\"]\n")
            .load()
            .server.trusted_proxies == Texts{"10.0.0.5", "fd00::/8"});
  CHECK(File("")
            .load({{"HOLDPOINT_SERVER_TRUSTED_PROXIES", "10.0.0.5,fd00::/8"}})
            .server.trusted_proxies == Texts{"10.0.0.5", "fd00::/8"});
  CHECK(File("[server]\ntrusted_proxies = [1]\n").complaint() ==
        "FILE:2: [server] trusted_proxies must be a list of texts");
}

TEST_CASE("a proxy's header counts only with proxies that are trusted") {
  CHECK(File("[auth]\nproxy_user_header = \"X-Forwarded-User\"\n").complaint() ==
        "FILE:2: [auth] proxy_user_header needs [server] trusted_proxies: from anybody else it "
        "would be a lie");
  const File file(
      "[server]\ntrusted_proxies = [\"10.0.0.5\"]\n[auth]\nproxy_user_header = "
      "\"X-Forwarded-User\"\nproxy_role = \"viewer\"\n");
  CHECK(file.load().auth.proxy_user_header == "X-Forwarded-User");
  CHECK(file.load().auth.proxy_role == "viewer");
  CHECK(file.complaint({{"HOLDPOINT_SERVER_TRUSTED_PROXIES", ""}}) != "");
}

TEST_CASE("a proxy's strangers have a role that there is, or none") {
  for (const std::string role : {"", "viewer", "answerer", "admin"}) {
    CHECK(File("[auth]\nproxy_role = \"" + std::string(role) + "\"\n").complaint() == "");
  }
  for (const std::string role : {"root", "Admin", " "}) {
    CHECK(File("[auth]\nproxy_role = \"" + std::string(role) + "\"\n").complaint() ==
          "FILE:2: [auth] proxy_role must be viewer, answerer, admin or empty");
  }
}

TEST_CASE("every setting is shown as it counts, a line each") {
  const Settings s =
      File("[server]\ninsecure_http = true\ntrusted_proxies = [\"10.0.0.5\", \"::1\"]\n")
          .load({{"HOLDPOINT_AUTH_LOGIN_HOURS", "3"}});
  CHECK(shows(s, "[server] insecure_http = true"));
  CHECK(shows(s, "[server] trusted_proxies = [\"10.0.0.5\", \"::1\"]"));
  CHECK(shows(s, "[auth] login_hours = 3"));
  CHECK(shows(s, "[server] tls_cert = \"\""));
  CHECK(shows(s, "[limits] wrong_credentials_per_minute = 20"));
}

TEST_CASE("what is shown holds no secret, wherever it came from") {
  const File file("[questions]\ncallback_secret = [\"hush-in-file\"]\n");
  std::ofstream(file.dir.path() / "secret") << "hush-from-file\n";
  std::filesystem::permissions(file.dir.path() / "secret", std::filesystem::perms::owner_read);
  for (const Environment& environment :
       {Environment{}, Environment{{"HOLDPOINT_QUESTIONS_CALLBACK_SECRET", "hush-in-variable"}},
        Environment{{"HOLDPOINT_QUESTIONS_CALLBACK_SECRET", "file:secret"}}}) {
    const Settings s = file.load(environment);
    CHECK(s.questions.callback_secret.at(0).reveal().starts_with("hush"));
    CHECK(shows(s, "[questions] callback_secret = [***]"));
    for (const auto& line : s.shown) CHECK(line.find("hush") == std::string::npos);
  }
}

TEST_CASE("a secret in a file that everybody may read is refused by name") {
  const File file("[questions]\ncallback_secret = \"file:secret\"\n");
  std::ofstream(file.dir.path() / "secret") << "hush\n";
  std::filesystem::permissions(file.dir.path() / "secret", std::filesystem::perms::owner_read |
                                                               std::filesystem::perms::others_read);
  CHECK(file.complaint().find("can be read by everybody on this machine; chmod 600 it") !=
        std::string::npos);
  CHECK(file.complaint().find("hush") == std::string::npos);
}

}  // namespace
}  // namespace holdpoint
