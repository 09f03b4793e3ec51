#include <nlohmann/json.hpp>
#include <ostream>

#include "comparison.h"
#include "postgres_ceiling.h"
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

Json to_json(const Comparison& comparison) {
  return {{"lifecycles_per_s", to_json(comparison.per_s)},
          {"answer_to_completed_p50", to_json(comparison.answer_p50)},
          {"answer_to_completed_p99", to_json(comparison.answer_p99)},
          {"cpu_per_lifecycle", to_json(comparison.cpu_a_lifecycle)}};
}

Json to_json(const std::optional<Ceilings>& ceilings) {
  if (!ceilings) return nullptr;
  Json json = {{"httplib_requests_per_s", ceilings->httplib_requests_per_s},
               {"sqlite_commits_per_s", ceilings->sqlite_commits_per_s},
               {"fdatasyncs_per_s", ceilings->fdatasyncs_per_s}};
  if (ceilings->postgres)
    json["postgres_commits_per_s"] = {
        {"1", ceilings->postgres->alone_per_s},
        {std::to_string(kCeilingPostgresConnections), ceilings->postgres->shared_per_s}};
  return json;
}

Json batches_json(const LifecycleStep& step, const Results& results) {
  if (!step.batches) return nullptr;
  Json buckets = Json::array();
  for (const BatchSizes::Bucket& bucket : separate_buckets(*step.batches))
    buckets.push_back({{"le", bucket.le}, {"commits", bucket.commits}});
  const double per_s = step.batches->commits / step.elapsed_s;
  return {{"commits", step.batches->commits},
          {"commits_per_s", per_s},
          {"ratio_to_ceiling",
           to_json(ratios_of(per_s, step.setup.engine, results.ceilings).to_commits)},
          {"mean_batch", step.batches->mean()},
          {"buckets", buckets}};
}

Json lifecycles_json(const LifecycleStep& step, const Results& results) {
  const Engine engine = step.setup.engine;
  return {{"clients", step.clients},
          {"completed", step.completed},
          {"lifecycles_per_s", step.per_s},
          {"ratios", to_json(ratios_of(step.per_s, engine, results.ceilings))},
          {"answer_to_completed_ms", to_json(step.answer_to_completed_ms)},
          {"answer_to_completed_p50_in_commits",
           to_json(in_commits(step.answer_to_completed_ms.p50, engine, results.ceilings))},
          {"lifecycle_ms", to_json(step.lifecycle_ms)},
          {"errors", step.errors},
          {"fdatasyncs_per_s_before", to_json(step.fdatasyncs_per_s)},
          {"commit_batches", batches_json(step, results)},
          {"rss_bytes", step.rss_bytes()},
          {"peak_rss_bytes", step.peak_rss_bytes()},
          {"cores",
           {{"server", step.cores(step.cpu.nodes)},
            {"agent", step.cores(step.cpu.agent)},
            {"generator", step.cores(step.cpu.generator)},
            {"machine", step.cores(step.cpu.machine)}}},
          {"cpu_ms_per_lifecycle",
           {{"server", to_json(step.ms_a_lifecycle(step.cpu.nodes))},
            {"agent", to_json(step.ms_a_lifecycle(step.cpu.agent))},
            {"generator", to_json(step.ms_a_lifecycle(step.cpu.generator))}}}};
}

Json postgres_lifecycles_json(const LifecycleStep& step, const Results& results) {
  Json json = {{"nodes", step.setup.nodes}};
  json.update(lifecycles_json(step, results));
  json["writing_transactions_per_s"] = to_json(step.commits_per_s);
  for (const ProcessUsage& node : step.nodes) json["rss_bytes_per_node"].push_back(node.rss_bytes);
  json["cores"]["postgres"] = nullptr;
  if (step.cpu.postgres) json["cores"]["postgres"] = step.cores(*step.cpu.postgres);
  json["cpu_ms_per_lifecycle"]["postgres"] = to_json(step.ms_a_lifecycle(step.cpu.postgres));
  json["to_sqlite"] = to_json(compare(step, kSqlite, results));
  json["to_one_node"] = to_json(compare(step, kOneNode, results));
  return json;
}

Json parked_json(const Parked& parked, const Results& results) {
  return {{"sessions", parked.sessions},
          {"sessions_per_s", parked.per_s},
          {"ratios", to_json(ratios_of(parked.per_s, parked.setup.engine, results.ceilings))},
          {"memory_bytes_per_session", parked.memory_bytes},
          {"disk_bytes_per_session", parked.disk_bytes},
          {"database_bytes", parked.database_bytes},
          {"wal_bytes", parked.wal_bytes},
          {"rss_bytes", parked.rss_bytes},
          {"peak_rss_bytes", parked.peak_rss_bytes},
          {"errors", parked.errors}};
}

Json postgres_parked_json(const Parked& parked, const Results& results) {
  Json json = {{"nodes", parked.setup.nodes}};
  json.update(parked_json(parked, results));
  json.erase("wal_bytes");
  json["to_sqlite"] = {{"sessions_per_s", to_json(compare(parked, kSqlite, results))}};
  return json;
}

Json postgres_json(const Results& results) {
  const PostgresFacts& facts = *results.postgres;
  Json steps = Json::array();
  for (const LifecycleStep& step : results.lifecycles)
    if (step.setup.engine == Engine::postgres)
      steps.push_back(postgres_lifecycles_json(step, results));
  Json parked = Json::array();
  for (const Parked& one : results.parked)
    if (one.setup.engine == Engine::postgres) parked.push_back(postgres_parked_json(one, results));
  return {{"version", facts.version},
          {"where", facts.where},
          {"started_for_this_run", facts.own},
          {"shares_the_machine", facts.processes_here},
          {"durable", facts.not_durable.empty()},
          {"lifecycles", steps},
          {"parked", parked}};
}

}  // namespace

void print_json(std::ostream& out, const Results& results) {
  Json steps = Json::array();
  for (const LifecycleStep& step : results.lifecycles)
    if (step.setup.engine == Engine::sqlite) steps.push_back(lifecycles_json(step, results));
  Json parked;
  for (const Parked& one : results.parked)
    if (one.setup.engine == Engine::sqlite) parked = parked_json(one, results);
  Json report = {{"cores", results.cores},
                 {"seconds", results.seconds},
                 {"dir_in_memory", results.dir_in_memory},
                 {"ceilings", to_json(results.ceilings)},
                 {"lifecycles", steps},
                 {"parked", parked}};
  if (results.postgres) report["postgres"] = postgres_json(results);
  out << report.dump(2) << '\n';
}

}  // namespace holdpoint::bench
