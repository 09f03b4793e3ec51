#pragma once

#include <iosfwd>

#include "results.h"

// The tables that are there only when PostgreSQL is measured beside SQLite.
namespace holdpoint::bench {

// Which PostgreSQL it was, and what shares the machine with it.
void print_server(std::ostream& out, const Results& results);
// Each step against SQLite's, and against one node's.
void print_comparison(std::ostream& out, const Results& results);
void print_processor_time(std::ostream& out, const Results& results);
void print_parked_side_by_side(std::ostream& out, const Results& results);

}  // namespace holdpoint::bench
