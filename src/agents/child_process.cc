#include "agents/child_process.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <utility>

extern char** environ;

namespace holdpoint {
namespace {

struct Pipe {
  int read = -1;
  int write = -1;
  Pipe() {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) {
      throw std::runtime_error(std::string("no pipe: ") + std::strerror(errno));
    }
    read = ends[0];
    write = ends[1];
  }
  ~Pipe() {
    if (read >= 0) close(read);
    if (write >= 0) close(write);
  }
  Pipe(const Pipe&) = delete;
};

int take(int& fd) { return std::exchange(fd, -1); }

int unblock(int fd) {
  fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
  return fd;
}

std::vector<std::string> environment_with(const std::map<std::string, std::string>& more) {
  std::vector<std::string> all;
  for (char** variable = environ; *variable; ++variable) {
    const std::string text = *variable;
    if (!more.count(text.substr(0, text.find('=')))) all.push_back(text);
  }
  for (const auto& [name, value] : more) all.push_back(name + "=" + value);
  return all;
}

void shut(int& fd) {
  if (fd >= 0) close(take(fd));
}

}  // namespace

ChildProcess::ChildProcess(const std::vector<std::string>& command,
                           const std::filesystem::path& folder,
                           const std::map<std::string, std::string>& environment) {
  Pipe in, out, err;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addchdir_np(&actions, folder.c_str());
  posix_spawn_file_actions_adddup2(&actions, in.read, STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, out.write, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, err.write, STDERR_FILENO);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  // A group of its own, and none of the server's blocked or ignored signals.
  sigset_t none, all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  posix_spawnattr_setflags(&attributes,
                           POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  std::vector<char*> argv;
  for (const auto& word : command) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  const auto variables = environment_with(environment);
  std::vector<char*> envp;
  for (const auto& variable : variables) envp.push_back(const_cast<char*>(variable.c_str()));
  envp.push_back(nullptr);
  // A program with a slash is looked for from the agent's folder, where it will run.
  const int error = posix_spawnp(&pid_, argv[0], &actions, &attributes, argv.data(), envp.data());
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) {
    throw std::runtime_error("cannot start " + command[0] + " in " + folder.string() + ": " +
                             std::strerror(error));
  }
  ended_ = static_cast<int>(syscall(SYS_pidfd_open, pid_, 0));
  if (ended_ < 0) {
    const std::string why = std::strerror(errno);
    kill_group();
    wait();
    throw std::runtime_error("cannot watch the process of " + command[0] + ": " + why);
  }
  input_ = unblock(take(in.write));
  output_ = unblock(take(out.read));
  errors_ = unblock(take(err.read));
}

ChildProcess::~ChildProcess() {
  kill_group();
  wait();
  close_input();
  close_output();
  close_errors();
  shut(ended_);
}

void ChildProcess::close_input() { shut(input_); }
void ChildProcess::close_output() { shut(output_); }
void ChildProcess::close_errors() { shut(errors_); }

void ChildProcess::kill_group() {
  // The group outlives its leader for as long as one of its processes does.
  kill(-pid_, SIGKILL);
}

ChildProcess::End ChildProcess::wait() {
  if (!reaped_) {
    while (waitpid(pid_, &status_, 0) < 0 && errno == EINTR) {
    }
    reaped_ = true;
  }
  if (WIFEXITED(status_)) {
    const int code = WEXITSTATUS(status_);
    return {code == 0, "exit code " + std::to_string(code)};
  }
  return {false, "signal " + std::to_string(WTERMSIG(status_))};
}

}  // namespace holdpoint
