#include "cli/screen.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <array>
#include <cerrno>

namespace holdpoint::cli {
namespace {

// The other screen, no cursor, no wrapping at the edge (a text that is wider there than we think
// must not push the rest away), pastes marked as such.
constexpr const char* kEnter = "\x1b[?1049h\x1b[?25l\x1b[?7l\x1b[?2004h\x1b[2J";
constexpr const char* kLeave = "\x1b[0m\x1b[?2004l\x1b[?7h\x1b[?25h\x1b[?1049l";

const char* start_of(ScreenLine::Look look) {
  switch (look) {
    case ScreenLine::Look::bold:
      return "\x1b[1m";
    case ScreenLine::Look::dim:
      return "\x1b[2m";
    case ScreenLine::Look::chosen:
      return "\x1b[7m";
    case ScreenLine::Look::plain:
      break;
  }
  return "";
}

}  // namespace

bool Screen::is_there() { return isatty(STDIN_FILENO) == 1 && isatty(STDOUT_FILENO) == 1; }

void Screen::enter() {
  if (entered_ || tcgetattr(STDIN_FILENO, &before_) != 0) return;
  termios raw = before_;
  raw.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO | IEXTEN);
  raw.c_iflag &= ~static_cast<tcflag_t>(ICRNL | INLCR | IXON);
  raw.c_cc[VMIN] = 1;
  raw.c_cc[VTIME] = 0;
  // What was typed before was not meant for what is shown now.
  tcsetattr(STDIN_FILENO, TCSAFLUSH, &raw);
  write_all(kEnter);
  entered_ = true;
}

void Screen::leave() {
  if (!entered_) return;
  write_all(kLeave);
  tcsetattr(STDIN_FILENO, TCSAFLUSH, &before_);
  entered_ = false;
}

ScreenSize Screen::size() const {
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0 || size.ws_row == 0)
    return {};
  return {size.ws_col, size.ws_row};
}

void Screen::show(const std::vector<ScreenLine>& lines) {
  std::string frame;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    frame += "\x1b[" + std::to_string(i + 1) + ";1H\x1b[0m\x1b[2K";
    frame += start_of(lines[i].look) + lines[i].text;
  }
  write_all(frame + "\x1b[0m\x1b[J");
}

std::string Screen::read(bool& ended) {
  std::array<char, 4096> bytes{};
  const ssize_t got = ::read(STDIN_FILENO, bytes.data(), bytes.size());
  ended = got == 0 || (got < 0 && errno != EINTR && errno != EAGAIN);
  return got > 0 ? std::string(bytes.data(), static_cast<std::size_t>(got)) : "";
}

void Screen::write_all(const std::string& text) {
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t written = write(STDOUT_FILENO, text.data() + done, text.size() - done);
    if (written < 0 && errno != EINTR) return;
    if (written > 0) done += static_cast<std::size_t>(written);
  }
}

}  // namespace holdpoint::cli
