#include "agents/command_runner.h"

#include <sys/resource.h>

#include "tests/agents/command.h"

namespace holdpoint {
namespace {

using test::Command;
using test::read_file;

TEST_CASE("the reply is the last line of standard output") {
  CHECK(Command().run("echo '{\"result\":1}'") == R"({"result":1})");
  CHECK(Command().run("echo thinking; echo; echo '{\"result\":2}'") == R"({"result":2})");
  CHECK(Command().run("printf 'a\\n{\"result\":3}'") == R"({"result":3})");
  CHECK(Command().run("printf 'a\\r\\n{\"result\":4}\\r\\n\\n\\n'") == R"({"result":4})");
}

TEST_CASE("the command gets the turn on standard input, and then its end") {
  Command command;
  command.request.state = R"({"n": 1.0})";
  command.run("cat > input; echo ok");
  CHECK(read_file(command.dir.path() / "input") == turn_request_json(command.request) + "\n");
}

TEST_CASE("the command runs in its folder, without a shell of ours") {
  Command command;
  CHECK(command.run("pwd") == std::filesystem::canonical(command.dir.path()));
  command.agent.command = {"/bin/echo", "$HOME * ; \"x\""};
  CHECK(CommandRunner().run(command.agent, command.request, command.context) == "$HOME * ; \"x\"");
}

TEST_CASE("a program with a slash is looked for in the agent's folder") {
  Command command;
  const auto program = command.dir.path() / "poet";
  std::ofstream(program) << "#!/bin/sh\necho \"$1\"\n";
  std::filesystem::permissions(program, std::filesystem::perms::owner_all);
  command.agent.command = {"./poet", "an argument"};
  CHECK(CommandRunner().run(command.agent, command.request, command.context) == "an argument");
}

TEST_CASE("more than a pipe holds goes in and comes out at the same time") {
  Command command;
  command.request.payload = "\"" + std::string(2'000'000, 'x') + "\"";
  CHECK(command.run("cat") == turn_request_json(command.request));
}

TEST_CASE("a command that does not read, or closes its input, is no failure") {
  Command command;
  command.request.payload = "\"" + std::string(1'000'000, 'x') + "\"";
  CHECK(command.run("exec 0<&-; echo closed") == "closed");
  CHECK(command.run("echo ignored") == "ignored");
  CHECK(command.run("head -c 10 > /dev/null; echo enough") == "enough");
}

TEST_CASE("a turn that waits for its command uses next to no processor time") {
  const auto used = [] {
    rusage usage{};
    getrusage(RUSAGE_THREAD, &usage);
    return (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000 +
           (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1000;
  };
  Command command;
  command.request.payload = "\"" + std::string(1'000'000, 'x') + "\"";
  const auto before = used();
  command.run("exec 0<&-; echo closed; exec 1>&- 2>&-; sleep 0.6");
  CHECK(used() - before < 150);
}

TEST_CASE("the lines of standard error come in order, each without its end") {
  Command command;
  command.run("for i in 1 2 3 4 5; do echo line $i >&2; done; printf 'the end' >&2; echo ok");
  CHECK(command.lines ==
        std::vector<std::string>{"line 1", "line 2", "line 3", "line 4", "line 5", "the end"});
}

TEST_CASE("a line of standard error comes while the command still runs") {
  Command command;
  command.context.on_output = [&](std::vector<std::string> some) {
    if (some.at(0) == "first") std::ofstream(command.dir.path() / "go") << "go";
  };
  CHECK(command.run("echo first >&2; until test -s go; do sleep 0.01; done; echo went on") ==
        "went on");
}

TEST_CASE("lines of standard error that are long or many are cut, and the cut is told") {
  Command command;
  command.run("head -c 9000 /dev/zero | tr '\\0' x >&2; echo >&2; seq 1 1500 >&2; echo ok");
  REQUIRE(command.lines.size() == 1001);
  CHECK(command.lines[0].size() == 4000);
  CHECK(command.lines[1] == "1");
  CHECK(command.lines[999] == "999");
  CHECK(command.lines[1000] == "… and 501 more lines, not kept");
}

TEST_CASE("standard error is told of a turn that fails, too") {
  Command command;
  CHECK(command.failure_of("echo why >&2; exit 3") == "the command ended with exit code 3");
  CHECK(command.lines == std::vector<std::string>{"why"});
}

TEST_CASE("a command that prints nothing has failed") {
  CHECK(Command().failure_of("true") == "the command printed no reply");
  CHECK(Command().failure_of("printf '\\n\\n'") == "the command printed no reply");
  CHECK(Command().failure_of("echo '   '") == "the command printed no reply");
  CHECK(Command().failure_of("exec 1>&-") == "the command printed no reply");
}

TEST_CASE("a command that prints too much is stopped") {
  Command command;
  command.context.max_reply_bytes = 1000;
  CHECK(command.run("head -c 999 /dev/zero | tr '\\0' x").size() == 999);
  CHECK(command.run("head -c 1000 /dev/zero | tr '\\0' x").size() == 1000);
  CHECK(command.failure_of("head -c 1001 /dev/zero | tr '\\0' x") ==
        "the command printed more than 1000 bytes");
  CHECK(command.failure_of("yes") == "the command printed more than 1000 bytes");
}

TEST_CASE("a command has none of the signals that we ignore") {
  Command command;
  command.run("yes | head -n 1 > /dev/null; echo ok");
  CHECK(command.lines.empty());  // With SIGPIPE ignored, yes would complain of a broken pipe.
}

}  // namespace
}  // namespace holdpoint
