#include "cli/password_prompt.h"

#include <termios.h>
#include <unistd.h>

#include <cstdio>
#include <iostream>

#include "cli/client.h"

namespace holdpoint::cli {
namespace {

// Typed characters stay unseen while it lives.
class Unseen {
 public:
  Unseen() {
    tcgetattr(STDIN_FILENO, &before_);
    termios now = before_;
    now.c_lflag &= ~static_cast<tcflag_t>(ECHO);
    tcsetattr(STDIN_FILENO, TCSAFLUSH, &now);
  }
  ~Unseen() { tcsetattr(STDIN_FILENO, TCSAFLUSH, &before_); }
  Unseen(const Unseen&) = delete;

 private:
  termios before_{};
};

std::string ask(const char* prompt) {
  std::fprintf(stderr, "%s: ", prompt);
  std::string line;
  std::getline(std::cin, line);
  std::fputc('\n', stderr);
  return line;
}

}  // namespace

std::string read_new_password(bool from_stdin) {
  std::string password;
  if (from_stdin) {
    std::getline(std::cin, password);
  } else if (isatty(STDIN_FILENO)) {
    const Unseen unseen;
    password = ask("New password (10 characters or more)");
    if (ask("The same again") != password) throw CallFailed("the two passwords differ");
  } else {
    throw CallFailed("no terminal to ask for a password: use --password-stdin");
  }
  if (password.empty()) throw CallFailed("the password is empty");
  return password;
}

}  // namespace holdpoint::cli
