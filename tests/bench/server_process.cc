#include "server_process.h"

#include <fcntl.h>
#include <unistd.h>

#include <csignal>
#include <deque>
#include <fstream>
#include <stdexcept>
#include <utility>

#include "interrupt.h"
#include "json_scan.h"
#include "temp_dir.h"

namespace holdpoint::bench {
namespace {

constexpr Seconds kStartLimit{15};
constexpr Seconds kStopLimit{12};  // the server promises ten
constexpr Seconds kDeathGrace{0.3};
constexpr std::size_t kTailLines = 20;

void write_settings(const std::filesystem::path& dir, int agent_port,
                    const std::string& database_url) {
  std::filesystem::create_directories(dir / "agents");
  write_file(dir / "settings.toml",
             "[server]\nlisten = \"127.0.0.1:0\"\n\n"
             "[database]\nurl = '" +
                 database_url +
                 "'\n\n"
                 "[agents]\ndir = \"agents\"\n\n"
                 "[outgoing]\nallow_private = [\"127.0.0.0/8\"]\n");
  write_file(dir / "agents" / "bench.md",
             "---\nname: bench\nrunner: http\nurl: http://127.0.0.1:" + std::to_string(agent_port) +
                 "/turn\nasync_questions: true\n---\nAsks for a style and returns it.\n");
}

pid_t start_server(const std::filesystem::path& binary, const std::filesystem::path& settings,
                   const std::filesystem::path& log) {
  const Fd output(open(log.c_str(), O_CREAT | O_WRONLY | O_APPEND | O_CLOEXEC, 0600));
  if (!output) throw_errno("open " + log.string());
  const pid_t parent = getpid();
  const pid_t pid = fork();
  if (pid < 0) throw_errno("fork");
  if (pid > 0) return pid;

  die_with_parent(parent);
  setpgid(0, 0);                  // Ctrl-C is for the bench alone, which then ends the server
  std::signal(SIGPIPE, SIG_DFL);  // cpp-httplib has this process ignore it
  dup2(output.get(), STDOUT_FILENO);
  dup2(output.get(), STDERR_FILENO);
  execl(binary.c_str(), binary.c_str(), "serve", "--settings", settings.c_str(),
        static_cast<char*>(nullptr));
  const std::string problem = "cannot run " + binary.string() + "\n";
  if (write(STDERR_FILENO, problem.data(), problem.size()) < 0) _exit(126);
  _exit(127);
}

std::string find_address(const std::filesystem::path& log) {
  std::ifstream file(log);
  for (std::string line; std::getline(file, line);)
    if (text_of(member(line, "event")) == "server_listening")
      return std::string(text_of(member(line, "address")));
  return {};
}

std::string tail_of(const std::filesystem::path& log) {
  std::deque<std::string> lines;
  std::ifstream file(log);
  for (std::string line; std::getline(file, line);) {
    lines.push_back(line);
    if (lines.size() > kTailLines) lines.pop_front();
  }
  std::string tail;
  for (const std::string& line : lines) tail += "  | " + line + "\n";
  return tail;
}

}  // namespace

ServerProcess::ServerProcess(const std::filesystem::path& binary, std::filesystem::path dir,
                             int agent_port, const std::string& database_url)
    : dir_(std::move(dir)) {
  write_settings(dir_, agent_port, database_url);
  child_ = std::make_unique<Child>(start_server(binary, dir_ / "settings.toml", log_path()));
  await_listening();
}

void ServerProcess::stop() {
  child_->send(SIGTERM);
  if (!child_->ended(after(kStopLimit)))
    throw std::runtime_error(explain("the server did not leave after SIGTERM"));
  if (!child_->ended_well())
    throw std::runtime_error(explain("the server did not shut down cleanly"));
}

std::string ServerProcess::explain(const std::string& problem) {
  const auto end = child_->ended(after(kDeathGrace));
  return problem + (end ? "\nthe server ended with " + *end : "") +
         "\nthe last lines of its log:\n" + tail_of(log_path());
}

void ServerProcess::await_listening() {
  const Instant deadline = after(kStartLimit);
  while (true) {
    check_interrupt();
    const std::string address = find_address(log_path());
    if (!address.empty()) {
      endpoint_ = parse_endpoint(address);
      return;
    }
    if (child_->ended(after(Seconds(0.02))))
      throw std::runtime_error(explain("the server did not start"));
    if (now() >= deadline)
      throw std::runtime_error(explain("the server did not log `server_listening` in time"));
  }
}

}  // namespace holdpoint::bench
