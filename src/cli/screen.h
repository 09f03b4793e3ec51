#pragma once

#include <termios.h>

#include <string>
#include <vector>

#include "cli/inbox_view.h"

namespace holdpoint::cli {

// The terminal on standard input and output as a screen of its own: keys come as they are typed,
// and what was there before is there again afterwards. Signals of the keyboard stay signals.
class Screen {
 public:
  // Whether there is a terminal to make one of.
  static bool is_there();

  Screen() { enter(); }
  ~Screen() { leave(); }
  Screen(const Screen&) = delete;

  ScreenSize size() const;
  void show(const std::vector<ScreenLine>& lines);
  // What was typed; nothing: not yet, or, if `ended` is set, never again.
  std::string read(bool& ended);

  // Gives the terminal back for a while, and takes it again.
  void leave();
  void enter();

 private:
  static void write_all(const std::string& text);

  termios before_{};
  bool entered_ = false;
};

}  // namespace holdpoint::cli
