#include <future>

#include "tests/agents/command.h"

namespace holdpoint {
namespace {

using namespace std::chrono_literals;
using test::Command;
using test::eventually;
using test::is_dead;

TEST_CASE("a command that ends badly has failed, whatever it printed") {
  CHECK(Command().failure_of("echo '{\"result\":1}'; exit 1") ==
        "the command ended with exit code 1");
  CHECK(Command().failure_of("echo '{\"result\":1}'; kill -9 $$") ==
        "the command ended with signal 9");
  CHECK(Command().failure_of("kill -TERM $$") == "the command ended with signal 15");
}

TEST_CASE("a program or a folder that is not there fails the turn by name") {
  Command command;
  const auto failure = [&] {
    try {
      return CommandRunner().run(command.agent, command.request, command.context);
    } catch (const TurnFailed& e) {
      return std::string(e.what());
    }
  };
  command.agent.command = {"/no/such/program"};
  CHECK(failure().starts_with("cannot start /no/such/program in "));
  command.agent.command = {"./no-such-program"};
  CHECK(failure().starts_with("cannot start ./no-such-program in "));
  command.agent.command = {"/bin/echo", "x"};
  command.agent.folder = "/no/such/folder";
  CHECK(failure().starts_with("cannot start /bin/echo in /no/such/folder"));
}

TEST_CASE("a command that takes too long is killed with all that it started") {
  Command command;
  command.context.timeout = 1s;
  CHECK(command.failure_of("echo $$ > own; (sleep 1000 & echo $! > child; wait) & wait") ==
        "the command took longer than 1 s and was killed");
  REQUIRE(command.has_file("child"));
  CHECK(eventually([&] { return is_dead(command.pid_in("own")); }));
  CHECK(eventually([&] { return is_dead(command.pid_in("child")); }));
}

TEST_CASE("a command that asks not to be killed is killed all the same") {
  Command command;
  command.context.cancelled = [&] { return command.has_file("own"); };
  CHECK(command.failure_of("trap '' TERM INT HUP; echo $$ > own; while :; do sleep 1000; done") ==
        "the turn was stopped");
  CHECK(eventually([&] { return is_dead(command.pid_in("own")); }));
}

TEST_CASE("a turn that is cancelled kills its command with all that it started") {
  Command command;
  command.context.cancelled = [&] { return command.has_file("child"); };
  CHECK(command.failure_of("echo working >&2; sleep 1000 & echo $! > child; wait") ==
        "the turn was stopped");
  CHECK(command.lines == std::vector<std::string>{"working"});
  CHECK(eventually([&] { return is_dead(command.pid_in("child")); }));
}

TEST_CASE("what a command leaves running does not hold its turn up, and is killed") {
  Command command;
  CHECK(command.run("sleep 1000 & echo $! > child; echo '{\"result\":1}'") == R"({"result":1})");
  CHECK(eventually([&] { return is_dead(command.pid_in("child")); }));
}

TEST_CASE("what a command leaves chattering on standard error does not hold its turn up") {
  Command command;
  command.context.on_output = nullptr;
  auto turn = std::async(std::launch::async, [&] {
    return command.run(
        "for i in 1 2 3 4 5 6 7 8; do yes >&2 & echo $! >> children; done; echo '{\"result\":1}'");
  });
  const bool ended = turn.wait_for(10s) == std::future_status::ready;
  CHECK(ended);
  if (!ended) {  // So that the test itself can end.
    std::ifstream children(command.dir.path() / "children");
    for (pid_t child = 0; children >> child;) kill(child, SIGKILL);
  }
  CHECK(turn.get() == R"({"result":1})");
}

TEST_CASE("turns leave no descriptors open") {
  const auto open_descriptors = [] {
    const std::filesystem::directory_iterator all("/proc/self/fd");
    return std::distance(begin(all), end(all));
  };
  Command command;
  command.run("echo ok");
  const auto before = open_descriptors();
  for (int i = 0; i < 5; ++i) {
    command.run("echo ok");
    command.failure_of("exit 1");
    command.agent.command = {"/no/such/program"};
    CHECK_THROWS_AS(CommandRunner().run(command.agent, command.request, command.context),
                    TurnFailed);
  }
  CHECK(open_descriptors() == before);
}

}  // namespace
}  // namespace holdpoint
