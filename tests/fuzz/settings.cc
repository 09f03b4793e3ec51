// A settings file; what is short is also a value from the environment.
#include "settings/settings.h"

#include <sys/mman.h>
#include <unistd.h>

#include <set>

#include "tests/fuzz/expect.h"

namespace holdpoint {
namespace {

// A file without a place on disk: load_settings opens it by its path under /proc.
class MemoryFile {
 public:
  MemoryFile() : fd_(memfd_create("settings.toml", 0)) { expect(fd_ >= 0, "a file in memory"); }
  std::filesystem::path path() const { return "/proc/self/fd/" + std::to_string(fd_); }
  void hold(std::string_view text) {
    expect(ftruncate(fd_, 0) == 0, "the file can be emptied");
    expect(pwrite(fd_, text.data(), text.size(), 0) == static_cast<ssize_t>(text.size()),
           "the file can be written");
  }

 private:
  const int fd_;
};

void check(const Settings& s) {
  expect(s.server.http_threads >= 16 && s.server.http_threads <= 100'000, "http_threads");
  expect(s.server.listen.find(':') != std::string::npos, "listen has a port");
  expect(s.server.public_url.empty() || s.server.public_url.starts_with("http"), "public_url");
  expect(!s.server.public_url.ends_with('/'), "public_url ends without a slash");
  expect(s.database.sqlite_path.is_absolute(), "the database's path is absolute");
  expect(s.agents.dir.is_absolute(), "the agents' folder is absolute");
  expect(s.agents.workers >= 1 && s.agents.workers <= 10'000, "workers");
  expect(s.agents.turn_timeout_seconds >= 1, "turn_timeout_seconds");
  expect(s.agents.max_attempts >= 1, "max_attempts");
  expect(s.questions.timeout_seconds >= 1, "timeout_seconds");
  expect(s.questions.timeout_seconds <= s.questions.max_timeout_seconds, "max_timeout_seconds");
  expect(std::set<std::string>{"fail", "default", "continue"}.count(s.questions.on_timeout) == 1,
         "on_timeout");
  expect(s.questions.callback_secret.size() <= 2, "callback_secret");
  expect(s.sessions.retention_days >= 1, "retention_days");
  expect(s.server.tls_cert.empty() == s.server.tls_key.empty(), "tls_cert goes with tls_key");
  expect(s.auth.proxy_user_header.empty() || !s.server.trusted_proxies.empty(), "trusted_proxies");
  expect(s.limits.max_headers >= 10 && s.limits.max_header_bytes >= 1024, "limits of heads");
  expect(s.limits.head_deadline_seconds >= 1 && s.limits.body_deadline_seconds >= 1, "deadlines");
  expect(s.limits.max_questions >= 1 && s.limits.max_questions <= 4, "max_questions");
  expect(s.limits.max_options >= 2 && s.limits.max_options <= 25, "max_options");
  for (const auto bytes : {s.limits.max_body_bytes, s.limits.max_state_bytes,
                           s.limits.max_result_bytes, s.limits.max_reply_bytes}) {
    expect(bytes >= 1024 && bytes <= 1 << 30, "limits in bytes");
  }
}

// What `holdpoint check` prints.
void check_shown(const Settings& s) {
  for (const auto& line : s.shown) {
    if (line.find("callback_secret") == std::string::npos) continue;
    for (const auto& secret : s.questions.callback_secret) {
      expect(secret.reveal().size() < 20 || line.find(secret.reveal()) == std::string::npos,
             "a secret is not shown");
    }
  }
}

void load(const std::optional<std::filesystem::path>& file, const Environment& environment) {
  try {
    const Settings settings = load_settings(file, environment);
    check(settings);
    check_shown(settings);
  } catch (const SettingsError& e) {
    expect(*e.what(), "a refusal gives the reason");
  }
}

void run(std::string_view text) {
  static MemoryFile file;
  file.hold(text);
  load(file.path(), {});
  if (text.size() > 64 || text.find('\0') != std::string_view::npos) return;
  const std::string value(text);
  load(std::nullopt, {{"HOLDPOINT_SERVER_LISTEN", value},
                      {"HOLDPOINT_SERVER_HTTP_THREADS", value},
                      {"HOLDPOINT_QUESTIONS_CALLBACK_EVENTS", value}});
}

}  // namespace
}  // namespace holdpoint

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  holdpoint::run(holdpoint::text_of(data, size));
  return 0;
}
