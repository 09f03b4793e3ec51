#pragma once

#include <string>

#include "load.h"

namespace holdpoint::bench {

// Counts what went wrong in one step, and prints the first few on standard error.
class Errors {
 public:
  void add(const std::string& what);
  void add(const std::string& what, const Response& response);

  long count() const { return count_; }
  // So many that going on would only repeat them.
  bool too_many() const { return count_ >= 100; }

 private:
  long count_ = 0;
};

}  // namespace holdpoint::bench
