#include <nlohmann/json.hpp>
#include <ostream>

#include "report.h"

namespace holdpoint::bench {
namespace {

using Json = nlohmann::ordered_json;

Json to_json(const std::optional<double>& value) { return value ? Json(*value) : Json(nullptr); }

Json to_json(const Spread& spread) { return {{"p50", spread.p50}, {"p99", spread.p99}}; }

Json to_json(const Ratios& ratios) {
  return {{"httplib", to_json(ratios.to_httplib)},
          {"commits", to_json(ratios.to_commits)},
          {"fdatasyncs", to_json(ratios.to_fdatasyncs)}};
}

Json to_json(const std::optional<Ceilings>& ceilings) {
  if (!ceilings) return nullptr;
  return {{"httplib_requests_per_s", ceilings->httplib_requests_per_s},
          {"sqlite_commits_per_s", ceilings->sqlite_commits_per_s},
          {"fdatasyncs_per_s", ceilings->fdatasyncs_per_s}};
}

Json batches_json(const LifecycleStep& step, const std::optional<Ceilings>& ceilings) {
  if (!step.batches) return nullptr;
  Json buckets = Json::array();
  for (const BatchSizes::Bucket& bucket : separate_buckets(*step.batches))
    buckets.push_back({{"le", bucket.le}, {"commits", bucket.commits}});
  return {{"commits", step.batches->commits},
          {"commits_per_s", step.commits_per_s},
          {"ratio_to_ceiling", to_json(ratios_of(step.commits_per_s, ceilings).to_commits)},
          {"mean_batch", step.batches->mean()},
          {"buckets", buckets}};
}

Json lifecycles_json(const LifecycleStep& step, const std::optional<Ceilings>& ceilings) {
  return {{"clients", step.clients},
          {"completed", step.completed},
          {"lifecycles_per_s", step.per_s},
          {"ratios", to_json(ratios_of(step.per_s, ceilings))},
          {"answer_to_completed_ms", to_json(step.answer_to_completed_ms)},
          {"answer_to_completed_p50_in_commits",
           to_json(in_commits(step.answer_to_completed_ms.p50, ceilings))},
          {"lifecycle_ms", to_json(step.lifecycle_ms)},
          {"errors", step.errors},
          {"commit_batches", batches_json(step, ceilings)},
          {"rss_bytes", step.server.rss_bytes},
          {"peak_rss_bytes", step.server.peak_rss_bytes},
          {"cores",
           {{"server", step.server_cores},
            {"agent", step.agent_cores},
            {"generator", step.generator_cores}}}};
}

Json parked_json(const Parked& parked, const std::optional<Ceilings>& ceilings) {
  return {{"sessions", parked.sessions},
          {"sessions_per_s", parked.per_s},
          {"ratios", to_json(ratios_of(parked.per_s, ceilings))},
          {"memory_bytes_per_session", parked.memory_bytes},
          {"disk_bytes_per_session", parked.disk_bytes},
          {"database_bytes", parked.database_bytes},
          {"wal_bytes", parked.wal_bytes},
          {"rss_bytes", parked.rss_bytes},
          {"peak_rss_bytes", parked.peak_rss_bytes},
          {"errors", parked.errors}};
}

}  // namespace

void print_json(std::ostream& out, const Results& results) {
  Json steps = Json::array();
  for (const LifecycleStep& step : results.lifecycles)
    steps.push_back(lifecycles_json(step, results.ceilings));
  const Json report = {
      {"cores", results.cores},
      {"seconds", results.seconds},
      {"dir_in_memory", results.dir_in_memory},
      {"ceilings", to_json(results.ceilings)},
      {"lifecycles", steps},
      {"parked", results.parked ? parked_json(*results.parked, results.ceilings) : Json(nullptr)}};
  out << report.dump(2) << '\n';
}

}  // namespace holdpoint::bench
