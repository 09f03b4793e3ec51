#include "lifecycles.h"

#include <unistd.h>

#include <vector>

#include "lifecycle_script.h"
#include "load.h"

namespace holdpoint::bench {
namespace {

constexpr Seconds kWarmUp{1};
constexpr Seconds kDrainLimit{60};

LifecycleTally drive_clients(const Endpoint& endpoint, int clients, Seconds span) {
  LifecycleTally tally;
  std::vector<LifecycleScript> each(static_cast<std::size_t>(clients),
                                    LifecycleScript(endpoint.text(), tally));
  std::vector<Script*> scripts;
  for (LifecycleScript& script : each) scripts.push_back(&script);
  Load load(endpoint, scripts);
  tally.end = after(span);
  load.run(after(span + kDrainLimit));
  return tally;
}

}  // namespace

LifecycleStep run_lifecycles(const ServerProcess& server, pid_t agent, int clients, Seconds span) {
  const Endpoint& endpoint = server.endpoint();
  const long warm_up_errors = drive_clients(endpoint, clients, kWarmUp).errors.count();

  const auto batches_before = read_batch_sizes(fetch(endpoint, "/metrics"));
  const double server_before = usage_of(server.pid()).cpu_seconds;
  const double agent_before = usage_of(agent).cpu_seconds;
  const double generator_before = usage_of(getpid()).cpu_seconds;
  const Instant start = now();

  LifecycleTally tally = drive_clients(endpoint, clients, span);

  const double elapsed = Seconds(now() - start).count();
  LifecycleStep step;
  step.clients = clients;
  step.completed = tally.completed;
  step.per_s = static_cast<double>(tally.completed) / span.count();
  step.answer_to_completed_ms = spread_of(tally.answer_to_completed_ms);
  step.lifecycle_ms = spread_of(tally.lifecycle_ms);
  step.errors = warm_up_errors + tally.errors.count();
  step.server = usage_of(server.pid());
  step.server_cores = (step.server.cpu_seconds - server_before) / elapsed;
  step.agent_cores = (usage_of(agent).cpu_seconds - agent_before) / elapsed;
  step.generator_cores = (usage_of(getpid()).cpu_seconds - generator_before) / elapsed;

  const auto batches_after = read_batch_sizes(fetch(endpoint, "/metrics"));
  if (batches_before && batches_after) {
    step.batches = difference(*batches_before, *batches_after);
    step.commits_per_s = step.batches->commits / elapsed;
  }
  return step;
}

}  // namespace holdpoint::bench
