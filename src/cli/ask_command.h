#pragma once

#include <string>

#include "cli/ask_line.h"
#include "cli/client.h"

namespace holdpoint::cli {

// How `ask` and `wait` go about it.
struct AskManner {
  bool json = false;
  bool detach = false;
  std::string connect_timeout = "60s";
};

// Asks, and waits for the answer unless it is to detach. Prints the answer, or what it complains
// about; returns the exit code (see exits). SIGINT and SIGTERM leave the question open and say how
// to go on.
int run_ask(const Whereabouts& where, const AskLine& line, const AskManner& manner);

// Waits for what was asked before; `id` is the question's or its session's.
int run_wait(const Whereabouts& where, const std::string& id, const AskManner& manner);

}  // namespace holdpoint::cli
