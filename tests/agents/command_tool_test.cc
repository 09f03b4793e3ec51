#include "agents/llm/command_tool.h"

#include "tests/agents/toolbox.h"

namespace holdpoint {
namespace {

using namespace std::chrono_literals;
using test::eventually;
using test::is_dead;
using test::read_file;
using test::ToolAgent;

// A tool `t` that is this shell script.
class Script : public ToolAgent {
 public:
  explicit Script(const std::string& script, std::chrono::seconds timeout = 60s)
      : ToolAgent("tools: [{name: t, description: Does., command: [x]}]") {
    agent.tools[0].how = CommandTool{{"/bin/sh", "-c", script}};
    agent.tools[0].timeout = timeout;
  }
};

TEST_CASE("a command tool reads its input, runs in the agent's folder and says the result") {
  Script echo("cat; pwd");
  CHECK(echo.content_of("t", "{ \"a\" :\n[1] }") ==
        "{\"a\":[1]}\n" + std::filesystem::canonical(echo.dir.path()).string() + "\n");
  CHECK(Script("cat").content_of("t", "") == "{}\n");
  CHECK(Script("true").content_of("t", "{}") == "(no output)");
  CHECK(Script("printf 'a\\377'").content_of("t", "{}") == "a\uFFFD");
}

TEST_CASE("a command tool knows its call and its session, and has the server's environment") {
  setenv("HOLDPOINT_SESSION", "not-this", 1);
  setenv("HOLDPOINT_TEST_SEEN", "yes", 1);
  Script script("");
  script.agent.tools[0].how = CommandTool{{"env"}};
  const std::string all = "\n" + script.content_of("t", "{}");
  for (const std::string line :
       {"HOLDPOINT_TOOL_CALL=s-1:4:call_1", "HOLDPOINT_SESSION=s-1", "HOLDPOINT_TEST_SEEN=yes"}) {
    CHECK(all.find("\n" + line + "\n") != std::string::npos);
  }
  CHECK(all.find("not-this") == std::string::npos);
  unsetenv("HOLDPOINT_SESSION");
  unsetenv("HOLDPOINT_TEST_SEEN");
}

TEST_CASE("a command tool that fails says its last words") {
  Script failing("echo half; echo first >&2; echo 'no such issue' >&2; exit 3");
  CHECK(failing.error_of("t", "{}") == "the command ended with exit code 3\nfirst\nno such issue");
  CHECK(failing.output() == std::vector<std::string>{"first", "no such issue"});
  Script many("i=0; while [ $i -lt 2000 ]; do echo line $i >&2; i=$((i+1)); done; exit 1");
  const std::string said = many.error_of("t", "{}");
  CHECK(said.starts_with("the command ended with exit code 1\nline 1980\n"));
  CHECK(said.ends_with("\nline 1999"));
  CHECK(Script("kill -9 $$").error_of("t", "{}") == "the command ended with signal 9");
}

TEST_CASE("what a command tool prints on standard error is the agent's output, and no result") {
  Script script("echo working >&2; echo done");
  CHECK(script.content_of("t", "{}") == "done\n");
  CHECK(script.output() == std::vector<std::string>{"working"});
}

TEST_CASE("a command tool that is not there, prints without end or takes too long is an error") {
  Script missing("");
  missing.agent.tools[0].how = CommandTool{{"./no-such-program"}};
  CHECK(missing.error_of("t", "{}").starts_with("cannot start ./no-such-program in "));
  CHECK(Script("yes").error_of("t", "{}") == "the command printed more than 4194304 bytes");
  Script slow("echo $$ > own; sleep 1000", 1s);
  CHECK(slow.error_of("t", "{}") == "the command took longer than 1 s and was killed");
  const pid_t own = std::stoi(read_file(slow.dir.path() / "own"));
  CHECK(eventually([&] { return is_dead(own); }));
}

TEST_CASE("a turn that is stopped kills its command tool, and there is no result") {
  Script script("echo $$ > own; sleep 1000");
  script.stopped = [&] { return !read_file(script.dir.path() / "own").empty(); };
  CHECK_THROWS_WITH_AS(script.run("t", "{}"), "the turn was stopped", TurnFailed);
  const pid_t own = std::stoi(read_file(script.dir.path() / "own"));
  CHECK(eventually([&] { return is_dead(own); }));
}

}  // namespace
}  // namespace holdpoint
