#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include "base/log.h"

int main(int argc, char** argv) {
  // Failing on purpose is half of what tests do; the log would only bury what they say.
  holdpoint::set_log_level(holdpoint::Level::silent);
  doctest::Context context(argc, argv);
  return context.run();
}
