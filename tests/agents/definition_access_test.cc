#include <doctest/doctest.h>
#include <stdlib.h>

#include <fstream>

#include "agents/definition.h"
#include "tests/support/temp_dir.h"

namespace holdpoint {
namespace {

using namespace std::chrono_literals;
using Texts = std::vector<std::string>;

// A definition of `poet` with these lines after a good runner; line 1 is ---, line 2 the runner.
AgentDefinition parse(const std::string& lines, const std::filesystem::path& folder = "/agents") {
  return parse_definition(folder / "poet.md", "---\nrunner: external\n" + lines + "\n---\n", 3600s);
}

// What is wrong with it; empty if nothing is.
std::string complaint_about(const std::string& lines) {
  try {
    parse(lines);
  } catch (const DefinitionError& e) {
    const std::string text = e.what();
    CHECK(text.starts_with("/agents/poet.md:"));
    return text.substr(text.find(':') + 1);
  }
  return "";
}

TEST_CASE(
    "an agent that says nothing of it is verified by nothing, answered by all, and has no link") {
  const AgentDefinition agent = parse("");
  CHECK(agent.webhook_verify == WebhookScheme::none);
  CHECK(agent.webhook_keys.empty());
  CHECK(agent.answerers.empty());
  CHECK(agent.allow_cancel);
  CHECK_FALSE(agent.callback_link);
}

TEST_CASE("a scheme has a secret, or two while upstream changes over") {
  for (const std::string scheme : {"github", "slack", "bearer"}) {
    CAPTURE(scheme);
    const AgentDefinition one =
        parse("webhook_verify: " + std::string(scheme) + "\nwebhook_secret: sixteen letters.");
    CHECK(to_text(one.webhook_verify) == scheme);
    REQUIRE(one.webhook_keys.size() == 1);
    CHECK(one.webhook_keys[0].reveal() == "sixteen letters.");
    const AgentDefinition two = parse("webhook_verify: " + std::string(scheme) +
                                      "\nwebhook_secret: [sixteen letters., another sixteen.]");
    REQUIRE(two.webhook_keys.size() == 2);
    CHECK(two.webhook_keys[1].reveal() == "another sixteen.");
  }
  CHECK(parse("webhook_verify: none").webhook_verify == WebhookScheme::none);
}

TEST_CASE("the secret of Standard Webhooks is its bytes, not its text") {
  const AgentDefinition agent =
      parse("webhook_verify: standard\nwebhook_secret: whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw");
  REQUIRE(agent.webhook_keys.size() == 1);
  CHECK(agent.webhook_keys[0].reveal() ==
        WebhookSecret::parse("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw").key());
  CHECK(verify_webhook(agent.webhook_verify, agent.webhook_keys,
                       {"msg_p5jXN8AQM9LWM0D4loKWxJek", "1614265330",
                        "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="},
                       R"({"test": 2432232314})", Time{1614265330s}) == Verdict::valid);
}

TEST_CASE("a webhook's secret may be in the environment or in a file that others cannot read") {
  const test::TempDir dir;
  const auto file = dir.path() / "secret";
  std::ofstream(file) << "from the file, long\n";
  std::filesystem::permissions(file, std::filesystem::perms::owner_read);
  setenv("HOLDPOINT_TEST_HOOK", "from the environment", 1);
  const std::string lines =
      "webhook_verify: github\nwebhook_secret: [file:secret, env:HOLDPOINT_TEST_HOOK]";
  const AgentDefinition agent = parse(lines, dir.path());
  REQUIRE(agent.webhook_keys.size() == 2);
  CHECK(agent.webhook_keys[0].reveal() == "from the file, long");
  CHECK(agent.webhook_keys[1].reveal() == "from the environment");
  unsetenv("HOLDPOINT_TEST_HOOK");
  CHECK_THROWS_WITH_AS(parse(lines, dir.path()),
                       doctest::Contains(":4: webhook_secret: the environment has no"),
                       DefinitionError);
  setenv("HOLDPOINT_TEST_HOOK", "from the environment", 1);
  std::filesystem::permissions(file, std::filesystem::perms::others_read,
                               std::filesystem::perm_options::add);
  CHECK_THROWS_WITH_AS(parse(lines, dir.path()), doctest::Contains("can be read by everybody"),
                       DefinitionError);
  unsetenv("HOLDPOINT_TEST_HOOK");
}

TEST_CASE("answerers, cancel and links are read") {
  const AgentDefinition agent =
      parse("answerers: [ana@example.org, 'key:pager']\nallow_cancel: false");
  CHECK(agent.answerers == Texts{"ana@example.org", "key:pager"});
  CHECK_FALSE(agent.allow_cancel);
  CHECK(parse("callback_link: true\nquestion_callback: https://example.org/").callback_link);
}

TEST_CASE("what is wrong with access is told with its line") {
  const std::string long_enough = "webhook_secret: sixteen letters.";
  for (const auto& [lines, complaint] : std::vector<std::pair<std::string, std::string>>{
           {"webhook_verify: sha1\n" + long_enough,
            "3: webhook_verify must be github, standard, slack, bearer or none"},
           {long_enough + "\nwebhook_verify: GitHub",
            "4: webhook_verify must be github, standard, slack, bearer or none"},
           {"webhook_verify: [github]", "3: webhook_verify must be a text"},
           {"webhook_verify:", "3: webhook_verify must be a text"},
           {long_enough, "3: webhook_secret needs webhook_verify"},
           {"webhook_verify: none\n" + long_enough, "4: webhook_secret needs webhook_verify"},
           {"webhook_verify: github", "3: webhook_verify: github needs a webhook_secret"},
           {"webhook_verify: slack\nwebhook_secret: []",
            "3: webhook_verify: slack needs a webhook_secret"},
           {"webhook_verify: slack\nwebhook_secret: [a, b, c]",
            "3: webhook_verify: slack needs a webhook_secret, or two"},
           {"webhook_verify: bearer\nwebhook_secret: fifteen letters",
            "4: webhook_secret: must have at least 16 characters"},
           {"webhook_verify: bearer\nwebhook_secret: ''",
            "4: webhook_secret: must have at least 16 characters"},
           {"webhook_verify: github\nwebhook_secret: [sixteen letters., short]",
            "4: webhook_secret: must have at least 16 characters"},
           {"webhook_verify: standard\nwebhook_secret: sixteen letters.",
            "4: webhook_secret: must be whsec_ and at least 16 bytes in base64"},
           {"webhook_verify: github\nwebhook_secret:", "4: webhook_secret must be a list"},
           {"webhook_verify: github\nwebhook_secret: {a: b}", "4: webhook_secret must be a list"},
           {"webhook_verify: github\nwebhook_secret: file:/nonexistent/x",
            "4: webhook_secret: cannot read the file /nonexistent/x"},
           {"answerers: ana", "3: answerers must be a list"},
           {"answerers: []", "3: answerers is empty: leave it out, or list who may answer"},
           {"answerers:", "3: answerers must be a list"},
           {"answerers: [ana, ' ']", "3: answerers must be a list of names"},
           {"answerers: [ana, {ben: 1}]", "3: answerers must be a list of texts"},
           {"allow_cancel: perhaps", "3: allow_cancel must be true or false"},
           {"allow_cancel: true\ncallback_link: 2", "4: callback_link must be true or false"},
           {"answerers: [ana]\ncallback_link: true",
            "4: callback_link and answerers exclude each other"},
           {"answerer: [ana]", "3: unknown key \"answerer\""},
           {"answerers: [ana]\nanswerers: [ben]", "4: the key \"answerers\" is there twice"}}) {
    CAPTURE(lines);
    const std::string got = complaint_about(lines);
    CAPTURE(got);
    CHECK(got.starts_with(complaint));
  }
}

TEST_CASE("a complaint about a secret does not tell the secret") {
  for (const char* lines : {"webhook_verify: bearer\nwebhook_secret: hush hush",
                            "webhook_verify: standard\nwebhook_secret: hush hush hush hush hush",
                            "webhook_verify: github\nwebhook_secret: [hush, hush, hush]",
                            "webhook_secret: hush hush hush hush"}) {
    const std::string got = complaint_about(lines);
    CHECK(got != "");
    CHECK(got.find("hush") == std::string::npos);
  }
}

TEST_CASE(
    "a bearer secret that looks like one of our keys is refused: it would never reach the agent") {
  CHECK(complaint_about("webhook_verify: bearer\nwebhook_secret: hp_0123456789abcdef_secret") !=
        "");
}

}  // namespace
}  // namespace holdpoint
