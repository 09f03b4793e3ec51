#include <ostream>

#include "httplib_ceiling.h"
#include "postgres_ceiling.h"
#include "report.h"
#include "report_postgres.h"
#include "table.h"

namespace holdpoint::bench {
namespace {

// With PostgreSQL beside SQLite, each row says first what it was measured on.
void add_row(Table& table, const Results& results, const std::string& on,
             std::vector<std::string> row) {
  if (results.postgres) row.insert(row.begin(), on);
  table.add(std::move(row));
}

void print_ceilings(std::ostream& out, const Ceilings& ceilings) {
  Table table;
  table.add({"cpp-httplib, GET, " + std::to_string(kCeilingConnections) + " connections",
             fixed(ceilings.httplib_requests_per_s, 0), "requests/s"});
  table.add({"SQLite, WAL, synchronous=FULL, a row each", fixed(ceilings.sqlite_commits_per_s, 0),
             "commits/s"});
  if (ceilings.postgres) {
    table.add({"PostgreSQL, libpq, a row each, 1 connection",
               fixed(ceilings.postgres->alone_per_s, 0), "commits/s"});
    table.add({"PostgreSQL, libpq, a row each, " + std::to_string(kCeilingPostgresConnections) +
                   " connections",
               fixed(ceilings.postgres->shared_per_s, 0), "commits/s"});
  }
  table.add({"fdatasync of 4 KiB", fixed(ceilings.fdatasyncs_per_s, 0), "syncs/s"});
  out << "\nceilings of this machine\n";
  table.print(out);
}

void print_speed(std::ostream& out, const Results& results) {
  Table table;
  add_row(table, results, "on",
          {"clients", "lifecycles/s", "/httplib", "/commits", "/fdatasync", "answer p50", "p99",
           "in commits", "whole p50", "p99", "errors"});
  for (const LifecycleStep& step : results.lifecycles) {
    const Engine engine = step.setup.engine;
    const Ratios ratios = ratios_of(step.per_s, engine, results.ceilings);
    add_row(table, results, name_of(step.setup),
            {std::to_string(step.clients), fixed(step.per_s, 0), fixed(ratios.to_httplib, 3),
             fixed(ratios.to_commits, 3), fixed(ratios.to_fdatasyncs, 3),
             fixed(step.answer_to_completed_ms.p50, 2), fixed(step.answer_to_completed_ms.p99, 2),
             fixed(in_commits(step.answer_to_completed_ms.p50, engine, results.ceilings), 1),
             fixed(step.lifecycle_ms.p50, 2), fixed(step.lifecycle_ms.p99, 2),
             std::to_string(step.errors)});
  }
  out << "\nlifecycles, trigger -> ask -> answer -> result, " << fixed(results.seconds, 0)
      << " s each; times in ms\n"
         "  answer: answer -> completed; in commits: that p50 in commits of the ceiling\n";
  if (results.postgres)
    out << "  PostgreSQL has its own ceiling: /commits on " << kCeilingPostgresConnections
        << " connections, in commits on 1\n"
           "  clients send their requests to the nodes in turn, as a load balancer would\n";
  table.print(out);
}

void print_cost(std::ostream& out, const Results& results) {
  Table table;
  add_row(table, results, "on",
          {"clients", "commits/s", "/ceiling", "jobs a commit", "RSS MiB", "peak MiB",
           "cores: server", "agent", "generator"});
  for (const LifecycleStep& step : results.lifecycles) {
    std::optional<double> ratio;
    if (step.commits_per_s)
      ratio = ratios_of(*step.commits_per_s, step.setup.engine, results.ceilings).to_commits;
    add_row(table, results, name_of(step.setup),
            {std::to_string(step.clients), fixed(step.commits_per_s, 0), fixed(ratio, 3),
             step.batches ? fixed(step.batches->mean(), 2) : "-", mebibytes(step.rss_bytes()),
             mebibytes(step.peak_rss_bytes()), fixed(step.cores(step.cpu.nodes), 2),
             fixed(step.cores(step.cpu.agent), 2), fixed(step.cores(step.cpu.generator), 2)});
  }
  out << "\nwhat they cost the server\n";
  if (results.postgres)
    out << "  server: all nodes together\n"
           "  commits on PostgreSQL: transactions that wrote something or posted a notice\n";
  table.print(out);
}

void print_batches(std::ostream& out, const Results& results) {
  out << "\ncommit batch sizes, % of the commits in each bucket\n";
  for (const LifecycleStep& step : results.lifecycles) {
    out << "  ";
    if (results.postgres) out << name_of(step.setup) << ", ";
    out << "clients " << step.clients << ":";
    if (!step.batches) {
      out << " the server's /metrics have no holdpoint_commit_batch_size\n";
      continue;
    }
    for (const BatchSizes::Bucket& bucket : separate_buckets(*step.batches))
      if (bucket.commits > 0)
        out << "  <=" << bucket.le << ": "
            << fixed(100 * bucket.commits / step.batches->commits, 1);
    out << '\n';
  }
}

void print_parked(std::ostream& out, const Results& results) {
  const Parked& parked = results.parked.front();
  const Ratios ratios = ratios_of(parked.per_s, parked.setup.engine, results.ceilings);
  Table table;
  table.add({"memory a session", fixed(parked.memory_bytes, 0), "bytes",
             "RSS " + mebibytes(parked.rss_bytes) + " MiB at the end, peak " +
                 mebibytes(parked.peak_rss_bytes)});
  table.add({"disk a session", fixed(parked.disk_bytes, 0), "bytes",
             "database " + mebibytes(parked.database_bytes) + " MiB, WAL " +
                 mebibytes(parked.wal_bytes) + " MiB"});
  table.add({"triggered and parked", fixed(parked.per_s, 0), "sessions/s",
             fixed(ratios.to_httplib, 3) + " of httplib, " + fixed(ratios.to_commits, 3) +
                 " of commits"});
  out << "\nparked: " << parked.sessions << " sessions waiting for their answer, " << parked.errors
      << " errors\n";
  table.print(out);
}

}  // namespace

void print_tables(std::ostream& out, const Results& results) {
  out << "Holdpoint on " << results.cores << " cores, files in " << results.dir << '\n';
  if (results.dir_in_memory)
    out << "WARNING: that folder is in memory, so syncs cost nothing; set TMPDIR to a disk\n";
  if (results.postgres) print_server(out, results);
  if (results.ceilings) print_ceilings(out, *results.ceilings);
  if (!results.lifecycles.empty()) {
    print_speed(out, results);
    if (results.postgres) print_comparison(out, results);
    print_cost(out, results);
    if (results.postgres) print_processor_time(out, results);
    print_batches(out, results);
  }
  if (results.parked.empty()) return;
  if (results.postgres) {
    print_parked_side_by_side(out, results);
  } else {
    print_parked(out, results);
  }
}

}  // namespace holdpoint::bench
