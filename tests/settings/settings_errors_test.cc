#include <doctest/doctest.h>

#include <fstream>

#include "settings/settings.h"
#include "tests/support/temp_dir.h"

namespace holdpoint {
namespace {

// What is wrong with a settings file of this text, with FILE in the place of its path.
std::string complaint_about(const std::string& text) {
  const test::TempDir dir;
  const auto path = dir.path() / "holdpoint.toml";
  std::ofstream(path) << text;
  try {
    load_settings(path, {});
  } catch (const SettingsError& e) {
    std::string complaint = e.what();
    const std::string name = path.string();
    for (auto at = complaint.find(name); at != std::string::npos; at = complaint.find(name)) {
      complaint.replace(at, name.size(), "FILE");
    }
    return complaint;
  }
  return "";
}

TEST_CASE("all that is wrong is told at once, each with its line") {
  CHECK(complaint_about("[server]\n"
                        "listen = 5\n"
                        "colour = \"red\"\n"
                        "\n"
                        "[limits]\n"
                        "max_questions = 9\n"
                        "max_options = \"two\"\n"
                        "[nonsense]\n"
                        "x = 1\n") ==
        "FILE:8: there is no section [nonsense]\n"
        "FILE:3: [server] has no key \"colour\"\n"
        "FILE:2: [server] listen must be a text\n"
        "FILE:2: [server] listen must be an address and a port, like 127.0.0.1:8080\n"
        "FILE:6: [limits] max_questions must be from 1 to 4\n"
        "FILE:7: [limits] max_options must be a whole number");
}

TEST_CASE("a key outside of any section is refused") {
  CHECK(complaint_about("workers = 3\n") == "FILE:1: there is no section [workers]");
  CHECK(complaint_about("\nserver = 3\n") == "FILE:2: server must be a section");
}

TEST_CASE("what is no TOML is told with its line") {
  CHECK(complaint_about("[server]\n\nlisten = \n").starts_with("FILE:3: "));
  CHECK(complaint_about("[agents]\nworkers = 1\nworkers = 2\n").starts_with("FILE:3: "));
}

TEST_CASE("a file too large to be settings is refused before it is read") {
  std::string dots = "a";
  for (int i = 0; i < 500'000; ++i) dots += ".a";
  CHECK(complaint_about(dots + " = 1\n") == "FILE: has more than 32768 bytes");
  CHECK(complaint_about("[" + dots + "]\n") == "FILE: has more than 32768 bytes");
  CHECK(complaint_about(dots.substr(0, 32'762) + "b = 1\n") == "FILE:1: there is no section [a]");
}

TEST_CASE("a file that is not there is told by name") {
  CHECK_THROWS_WITH_AS(load_settings("/no/such/file.toml", {}),
                       doctest::Contains("/no/such/file.toml"), SettingsError);
}

TEST_CASE("an address to listen on has a host and a port") {
  for (const std::string listen :
       {"127.0.0.1:0", "0.0.0.0:65535", "[::1]:8080", "localhost:80", "hold.example:8080"}) {
    CAPTURE(listen);
    CHECK(complaint_about("[server]\nlisten = \"" + std::string(listen) + "\"\n") == "");
  }
  for (const std::string listen :
       {"", "8080", ":8080", "127.0.0.1", "127.0.0.1:", "127.0.0.1:65536", "127.0.0.1:-1",
        "127.0.0.1:http", "127.0.0.1:80 "}) {
    CAPTURE(listen);
    CHECK(complaint_about("[server]\nlisten = \"" + std::string(listen) + "\"\n") ==
          "FILE:2: [server] listen must be an address and a port, like 127.0.0.1:8080");
  }
}

TEST_CASE("texts that must have a form are refused without it") {
  for (const auto& [text, complaint] : std::vector<std::pair<std::string, std::string>>{
           {"[server]\npublic_url = \"example.org\"\n",
            "FILE:2: [server] public_url must begin with http:// or https://"},
           {"[database]\nurl = \"holdpoint.db\"\n",
            "FILE:2: [database] url must be sqlite: and a path, like sqlite:holdpoint.db, or "
            "postgres://user@host:5432/name"},
           {"[database]\nurl = \"sqlite:\"\n",
            "FILE:2: [database] url must be sqlite: and a path, like sqlite:holdpoint.db, or "
            "postgres://user@host:5432/name"},
           {"[agents]\nlease_seconds = 4\n",
            "FILE:2: [agents] lease_seconds must be from 5 to 3600"},
           {"[database]\nurl = \"env:NOT_THERE_AT_ALL\"\n",
            "FILE:2: [database] url the environment has no NOT_THERE_AT_ALL"},
           {"[questions]\non_timeout = \"ignore\"\n",
            "FILE:2: [questions] on_timeout must be fail, default or continue"},
           {"[questions]\ncallback_url = \"ftp://x\"\n",
            "FILE:2: [questions] callback_url must begin with http:// or https://"},
           {"[questions]\ncallback_events = [\"question_lost\"]\n",
            "FILE:2: [questions] callback_events has no event \"question_lost\""},
           {"[questions]\ncallback_secret = [\"a\", \"b\", \"c\"]\n",
            "FILE:2: [questions] callback_secret has at most two: the new and the old one"},
           {"[questions]\ncallback_secret = 5\n",
            "FILE:2: [questions] callback_secret must be a list of texts"},
           {"[outgoing]\nallow_private = [5]\n",
            "FILE:2: [outgoing] allow_private must be a list of texts"},
           {"[agents]\nworkers = 1.5\n", "FILE:2: [agents] workers must be a whole number"},
           {"[agents]\ndir = 5\n", "FILE:2: [agents] dir must be a text"}}) {
    CAPTURE(text);
    CHECK(complaint_about(text) == complaint);
  }
}

TEST_CASE("the default timeout of a question is not above the most") {
  CHECK(complaint_about("[questions]\ntimeout_seconds = 60\nmax_timeout_seconds = 60\n") == "");
  CHECK(complaint_about("[questions]\ntimeout_seconds = 61\nmax_timeout_seconds = 60\n") ==
        "FILE:2: [questions] timeout_seconds must not be more than max_timeout_seconds");
}

TEST_CASE("every number has its range") {
  struct Range {
    const char* section;
    const char* key;
    std::int64_t least, most;
    const char* with = "";  // What else the largest value needs.
  };
  constexpr std::int64_t kGiB = std::int64_t{1} << 30;
  for (const Range& range : {
           Range{"server", "http_threads", 16, 100'000},
           Range{"agents", "workers", 1, 10'000},
           Range{"agents", "turn_timeout_seconds", 1, 86'400},
           Range{"agents", "max_attempts", 1, 1000},
           Range{"questions", "max_timeout_seconds", 1, 31'536'000, "timeout_seconds = 1\n"},
           Range{"questions", "timeout_seconds", 1, 31'536'000, "max_timeout_seconds = 31536000\n"},
           Range{"sessions", "retention_days", 1, 36'500},
           Range{"limits", "max_questions", 1, 4},
           Range{"limits", "max_options", 2, 25},
           Range{"limits", "max_body_bytes", 1024, kGiB},
           Range{"limits", "max_state_bytes", 1024, kGiB},
           Range{"limits", "max_result_bytes", 1024, kGiB},
           Range{"limits", "max_context_bytes", 2, kGiB},
           Range{"limits", "max_reply_bytes", 1024, kGiB},
           Range{"limits", "max_messages", 1, 1'000'000},
           Range{"limits", "max_headers", 10, 1000},
           Range{"limits", "max_header_bytes", 1024, 1 << 20},
           Range{"limits", "head_deadline_seconds", 1, 600},
           Range{"limits", "body_deadline_seconds", 1, 3600},
           Range{"limits", "max_connections_per_address", 1, 100'000},
           Range{"limits", "requests_per_key_per_second", 1, 1'000'000},
           Range{"limits", "wrong_credentials_per_minute", 1, 1'000'000},
           Range{"auth", "login_hours", 1, 8760},
       }) {
    const std::string name = "[" + std::string(range.section) + "] " + range.key;
    CAPTURE(name);
    const auto set_to = [&](std::int64_t value) {
      return complaint_about("[" + std::string(range.section) + "]\n" + range.key + " = " +
                             std::to_string(value) + "\n" + range.with);
    };
    CHECK(set_to(range.least) == "");
    CHECK(set_to(range.most) == "");
    const std::string complaint = "FILE:2: " + name + " must be from " +
                                  std::to_string(range.least) + " to " + std::to_string(range.most);
    CHECK(set_to(range.least - 1).find(complaint) == 0);
    CHECK(set_to(range.most + 1).find(complaint) == 0);
    CHECK(set_to(-1).find(complaint) == 0);
  }
}

}  // namespace
}  // namespace holdpoint
