#pragma once

#include "deployment.h"

namespace holdpoint::bench {

// What one session that waits for its answer costs.
struct Parked {
  Setup setup;
  long sessions = 0;
  double per_s = 0;
  double memory_bytes = 0;    // resident in all nodes, per session
  double disk_bytes = 0;      // database, and SQLite's write-ahead log, per session
  double database_bytes = 0;  // whole files, at the end
  double wal_bytes = 0;
  double rss_bytes = 0;  // of all nodes together
  double peak_rss_bytes = 0;
  long errors = 0;
};

// Parks a few hundred sessions first, so that caches, threads and the write-ahead log have their
// size before anything is counted. Wants nodes that have done nothing yet.
Parked park_sessions(const Deployment& deployment, long sessions);

}  // namespace holdpoint::bench
