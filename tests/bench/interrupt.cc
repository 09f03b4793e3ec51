#include "interrupt.h"

#include <csignal>

namespace holdpoint::bench {
namespace {

volatile std::sig_atomic_t interrupted = 0;

void note_interrupt(int) { interrupted = 1; }

}  // namespace

void watch_for_interrupt() {
  struct sigaction action {};
  action.sa_handler = note_interrupt;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  sigaction(SIGHUP, &action, nullptr);
}

void check_interrupt() {
  if (interrupted != 0) throw Interrupted();
}

}  // namespace holdpoint::bench
