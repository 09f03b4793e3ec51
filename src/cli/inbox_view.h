#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/time.h"
#include "cli/inbox_desk.h"

namespace holdpoint::cli {

struct ScreenLine {
  enum class Look { plain, bold, dim, chosen };
  std::string text;  // Printable.
  Look look = Look::plain;
};
struct ScreenSize {
  std::size_t columns = 80, lines = 24;
};

// The whole screen: exactly as many lines as it has, each no wider than it is. `away` says why the
// server cannot be reached; empty: it can.
std::vector<ScreenLine> draw_inbox(const InboxDesk& desk, const std::string& server,
                                   const std::string& away, Time now, ScreenSize size);

}  // namespace holdpoint::cli
