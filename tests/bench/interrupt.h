#pragma once

#include <stdexcept>

namespace holdpoint::bench {

struct Interrupted : std::runtime_error {
  Interrupted() : std::runtime_error("interrupted") {}
};

// From here on SIGINT, SIGTERM and SIGHUP only raise a flag, so that the children and the temporary
// folder are still cleaned up.
void watch_for_interrupt();

// Throws Interrupted once a signal has come. Every loop that may take long calls it.
void check_interrupt();

}  // namespace holdpoint::bench
