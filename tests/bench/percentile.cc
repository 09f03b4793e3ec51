#include "percentile.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace holdpoint::bench {

Spread spread_of(std::vector<double>& samples) {
  if (samples.empty()) return {};
  std::sort(samples.begin(), samples.end());
  const auto at = [&](double share) {
    const double rank = std::ceil(share * static_cast<double>(samples.size()));
    return samples[static_cast<std::size_t>(std::max(rank, 1.0)) - 1];
  };
  return {at(0.50), at(0.99)};
}

}  // namespace holdpoint::bench
