#include "agents/command_runner.h"

#include <poll.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "agents/child_process.h"
#include "domain/text.h"

namespace holdpoint {
namespace {

using Steady = std::chrono::steady_clock;
using namespace std::chrono_literals;

constexpr std::size_t kMaxLineBytes = 4000;
constexpr std::size_t kMaxLines = 1000;

// Cuts what the command prints on standard error into lines and hands them on in small lots.
class Lines {
 public:
  explicit Lines(const TurnContext& context) : context_(context) {}

  void add(std::string_view text) {
    for (const char c : text) {
      if (c == '\n') {
        end_line();
      } else if (line_.size() < kMaxLineBytes) {
        line_ += c;
      }
    }
  }
  void flush() {
    if (!ready_.empty() && context_.on_output) context_.on_output(std::move(ready_));
    ready_.clear();
  }
  void finish() {
    if (!line_.empty()) end_line();
    if (count_ > kMaxLines) {
      ready_.push_back("… and " + std::to_string(count_ - kMaxLines) + " more lines, not kept");
    }
    flush();
  }

 private:
  void end_line() {
    if (++count_ <= kMaxLines && !line_.empty()) ready_.push_back(line_);
    line_.clear();
  }

  const TurnContext& context_;
  std::string line_;
  std::vector<std::string> ready_;
  std::size_t count_ = 0;
};

// The exchange with one child, until it has ended; what it left running in its group does not
// count.
class Exchange {
 public:
  Exchange(ChildProcess& child, std::string input, const TurnContext& context)
      : child_(child), input_(std::move(input)), context_(context), lines_(context) {}

  std::string run() {
    const auto deadline = Steady::now() + context_.timeout;
    while (!ended_) {
      if (context_.cancelled()) stop("the turn was stopped");
      const auto left = std::chrono::ceil<Duration>(deadline - Steady::now());
      if (left <= 0ms) {
        stop("the command took longer than " +
             std::to_string(std::chrono::ceil<std::chrono::seconds>(context_.timeout).count()) +
             " s and was killed");
      }
      pump(std::min<Duration>(left, 200ms));
      lines_.flush();
    }
    // What it wrote before it ended is in the pipes; what it left running must not add to that.
    child_.kill_group();
    while (read_output() || read_errors()) {
    }
    lines_.finish();
    return std::move(output_);
  }

 private:
  [[noreturn]] void stop(const std::string& reason) {
    child_.kill_group();
    while (read_errors()) {  // Its last words are in the pipe.
    }
    lines_.finish();
    throw TurnFailed(reason, true);
  }

  void pump(Duration longest) {
    // poll ignores the negative descriptors of closed streams.
    std::array<pollfd, 4> fds{{{child_.input(), POLLOUT, 0},
                               {child_.output(), POLLIN, 0},
                               {child_.errors(), POLLIN, 0},
                               {child_.ended(), POLLIN, 0}}};
    if (poll(fds.data(), fds.size(), static_cast<int>(longest.count())) <= 0) return;
    if (fds[0].revents) write_input();
    if (fds[1].revents) read_output();
    if (fds[2].revents) read_errors();
    ended_ = fds[3].revents != 0;
  }

  // Each says whether there was something to read.
  bool read_output() {
    const auto text = read_from(child_.output());
    if (!text) child_.close_output();
    keep(text.value_or(""));
    return text && !text->empty();
  }
  bool read_errors() {
    const auto text = read_from(child_.errors());
    if (!text) child_.close_errors();
    lines_.add(text.value_or(""));
    return text && !text->empty();
  }

  void write_input() {
    const ssize_t sent = write(child_.input(), input_.data() + sent_, input_.size() - sent_);
    if (sent > 0) sent_ += static_cast<std::size_t>(sent);
    const bool blocked = sent < 0 && (errno == EAGAIN || errno == EINTR);
    // A command that does not care for its input may close it; that is no failure.
    if (sent_ == input_.size() || (sent < 0 && !blocked)) child_.close_input();
  }

  // Empty: nothing there now; nothing: nothing ever again.
  static std::optional<std::string> read_from(int fd) {
    std::array<char, 16384> buffer;
    const ssize_t got = fd < 0 ? 0 : read(fd, buffer.data(), buffer.size());
    if (got > 0) return std::string(buffer.data(), static_cast<std::size_t>(got));
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return "";
    return std::nullopt;
  }

  void keep(std::string_view text) {
    if (output_.size() + text.size() > context_.max_reply_bytes) {
      stop("the command printed more than " + std::to_string(context_.max_reply_bytes) + " bytes");
    }
    output_.append(text);
  }

  ChildProcess& child_;
  const std::string input_;
  const TurnContext& context_;
  Lines lines_;
  std::size_t sent_ = 0;
  bool ended_ = false;
  std::string output_;
};

std::string last_line(std::string_view output) {
  while (!output.empty() && (output.back() == '\n' || output.back() == '\r')) {
    output.remove_suffix(1);
  }
  const auto newline = output.rfind('\n');
  return std::string(newline == std::string_view::npos ? output : output.substr(newline + 1));
}

}  // namespace

std::string CommandRunner::run(const AgentDefinition& agent, const TurnRequest& request,
                               const TurnContext& context) {
  try {
    ChildProcess child(agent.command, agent.folder);
    const std::string output = Exchange(child, turn_request_json(request) + "\n", context).run();
    const auto end = child.wait();
    if (!end.clean) throw TurnFailed("the command ended with " + end.how, true);
    std::string reply = last_line(output);
    if (is_blank(reply)) throw TurnFailed("the command printed no reply", true);
    return reply;
  } catch (const TurnFailed&) {
    throw;
  } catch (const std::runtime_error& e) {
    throw TurnFailed(e.what(), true);
  }
}

}  // namespace holdpoint
