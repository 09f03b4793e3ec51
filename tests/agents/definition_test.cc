#include "agents/definition.h"

#include <doctest/doctest.h>
#include <stdlib.h>

#include <fstream>

#include "tests/support/temp_dir.h"

namespace holdpoint {
namespace {

using namespace std::chrono_literals;

constexpr auto kMaxTimeout = 3600s;

AgentDefinition parse(const std::string& text, const std::string& file = "/agents/poet.md") {
  return parse_definition(file, text, kMaxTimeout);
}

// What is wrong with the definition of `poet`; empty if nothing is.
std::string complaint_about(const std::string& text) {
  try {
    parse(text);
  } catch (const DefinitionError& e) {
    return e.what();
  }
  return "";
}

// A front matter of these lines after a good runner; line 1 is ---, line 2 the runner.
std::string front(const std::string& lines) {
  return "---\nrunner: external\n" + lines + "\n---\nprompt\n";
}

TEST_CASE("a command agent is read whole") {
  const AgentDefinition agent = parse(
      "---\nname: poet\nrunner: command\ncommand: [python3, \"poet.py\", --fast]\n"
      "async_questions: true\nquestion_callback: https://example.org/hook\n"
      "callback_secret: [whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYX, AAECAwQFBgcICQoLDA0ODw==]\n"
      "callback_events: [question_settled, session_failed]\nquestion_timeout: 3600\n"
      "on_timeout: continue\nchannels: [url, 'slack:#ops', email:ana@example.org]\n---\nYou write "
      "poems.\n---\nReally.\n");
  CHECK(agent.name == "poet");
  CHECK(agent.channels ==
        std::vector<Target>{{"url", ""}, {"slack", "#ops"}, {"email", "ana@example.org"}});
  CHECK(agent.runner == RunnerKind::command);
  CHECK(agent.command == std::vector<std::string>{"python3", "poet.py", "--fast"});
  CHECK(agent.folder == "/agents");
  CHECK(agent.async_questions);
  CHECK(agent.question_callback == "https://example.org/hook");
  REQUIRE(agent.callback_secrets.size() == 2);
  CHECK(agent.callback_secrets[0].key().size() == 24);
  CHECK(agent.callback_secrets[1].key().size() == 16);
  CHECK(agent.callback_events == std::vector<std::string>{"question_settled", "session_failed"});
  CHECK(agent.question_timeout == 3600s);
  CHECK(agent.on_timeout == OnTimeout::carry_on);
  CHECK(agent.prompt == "You write poems.\n---\nReally.\n");
}

TEST_CASE("an http agent needs only its URL, and may not ask unless it says so") {
  const AgentDefinition agent = parse("---\nrunner: http\nurl: http://127.0.0.1:9000/turn\n---\n");
  CHECK(agent.name == "poet");
  CHECK(agent.runner == RunnerKind::http);
  CHECK(agent.url == "http://127.0.0.1:9000/turn");
  CHECK_FALSE(agent.async_questions);
  CHECK_FALSE(agent.question_callback);
  CHECK_FALSE(agent.question_timeout);
  CHECK_FALSE(agent.on_timeout);
  CHECK(agent.prompt == "");
}

TEST_CASE("an external agent may ask unless it says otherwise") {
  CHECK(parse("---\nrunner: external\n---\n").async_questions);
  CHECK_FALSE(parse("---\nrunner: external\nasync_questions: false\n---").async_questions);
}

TEST_CASE("agents that are there by themselves live elsewhere, also with a file of their own") {
  for (const std::string name : {"external", "mcp", "humanlayer"}) {
    const std::string file = "/agents/" + name + ".md";
    CHECK(parse("---\nrunner: external\nchannels: [slack]\n---\n", file).channels.size() == 1);
    CHECK_THROWS_WITH_AS(parse("---\nrunner: http\nurl: http://h/\n---\n", file),
                         doctest::Contains("runner must be external"), DefinitionError);
  }
}

TEST_CASE("a file with the line ends of Windows reads the same") {
  const AgentDefinition agent =
      parse("---\r\nrunner: http\r\nurl: http://h/\r\nquestion_timeout: 5\r\n---\r\nHello.\r\n");
  CHECK(agent.url == "http://h/");
  CHECK(agent.question_timeout == 5s);
  CHECK(agent.prompt == "Hello.\r\n");
}

TEST_CASE("what is wrong is told with file and line") {
  for (const auto& [text, complaint] : std::vector<std::pair<std::string, std::string>>{
           {"", "1: must begin"},
           {"runner: http\n", "1: must begin"},
           {"\n---\nrunner: external\n---\n", "1: must begin"},
           {"---\nrunner: external\n", "1: the front matter has no closing"},
           {"---\n---\n", "2: the front matter must be keys"},
           {"---\n- a\n---\n", "2: the front matter must be keys"},
           {"---\nname: poet\n---\n", "2: runner is missing"},
           {"---\nname: poet\nrunner: magic\n---\n", "3: runner must be http"},
           {"---\n\nrunner: http\n---\n", "3: runner: http needs a url"},
           {"---\nrunner: http\nurl: ftp://x\n---\n", "3: url must be"},
           {"---\nrunner: command\n---\n", "2: runner: command needs"},
           {"---\nrunner: command\ncommand: []\n---\n", "2: runner: command needs"},
           {"---\nrunner: command\ncommand: run me\n---\n", "3: command must be a list"},
           {"---\nrunner: command\ncommand: [a, [b]]\n---\n", "3: command must be a list of texts"},
           {front("url: http://x"), "3: url goes with runner: http only"},
           {front("command: [x]"), "3: command goes with runner: command only"},
           {front("name: other"), "3: name must be the file's: poet"},
           {front("\nasync_questions: perhaps"), "4: async_questions must be true or false"},
           {front("question_timeout: 0"), "3: question_timeout must be 1 to 3600 seconds"},
           {front("question_timeout: 3601"), "3: question_timeout must be 1 to 3600 seconds"},
           {front("question_timeout: soon"), "3: question_timeout must be a whole number"},
           {front("question_timeout: 1.5"), "3: question_timeout must be a whole number"},
           {front("on_timeout: ignore"), "3: on_timeout must be fail, default or continue"},
           {front("question_callback: example.org"), "3: question_callback must be an http"},
           {front("callback_events: [question_lost]"), "3: unknown event \"question_lost\""},
           {front("callback_events: all"), "3: callback_events must be a list"},
           {front("callback_secret: short"), "3: callback_secret: must be whsec_"},
           {front("callback_secret: [a, b, c]"), "3: callback_secret has at most two"},
           {front("callback_secret: {a: b}"), "3: callback_secret must be a list"},
           {front("channels: [smoke]"), "3: channels: has no channel \"smoke\""},
           {front("channels: [email:nobody]"), "3: channels: email: takes one address"},
           {front("channels: slack"), "3: channels must be a list"},
           {front("on_timeout: fail\ncolour: red"), "4: unknown key \"colour\""},
           {front("on_timeout: fail\non_timeout: fail"),
            "4: the key \"on_timeout\" is there twice"},
           {front("on_timeout: [fail"), "the front matter is not valid YAML"},
           {front("on_timeout: fail\n  bad: indent"), "4: the front matter is not valid YAML"}}) {
    CAPTURE(text);
    const std::string got = complaint_about(text);
    CAPTURE(got);
    CHECK(got.starts_with("/agents/poet.md:"));
    CHECK(got.find(complaint) != std::string::npos);
  }
}

TEST_CASE("a key without a value is told with its own line, not the next") {
  CHECK(complaint_about(front("on_timeout:\nasync_questions: true")) ==
        "/agents/poet.md:3: on_timeout must be a text");
  CHECK(complaint_about(front("name:")) == "/agents/poet.md:3: name must be a text");
}

TEST_CASE("a name is plain letters, digits, - _ and . and stands for a file") {
  for (const std::string name : {"poet", "write-poem", "a.b_C9", "_x", "0"}) {
    CHECK(parse("---\nrunner: external\n---\n", "/agents/" + std::string(name) + ".md").name ==
          name);
  }
  for (const auto& name : std::vector<std::string>{"a b", "é", "-x", "a:b", std::string(65, 'x')}) {
    CAPTURE(name);
    CHECK_THROWS_WITH_AS(parse("---\nrunner: external\n---\n", "/agents/" + name + ".md"),
                         doctest::Contains(":2: name has"), DefinitionError);
  }
}

TEST_CASE("a secret may be in the environment or in a file beside the definition") {
  const test::TempDir dir;
  std::ofstream(dir.path() / "secret") << "whsec_AAECAwQFBgcICQoLDA0ODw==\n";
  std::filesystem::permissions(dir.path() / "secret", std::filesystem::perms::owner_read);
  setenv("HOLDPOINT_TEST_CALLBACK_SECRET", "AAECAwQFBgcICQoLDA0ODxAREhMUFRYX", 1);
  const auto agent = parse_definition(
      dir.path() / "poet.md",
      front("callback_secret: [env:HOLDPOINT_TEST_CALLBACK_SECRET, file:secret]"), kMaxTimeout);
  REQUIRE(agent.callback_secrets.size() == 2);
  CHECK(agent.callback_secrets[0].key().size() == 24);
  CHECK(agent.callback_secrets[1].key().size() == 16);
  unsetenv("HOLDPOINT_TEST_CALLBACK_SECRET");
  CHECK(
      complaint_about(front("callback_secret: env:HOLDPOINT_TEST_CALLBACK_SECRET")) ==
      "/agents/poet.md:3: callback_secret: the environment has no HOLDPOINT_TEST_CALLBACK_SECRET");
  CHECK(complaint_about(front("callback_secret: file:missing"))
            .starts_with("/agents/poet.md:3: callback_secret: cannot read the file"));
}

TEST_CASE("a complaint about a secret does not tell it") {
  CHECK(complaint_about(front("callback_secret: hunter2")).find("hunter2") == std::string::npos);
}

TEST_CASE("a folder gives all its definitions, and nothing else of it") {
  const test::TempDir dir;
  std::ofstream(dir.path() / "poet.md") << front("");
  std::ofstream(dir.path() / "critic.md") << front("");
  std::ofstream(dir.path() / "notes.txt") << "not an agent";
  std::filesystem::create_directory(dir.path() / "folder.md");
  const auto definitions = load_definitions(dir.path(), kMaxTimeout);
  REQUIRE(definitions.size() == 2);
  CHECK(definitions.at("poet").folder == dir.path());
  CHECK(definitions.count("critic") == 1);
}

TEST_CASE("all that is wrong in a folder is told at once") {
  const test::TempDir dir;
  std::ofstream(dir.path() / "a.md") << "---\nrunner: magic\n---\n";
  std::ofstream(dir.path() / "b.md") << front("");
  std::ofstream(dir.path() / "c.md") << front("colour: red");
  const std::string expected =
      (dir.path() / "a.md").string() +
      ":2: runner must be http, command, llm or external, not \"magic\"\n" +
      (dir.path() / "c.md").string() + ":3: unknown key \"colour\"";
  CHECK_THROWS_WITH_AS(load_definitions(dir.path(), kMaxTimeout), expected.c_str(),
                       DefinitionError);
}

TEST_CASE("what is not UTF-8 or holds a NUL is refused, escaped or not") {
  const std::string unclean = "must be UTF-8 without NUL";
  CHECK(complaint_about(front("# \xff")) == "/agents/poet.md:1: " + unclean);
  CHECK(complaint_about(front("") + "\xc3") == "/agents/poet.md:1: " + unclean);
  CHECK(complaint_about(front(std::string("# \0", 3))) == "/agents/poet.md:1: " + unclean);
  CHECK(complaint_about(front("answerers: [\"a\\0b\"]")) ==
        "/agents/poet.md:3: answerers " + unclean);
}

TEST_CASE("a front matter too large to be one is refused before it is read") {
  std::string lines = "channels:";
  for (int i = 0; i < 500'000; ++i) lines += "\n-";
  CHECK(complaint_about(front(lines)) ==
        "/agents/poet.md:1: the front matter has more than 65536 bytes");
  CHECK(parse(front("") + lines).prompt == "prompt\n" + lines);
}

TEST_CASE("a folder that is not there is told by name") {
  CHECK_THROWS_WITH_AS(load_definitions("/no/such/folder", kMaxTimeout),
                       doctest::Contains("there is no folder /no/such/folder"), DefinitionError);
}

TEST_CASE("a reload replaces the agents, and a turn keeps the one it has") {
  const auto named = [](const std::string& name, const std::string& prompt) {
    AgentDefinition agent;
    agent.name = name;
    agent.prompt = prompt;
    return std::map<std::string, AgentDefinition>{{name, agent}};
  };
  Agents agents(named("poet", "old"));
  const auto held = agents.find("poet");
  REQUIRE(held);
  // Three are there without a file.
  CHECK(agents.names() == std::vector<std::string>{"external", "humanlayer", "mcp", "poet"});
  for (const char* name : {"external", "humanlayer", "mcp"}) {
    CHECK(agents.find(name)->async_questions);
    CHECK(agents.find(name)->runner == RunnerKind::external);
    CHECK_FALSE(agents.find(name)->description.empty());
  }
  agents.replace(named("critic", "new"));
  CHECK(held->prompt == "old");
  CHECK_FALSE(agents.find("poet"));
  CHECK(agents.find("critic")->prompt == "new");
  CHECK(agents.find("external"));
}

}  // namespace
}  // namespace holdpoint
