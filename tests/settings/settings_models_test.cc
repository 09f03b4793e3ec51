#include <doctest/doctest.h>

#include <algorithm>

#include "tests/settings/settings_file.h"

namespace holdpoint {
namespace {

using File = test::SettingsFile;

const Settings::Llm& service(const Settings& s, const std::string& name) {
  const auto it = std::find_if(s.llm.begin(), s.llm.end(),
                               [&](const Settings::Llm& llm) { return llm.name == name; });
  REQUIRE(it != s.llm.end());
  return *it;
}

bool shows(const Settings& settings, const std::string& line) {
  const auto& shown = settings.shown;
  return std::count(shown.begin(), shown.end(), line) == 1;
}

TEST_CASE("without a file both services are known, and have no key") {
  const Settings s = load_settings(std::nullopt, {});
  REQUIRE(s.llm.size() == 2);
  const auto& anthropic = service(s, "anthropic");
  CHECK(anthropic.api == "anthropic");
  CHECK(anthropic.base_url == "https://api.anthropic.com");
  CHECK(anthropic.key.empty());
  CHECK(anthropic.auth == "bearer");
  CHECK(anthropic.version == "2026-10-21");
  CHECK(anthropic.models.empty());
  CHECK(anthropic.timeout_seconds == 300);
  CHECK(anthropic.max_attempts == 8);
  CHECK(anthropic.max_tokens == 8192);
  const auto& openai = service(s, "openai");
  CHECK(openai.api == "openai");
  CHECK(openai.base_url == "https://api.openai.com/v1");
  CHECK(openai.version == "");
  CHECK(s.budgets.steps == 50);
  CHECK(s.budgets.tokens == 500'000);
  CHECK(s.budgets.seconds == 1800);
  CHECK(s.budgets.questions == 20);
}

TEST_CASE("a service is what its section says") {
  const Settings s = File(R"(
[llm.anthropic]
base_url = "https://proxy.example/anthropic//"
key = "sk-very-secret"
auth = "x-api-key"
version = ""
models = { sonnet = "claude-sonnet", "gpt-4.1" = "other" }
prices = { sonnet = [3, 15.5, 0.3], other = [1, 2] }
headers = { X-Team = "docs-secret" }
timeout_seconds = 60
max_attempts = 2
max_tokens = 100
[budgets]
questions = 0
)")
                         .load();
  const auto& llm = service(s, "anthropic");
  CHECK(llm.base_url == "https://proxy.example/anthropic");
  CHECK(llm.key.reveal() == "sk-very-secret");
  CHECK(llm.auth == "x-api-key");
  CHECK(llm.version == "");
  CHECK(llm.models ==
        std::map<std::string, std::string>{{"gpt-4.1", "other"}, {"sonnet", "claude-sonnet"}});
  CHECK(llm.prices.at("sonnet") == std::vector<double>{3, 15.5, 0.3});
  CHECK(llm.prices.at("other") == std::vector<double>{1, 2});
  CHECK(llm.headers.at("X-Team").reveal() == "docs-secret");
  CHECK(llm.timeout_seconds == 60);
  CHECK(llm.max_attempts == 2);
  CHECK(llm.max_tokens == 100);
  CHECK(s.budgets.questions == 0);
  CHECK(shows(s, "[llm.anthropic] key = ***"));
  CHECK(shows(s, "[llm.anthropic] headers = { X-Team = *** }"));
  CHECK(shows(s, "[llm.anthropic] models = { gpt-4.1 = \"other\", sonnet = \"claude-sonnet\" }"));
  CHECK(shows(s, "[llm.anthropic] prices = { other = [1, 2], sonnet = [3, 15.5, 0.3] }"));
  for (const auto& line : s.shown) CHECK(line.find("secret\"") == std::string::npos);
}

TEST_CASE("a service of one's own takes what it leaves out from the one with its API") {
  const Settings s = File(R"(
[llm.anthropic]
version = "2000-01-01"
key = "of-anthropic"
models = { sonnet = "claude" }
[llm.local-llama]
api = "openai"
base_url = "http://127.0.0.1:11434/v1"
auth = "none"
[llm.mirror]
api = "anthropic"
)")
                         .load();
  CHECK(s.llm.size() == 4);
  CHECK(service(s, "local-llama").auth == "none");
  CHECK(service(s, "local-llama").version == "");
  CHECK(service(s, "local-llama").timeout_seconds == 300);
  // From the defaults, not from the other's section: least of all its key.
  const auto& mirror = service(s, "mirror");
  CHECK(mirror.base_url == "https://api.anthropic.com");
  CHECK(mirror.version == "2026-10-21");
  CHECK(mirror.key.empty());
  CHECK(mirror.models.empty());
}

TEST_CASE("the environment sets the plain keys of every service") {
  const File file("[llm.my-own]\napi = \"openai\"\nkey = \"old\"\n");
  const Settings s = file.load({{"HOLDPOINT_LLM_MY_OWN_KEY", "new"},
                                {"HOLDPOINT_LLM_MY_OWN_API", "anthropic"},
                                {"HOLDPOINT_LLM_OPENAI_MAX_TOKENS", "5"},
                                {"HOLDPOINT_BUDGETS_STEPS", "3"}});
  CHECK(service(s, "my-own").key.reveal() == "new");
  CHECK(service(s, "my-own").version == "2026-10-21");
  CHECK(service(s, "openai").max_tokens == 5);
  CHECK(s.budgets.steps == 3);
  for (const std::string name :
       {"HOLDPOINT_LLM_MY_OWN_KEE", "HOLDPOINT_LLM_OTHER_KEY", "HOLDPOINT_LLM_OPENAI_MODELS",
        "HOLDPOINT_LLM_OPENAI", "HOLDPOINT_BUDGETS_STEP"}) {
    CHECK(
        file.complaint({{name, "x"}}).starts_with("the environment's " + name + " is no setting"));
  }
}

TEST_CASE("what is wrong with a service is said with its line") {
  const auto complaint = [](const std::string& line) {
    return File("\n[llm.anthropic]\n" + line + "\n").complaint();
  };
  const std::string at = "FILE:3: [llm.anthropic] ";
  CHECK(complaint("kee = \"x\"") == at + "has no key \"kee\"");
  CHECK(complaint("api = \"gemini\"") == at + "api must be anthropic or openai");
  CHECK(complaint("auth = \"basic\"") == at + "auth must be bearer, x-api-key or none");
  CHECK(complaint("key = \"a\\nb\"") ==
        at + "key holds what no header can carry: plain ASCII only");
  CHECK(complaint("key = \"env:HOLDPOINT_TEST_NOT_THERE\"") ==
        at + "key the environment has no HOLDPOINT_TEST_NOT_THERE");
  CHECK(complaint("version = \"é\"") == at + "version must be like 2026-10-21");
  CHECK(complaint("max_tokens = 0") == at + "max_tokens must be from 1 to 1000000");
  CHECK(complaint("timeout_seconds = \"5\"") == at + "timeout_seconds must be a whole number");
  CHECK(complaint("models = \"claude\"") == at + "models must be a table, like { name = … }");
  CHECK(complaint("models = { a = 5 }") == at + "models has a a that is no text");
  CHECK(complaint("models = { a = \"\" }") == at + "models does not say which model a is");
  CHECK(complaint("models = { \"a/b\" = \"c\" }") ==
        at + "models has \"a/b\": letters, digits, . _ and - make an alias");
  for (const std::string prices : {"3", "[]", "[3]", "[1, 2, 3, 4]", "[-1, 2]", "[nan, 2]",
                                   "[inf, 2]", "{ in = 1, out = 2 }"}) {
    CAPTURE(prices);
    CHECK(complaint("prices = { a = " + prices + " }") ==
          at + "prices must be like { a = [3.0, 15.0] }: in, out, and in from a cache");
  }
  CHECK(complaint("prices = { a = [1, \"2\", 3] }") == at + "prices holds what is no number");
  CHECK(complaint("headers = { hOst = \"a\" }") == at + "headers cannot have \"hOst\"");
  CHECK(complaint("headers = { \"X Y\" = \"a\" }") == at + "headers cannot have \"X Y\"");
  CHECK(complaint("headers = { X = \"a\\r\\nb\" }") ==
        at + "headers has a X that no header can carry: plain ASCII only");
  CHECK(complaint("headers = { X = \"env:HOLDPOINT_TEST_NOT_THERE\" }") ==
        at + "headers has a X: the environment has no HOLDPOINT_TEST_NOT_THERE");
}

TEST_CASE("services need names that can be told apart, and an API") {
  CHECK(File("[llm.\"a b\"]\napi = \"openai\"\n").complaint() ==
        "[llm.a b]: letters, digits, _ and - make a service's name");
  CHECK(File("[llm.a-b]\napi = \"openai\"\n[llm.A_b]\napi = \"openai\"\n").complaint() ==
        "[llm.a-b] and [llm.A_b] are too much alike");
  CHECK(File("[llm.mine]\nkey = \"x\"\n").complaint() ==
        "[llm.mine] api must be anthropic or openai");
  CHECK(File("[llm]\nkey = \"x\"\n").complaint() == "FILE:2: llm.key must be a section");
  CHECK(File("llm = 5\n").complaint() == "FILE:1: llm must be a section");
}

}  // namespace
}  // namespace holdpoint
