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
  std::optional<PostgresFacts> postgres;  // nothing when SQLite alone is measured
  std::optional<Ceilings> ceilings;
  std::vector<LifecycleStep> lifecycles;  // SQLite's first
  std::vector<Parked> parked;

  long errors() const {
    long all = 0;
    for (const LifecycleStep& step : lifecycles) all += step.errors;
    for (const Parked& one : parked) all += one.errors;
    return all;
  }
};

// A figure held against the machine, each as a share of a ceiling; nothing unmeasured.
struct Ratios {
  std::optional<double> to_httplib;
  std::optional<double> to_commits;  // of the engine itself; PostgreSQL's on many connections
  std::optional<double> to_fdatasyncs;
};

inline Ratios ratios_of(double per_s, Engine engine, const std::optional<Ceilings>& ceilings) {
  if (!ceilings) return {};
  Ratios ratios{per_s / ceilings->httplib_requests_per_s, std::nullopt,
                per_s / ceilings->fdatasyncs_per_s};
  if (engine == Engine::sqlite) ratios.to_commits = per_s / ceilings->sqlite_commits_per_s;
  if (engine == Engine::postgres && ceilings->postgres)
    ratios.to_commits = per_s / ceilings->postgres->shared_per_s;
  return ratios;
}

// How many commits, one after the other, the engine could make in that time.
inline std::optional<double> in_commits(double milliseconds, Engine engine,
                                        const std::optional<Ceilings>& ceilings) {
  if (!ceilings) return std::nullopt;
  if (engine == Engine::sqlite) return milliseconds / 1000 * ceilings->sqlite_commits_per_s;
  if (!ceilings->postgres) return std::nullopt;
  return milliseconds / 1000 * ceilings->postgres->alone_per_s;
}

}  // namespace holdpoint::bench
