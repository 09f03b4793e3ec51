#pragma once

#include <sys/types.h>

#include <optional>
#include <vector>

#include "batch_sizes.h"
#include "deployment.h"
#include "instant.h"
#include "percentile.h"
#include "process_usage.h"

namespace holdpoint::bench {

// Processor time, all in seconds.
struct CpuUse {
  double nodes = 0;
  std::optional<double> postgres;  // nothing where there is none, or none on this machine
  double agent = 0;
  double generator = 0;
  double machine = 0;  // with whatever else runs here

  double all() const { return nodes + postgres.value_or(0) + agent + generator; }
};

// One number of clients, each going round trigger -> ask -> answer -> result.
struct LifecycleStep {
  Setup setup;
  int clients = 0;
  long completed = 0;
  double per_s = 0;
  Spread answer_to_completed_ms;
  Spread lifecycle_ms;
  long errors = 0;

  std::optional<BatchSizes> batches;       // of the measured span; nothing if the server shows none
  std::optional<double> commits_per_s;     // on PostgreSQL: PostgresServer::writing_transactions
  std::vector<ProcessUsage> nodes;         // memory at the end
  std::optional<double> fdatasyncs_per_s;  // of the disk just before, if it was looked at
  CpuUse cpu;                              // of the measured span, and until the last one was done
  double elapsed_s = 0;
  long finished = 0;  // in `elapsed_s`: what completed late is no throughput, but has its cost

  // Of all nodes together.
  double rss_bytes() const;
  double peak_rss_bytes() const;

  double cores(double cpu_seconds) const { return cpu_seconds / elapsed_s; }
  std::optional<double> ms_a_lifecycle(std::optional<double> cpu_seconds) const;
};

// Warms up for a second, then measures for `span`; lifecycles under way at its end are finished,
// but not counted.
LifecycleStep run_lifecycles(const Deployment& deployment, pid_t agent, int clients, Seconds span);

}  // namespace holdpoint::bench
