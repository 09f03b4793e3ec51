#pragma once

#include <filesystem>

#include "instant.h"

namespace holdpoint::bench {

// What this machine could do at best, in the same run as the figures that are held against it.
struct Ceilings {
  double httplib_requests_per_s = 0;
  double sqlite_commits_per_s = 0;
  double fdatasyncs_per_s = 0;
};

// Each of the three takes about `span`; the files go into `dir`.
Ceilings measure_ceilings(const std::filesystem::path& dir, Seconds span);

}  // namespace holdpoint::bench
