#include "lifecycles.h"

#include <unistd.h>

#include <vector>

#include "lifecycle_script.h"
#include "load.h"

namespace holdpoint::bench {
namespace {

constexpr Seconds kWarmUp{1};
constexpr Seconds kDrainLimit{60};

LifecycleTally drive_clients(const std::vector<Endpoint>& endpoints, int clients, Seconds span) {
  LifecycleTally tally;
  std::vector<LifecycleScript> each(static_cast<std::size_t>(clients),
                                    LifecycleScript(endpoints.front().text(), tally));
  std::vector<Script*> scripts;
  for (LifecycleScript& script : each) scripts.push_back(&script);
  Load load(endpoints, scripts);
  tally.end = after(span);
  load.run(after(span + kDrainLimit));
  return tally;
}

CpuUse cpu_so_far(const Deployment& deployment, pid_t agent) {
  CpuUse cpu;
  for (const ProcessUsage& node : deployment.usage()) cpu.nodes += node.cpu_seconds;
  cpu.postgres = deployment.database_cpu_seconds();
  cpu.agent = usage_of(agent).cpu_seconds;
  cpu.generator = usage_of(getpid()).cpu_seconds;
  cpu.machine = machine_cpu_seconds();
  return cpu;
}

CpuUse difference(const CpuUse& before, const CpuUse& after) {
  CpuUse used;
  used.nodes = after.nodes - before.nodes;
  if (before.postgres && after.postgres) used.postgres = *after.postgres - *before.postgres;
  used.agent = after.agent - before.agent;
  used.generator = after.generator - before.generator;
  used.machine = after.machine - before.machine;
  return used;
}

}  // namespace

double LifecycleStep::rss_bytes() const {
  double sum = 0;
  for (const ProcessUsage& node : nodes) sum += node.rss_bytes;
  return sum;
}

double LifecycleStep::peak_rss_bytes() const {
  double sum = 0;
  for (const ProcessUsage& node : nodes) sum += node.peak_rss_bytes;
  return sum;
}

std::optional<double> LifecycleStep::ms_a_lifecycle(std::optional<double> cpu_seconds) const {
  if (!cpu_seconds || finished == 0) return std::nullopt;
  return 1000 * *cpu_seconds / static_cast<double>(finished);
}

LifecycleStep run_lifecycles(const Deployment& deployment, pid_t agent, int clients, Seconds span) {
  const std::vector<Endpoint> endpoints = deployment.endpoints();
  const long warm_up_errors = drive_clients(endpoints, clients, kWarmUp).errors.count();

  const auto batches_before = deployment.batches();
  const auto written_before = deployment.writing_transactions();
  const CpuUse cpu_before = cpu_so_far(deployment, agent);
  const Instant start = now();

  LifecycleTally tally = drive_clients(endpoints, clients, span);

  LifecycleStep step;
  step.elapsed_s = Seconds(now() - start).count();
  step.cpu = difference(cpu_before, cpu_so_far(deployment, agent));
  step.setup = deployment.setup();
  step.clients = clients;
  step.completed = tally.completed;
  step.finished = tally.finished;
  step.per_s = static_cast<double>(tally.completed) / span.count();
  step.answer_to_completed_ms = spread_of(tally.answer_to_completed_ms);
  step.lifecycle_ms = spread_of(tally.lifecycle_ms);
  step.errors = warm_up_errors + tally.errors.count();
  step.nodes = deployment.usage();

  const auto batches_after = deployment.batches();
  if (batches_before && batches_after) {
    step.batches = difference(*batches_before, *batches_after);
    step.commits_per_s = step.batches->commits / step.elapsed_s;
  }
  if (written_before)
    step.commits_per_s = (*deployment.writing_transactions() - *written_before) / step.elapsed_s;
  return step;
}

}  // namespace holdpoint::bench
