#pragma once

#include <sys/types.h>

#include <optional>

#include "batch_sizes.h"
#include "instant.h"
#include "percentile.h"
#include "process_usage.h"
#include "server_process.h"

namespace holdpoint::bench {

// One number of clients, each going round trigger -> ask -> answer -> result.
struct LifecycleStep {
  int clients = 0;
  long completed = 0;
  double per_s = 0;
  Spread answer_to_completed_ms;
  Spread lifecycle_ms;
  long errors = 0;

  std::optional<BatchSizes> batches;  // of the measured span; nothing if the server shows none
  double commits_per_s = 0;
  ProcessUsage server;  // memory at the end; the rest is processor use, in cores
  double server_cores = 0;
  double agent_cores = 0;
  double generator_cores = 0;
};

// Warms up for a second, then measures for `span`; lifecycles under way at its end are finished,
// but not counted.
LifecycleStep run_lifecycles(const ServerProcess& server, pid_t agent, int clients, Seconds span);

}  // namespace holdpoint::bench
