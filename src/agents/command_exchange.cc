#include "agents/command_exchange.h"

#include <poll.h>
#include <unistd.h>

#include <array>
#include <cerrno>

namespace holdpoint {
namespace {

using Steady = std::chrono::steady_clock;
using namespace std::chrono_literals;

constexpr std::size_t kMaxLineBytes = 4000;
constexpr std::size_t kMaxLines = 1000;
constexpr std::size_t kLastLines = 20;

// Empty: nothing there now; nothing: nothing ever again.
std::optional<std::string> read_from(int fd) {
  std::array<char, 16384> buffer;
  const ssize_t got = fd < 0 ? 0 : read(fd, buffer.data(), buffer.size());
  if (got > 0) return std::string(buffer.data(), static_cast<std::size_t>(got));
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return "";
  return std::nullopt;
}

}  // namespace

void ErrorLines::add(std::string_view text) {
  for (const char c : text) {
    if (c == '\n') {
      end_line();
    } else if (line_.size() < kMaxLineBytes) {
      line_ += c;
    }
  }
}

void ErrorLines::flush() {
  if (!ready_.empty() && context_.on_output) context_.on_output(std::move(ready_));
  ready_.clear();
}

void ErrorLines::finish() {
  if (!line_.empty()) end_line();
  if (count_ > kMaxLines) {
    ready_.push_back("… and " + std::to_string(count_ - kMaxLines) + " more lines, not kept");
  }
  flush();
}

void ErrorLines::end_line() {
  if (!line_.empty()) {
    last_.push_back(line_);
    if (last_.size() > kLastLines) last_.pop_front();
  }
  if (++count_ <= kMaxLines && !line_.empty()) ready_.push_back(line_);
  line_.clear();
}

CommandExchange::Said CommandExchange::run() {
  const auto deadline = Steady::now() + bounds_.timeout;
  while (!ended_) {
    if (context_.cancelled()) stop("the turn was stopped");
    const auto left = std::chrono::ceil<Duration>(deadline - Steady::now());
    if (left <= 0ms) {
      stop("the command took longer than " +
           std::to_string(std::chrono::ceil<std::chrono::seconds>(bounds_.timeout).count()) +
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
  return {std::move(output_), lines_.last()};
}

void CommandExchange::stop(const std::string& reason) {
  child_.kill_group();
  while (read_errors()) {  // Its last words are in the pipe.
  }
  lines_.finish();
  throw TurnFailed(reason, true);
}

void CommandExchange::pump(Duration longest) {
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

bool CommandExchange::read_output() {
  const auto text = read_from(child_.output());
  if (!text) child_.close_output();
  keep(text.value_or(""));
  return text && !text->empty();
}

bool CommandExchange::read_errors() {
  const auto text = read_from(child_.errors());
  if (!text) child_.close_errors();
  lines_.add(text.value_or(""));
  return text && !text->empty();
}

void CommandExchange::write_input() {
  const ssize_t sent = write(child_.input(), input_.data() + sent_, input_.size() - sent_);
  if (sent > 0) sent_ += static_cast<std::size_t>(sent);
  const bool blocked = sent < 0 && (errno == EAGAIN || errno == EINTR);
  // A command that does not care for its input may close it; that is no failure.
  if (sent_ == input_.size() || (sent < 0 && !blocked)) child_.close_input();
}

void CommandExchange::keep(std::string_view text) {
  if (output_.size() + text.size() > bounds_.max_output_bytes) {
    stop("the command printed more than " + std::to_string(bounds_.max_output_bytes) + " bytes");
  }
  output_.append(text);
}

}  // namespace holdpoint
