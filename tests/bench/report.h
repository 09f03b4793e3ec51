#pragma once

#include <iosfwd>

#include "results.h"

namespace holdpoint::bench {

// The same figures twice: for people, and for programs.
void print_tables(std::ostream& out, const Results& results);
void print_json(std::ostream& out, const Results& results);

}  // namespace holdpoint::bench
