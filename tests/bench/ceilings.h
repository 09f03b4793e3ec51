#pragma once

#include <filesystem>
#include <optional>

#include "instant.h"
#include "postgres_server.h"

namespace holdpoint::bench {

// Transactions a second of PostgreSQL, a row each.
struct PostgresCeiling {
  double alone_per_s = 0;   // on one connection
  double shared_per_s = 0;  // on kCeilingPostgresConnections
};

// What this machine could do at best, in the same run as the figures that are held against it.
struct Ceilings {
  double httplib_requests_per_s = 0;
  double sqlite_commits_per_s = 0;
  double fdatasyncs_per_s = 0;
  std::optional<PostgresCeiling> postgres;
};

// Each of them takes about `span`; the files go into `dir`. PostgreSQL's are left out without one.
Ceilings measure_ceilings(const std::filesystem::path& dir, Seconds span, PostgresServer* postgres);

// That of fdatasync alone; `file` is written to.
double measure_syncs(const std::filesystem::path& file, Seconds span);

}  // namespace holdpoint::bench
