#pragma once

#include <signal.h>

#include <initializer_list>

#include "base/time.h"

// What the thread of a command that people watch waits for besides its input.
namespace holdpoint::cli {

// Rung by other threads. Readable, as poll(2) has it, from a ring until the next take().
class Bell {
 public:
  Bell();
  ~Bell();
  Bell(const Bell&) = delete;

  // From any thread.
  void ring();
  void take();
  int fd() const { return fd_; }

 private:
  const int fd_;
};

// Signals that arrive here instead of ending the process: for all threads that are started later.
class Signals {
 public:
  explicit Signals(std::initializer_list<int> numbers);
  ~Signals();
  Signals(const Signals&) = delete;

  // The next that has arrived; 0: none.
  int take();
  int fd() const { return fd_; }

 private:
  sigset_t before_;
  int fd_ = -1;
};

enum class Woken { by_input, by_other, by_time };
// Until one of them has something, or `longest` has passed. `input` is a descriptor too, or -1.
Woken wait_for_any(const Bell& bell, const Signals& signals, int input, Duration longest);

}  // namespace holdpoint::cli
