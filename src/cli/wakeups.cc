#include "cli/wakeups.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <system_error>

namespace holdpoint::cli {
namespace {

int checked(int fd, const char* what) {
  if (fd < 0) throw std::system_error(errno, std::generic_category(), what);
  return fd;
}

}  // namespace

Bell::Bell() : fd_(checked(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), "eventfd")) {}

Bell::~Bell() { close(fd_); }

void Bell::ring() {
  const std::uint64_t one = 1;
  // It fails only when it has been rung 2^64 times already.
  [[maybe_unused]] const auto written = write(fd_, &one, sizeof one);
}

void Bell::take() {
  std::uint64_t count = 0;
  [[maybe_unused]] const auto got = read(fd_, &count, sizeof count);
}

Signals::Signals(std::initializer_list<int> numbers) {
  sigset_t set;
  sigemptyset(&set);
  for (const int number : numbers) sigaddset(&set, number);
  pthread_sigmask(SIG_BLOCK, &set, &before_);
  fd_ = checked(signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK), "signalfd");
}

Signals::~Signals() {
  close(fd_);
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

int Signals::take() {
  signalfd_siginfo arrived{};
  if (read(fd_, &arrived, sizeof arrived) != sizeof arrived) return 0;
  return static_cast<int>(arrived.ssi_signo);
}

Woken wait_for_any(const Bell& bell, const Signals& signals, int input, Duration longest) {
  std::array<pollfd, 3> ends{
      {{bell.fd(), POLLIN, 0}, {signals.fd(), POLLIN, 0}, {input, POLLIN, 0}}};
  const int ready = poll(ends.data(), ends.size(), static_cast<int>(longest.count()));
  if (ready == 0) return Woken::by_time;
  return ready > 0 && ends[2].revents != 0 ? Woken::by_input : Woken::by_other;
}

}  // namespace holdpoint::cli
