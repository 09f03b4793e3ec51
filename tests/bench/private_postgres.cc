#include "private_postgres.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <stdexcept>
#include <utility>

namespace holdpoint::bench {
namespace {

constexpr Seconds kStartLimit{120};
constexpr Seconds kStopLimit{60};

std::array<Fd, 2> make_pipe() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) throw_errno("pipe2");
  return {Fd(ends[0]), Fd(ends[1])};
}

// Runs bash in a session of its own, so that Ctrl-C does not reach it, nor what it starts.
pid_t start_script(const char* script, const std::filesystem::path& dir, int input, int output) {
  const pid_t pid = fork();
  if (pid < 0) throw_errno("fork");
  if (pid > 0) return pid;
  setsid();
  std::signal(SIGPIPE, SIG_DFL);
  dup2(input, STDIN_FILENO);
  dup2(output, STDOUT_FILENO);
  execlp("bash", "bash", "-c", script, HOLDPOINT_TOOLS "/postgres", dir.c_str(),
         static_cast<char*>(nullptr));
  _exit(127);
}

// What it holds is thrown away, so it need not be shut down in good order.
pid_t start_keeper(const std::filesystem::path& dir, Fd* lifeline) {
  auto [read_end, write_end] = make_pipe();
  *lifeline = std::move(write_end);
  return start_script(R"(read -r; exec "$0" stop "$1" immediate 2>/dev/null)", dir, read_end.get(),
                      STDERR_FILENO);
}

std::string start_server(const std::filesystem::path& dir) {
  auto [read_end, write_end] = make_pipe();
  const Fd nothing(open("/dev/null", O_RDONLY | O_CLOEXEC));
  Child starter(start_script(R"(exec "$0" start "$1")", dir, nothing.get(), write_end.get()));
  write_end.close();
  std::string url;
  std::array<char, 512> buffer;
  while (true) {
    const ssize_t got = read(read_end.get(), buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;  // Ctrl-C: a start that is under way is not cut short
    if (got <= 0) break;
    url.append(buffer.data(), static_cast<std::size_t>(got));
  }
  if (!starter.ended(after(kStartLimit)) || !starter.ended_well() || !url.ends_with('\n'))
    throw std::runtime_error("tools/postgres start " + dir.string() + " failed");
  url.pop_back();
  return url;
}

}  // namespace

PrivatePostgres::Keeper::Keeper(const std::filesystem::path& dir)
    : process_(start_keeper(dir, &lifeline_)) {}

PrivatePostgres::Keeper::~Keeper() {
  lifeline_.close();
  process_.ended(after(kStopLimit));
}

PrivatePostgres::PrivatePostgres(const std::filesystem::path& dir)
    : keeper_(dir), url_(start_server(dir)) {}

}  // namespace holdpoint::bench
