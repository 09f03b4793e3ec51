#pragma once

#include <string>

namespace holdpoint::cli {

// A new password: the first line of standard input, or typed twice, unseen, on a terminal. Throws
// CallFailed.
std::string read_new_password(bool from_stdin);

}  // namespace holdpoint::cli
