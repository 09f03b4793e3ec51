#pragma once

#include <vector>

namespace holdpoint::bench {

struct Spread {
  double p50 = 0;
  double p99 = 0;
};

// Nearest rank; zeros for no samples. Sorts `samples`.
Spread spread_of(std::vector<double>& samples);

}  // namespace holdpoint::bench
