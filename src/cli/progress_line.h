#pragma once

#include <cstddef>
#include <string>

#include "base/time.h"
#include "cli/waiting.h"

namespace holdpoint::cli {

// `42s`, `1m05s`, `2h05m`, `1d02h`.
std::string span_text(Duration span);

// How a question is waited for, in less than `columns`: what does not fit is left out.
std::string progress_text(const Waiting::Seen& seen, Duration waited, Time now,
                          std::size_t columns);

// One line on standard error that is written over and over, if that is a terminal; else it shows
// nothing. Others print there after clear() only.
class ProgressLine {
 public:
  ProgressLine();
  ~ProgressLine() { clear(); }
  ProgressLine(const ProgressLine&) = delete;

  bool on_terminal() const { return on_terminal_; }
  // That a text may take.
  std::size_t columns() const;
  void show(const std::string& text);
  void clear();

 private:
  const bool on_terminal_;
  std::string shown_;
};

}  // namespace holdpoint::cli
