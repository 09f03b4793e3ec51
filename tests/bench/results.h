#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ceilings.h"
#include "lifecycles.h"
#include "parked.h"

namespace holdpoint::bench {

struct Results {
  unsigned cores = 0;
  double seconds = 0;
  std::string dir;
  bool dir_in_memory = false;
  std::optional<Ceilings> ceilings;
  std::vector<LifecycleStep> lifecycles;
  std::optional<Parked> parked;

  long errors() const {
    long all = parked ? parked->errors : 0;
    for (const LifecycleStep& step : lifecycles) all += step.errors;
    return all;
  }
};

// A figure held against the machine, each as a share of a ceiling; nothing unmeasured.
struct Ratios {
  std::optional<double> to_httplib;
  std::optional<double> to_commits;
  std::optional<double> to_fdatasyncs;
};

inline Ratios ratios_of(double per_s, const std::optional<Ceilings>& ceilings) {
  if (!ceilings) return {};
  return {per_s / ceilings->httplib_requests_per_s, per_s / ceilings->sqlite_commits_per_s,
          per_s / ceilings->fdatasyncs_per_s};
}

// How many commits, one after the other, the machine could make in that time.
inline std::optional<double> in_commits(double milliseconds,
                                        const std::optional<Ceilings>& ceilings) {
  if (!ceilings) return std::nullopt;
  return milliseconds / 1000 * ceilings->sqlite_commits_per_s;
}

}  // namespace holdpoint::bench
