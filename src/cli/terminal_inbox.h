#pragma once

#include <string>

#include "cli/client.h"

namespace holdpoint::cli {

// Shows what waits on the terminal, live, and sends the answers that are typed there, in the name
// `by` unless that is empty. Returns the exit code: 0, 4 without a terminal, 1 if the server does
// not let it, 128 and the number of a signal that ended it.
int run_inbox(const Whereabouts& where, const std::string& by);

}  // namespace holdpoint::cli
