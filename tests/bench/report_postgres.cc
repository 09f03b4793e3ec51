#include "report_postgres.h"

#include <ostream>

#include "comparison.h"
#include "table.h"

namespace holdpoint::bench {

void print_server(std::ostream& out, const Results& results) {
  const PostgresFacts& facts = *results.postgres;
  out << "PostgreSQL " << facts.version << " at " << facts.where
      << (facts.own ? ", started for this run in the same folder\n" : "\n");
  if (!facts.not_durable.empty())
    out << "WARNING: it runs with " << facts.not_durable << ", so its commits cost too little\n";
  out << (facts.processes_here ? "PostgreSQL, all nodes, the agent and the clients share these "
                               : "All nodes, the agent and the clients share these ")
      << results.cores
      << " cores, so a further node\nadds no processor: judge by the ratios to SQLite in this run, "
         "and by the time a lifecycle takes\n";
}

void print_comparison(std::ostream& out, const Results& results) {
  Table table;
  table.add({"on", "clients", "to SQLite: lifecycles/s", "answer p50", "p99", "CPU",
             "to 1 node: lifecycles/s", "answer p50", "p99", "CPU", "fdatasyncs/s then"});
  for (const LifecycleStep& step : results.lifecycles) {
    const Comparison sqlite = compare(step, kSqlite, results);
    Comparison one;  // SQLite's is the same as its ratio from the other side
    if (step.setup.engine == Engine::postgres) one = compare(step, kOneNode, results);
    table.add({name_of(step.setup), std::to_string(step.clients), fixed(sqlite.per_s, 2),
               fixed(sqlite.answer_p50, 2), fixed(sqlite.answer_p99, 2),
               fixed(sqlite.cpu_a_lifecycle, 2), fixed(one.per_s, 2), fixed(one.answer_p50, 2),
               fixed(one.answer_p99, 2), fixed(one.cpu_a_lifecycle, 2),
               fixed(step.fdatasyncs_per_s, 0)});
  }
  out << "\nratios within this run, at as many clients\n"
         "  CPU: processor time a lifecycle of all that runs; then: of the disk just before, as a\n"
         "  ratio says little if the disk was another one meanwhile\n";
  table.print(out);
}

void print_processor_time(std::ostream& out, const Results& results) {
  Table table;
  table.add({"on", "clients", "nodes", "PostgreSQL", "agent", "generator", "all", "cores busy",
             "of other work"});
  for (const LifecycleStep& step : results.lifecycles) {
    const CpuUse& cpu = step.cpu;
    table.add(
        {name_of(step.setup), std::to_string(step.clients),
         fixed(step.ms_a_lifecycle(cpu.nodes), 3), fixed(step.ms_a_lifecycle(cpu.postgres), 3),
         fixed(step.ms_a_lifecycle(cpu.agent), 3), fixed(step.ms_a_lifecycle(cpu.generator), 3),
         fixed(step.ms_a_lifecycle(cpu.all()), 3), fixed(step.cores(cpu.machine), 2),
         fixed(step.cores(cpu.machine - cpu.all()), 2)});
  }
  out << "\nprocessor time, ms a lifecycle\n"
         "  1000 / that: lifecycles/s that one core carries, if it does nothing else\n"
         "  of other work: cores that the kernel and whatever else runs here kept busy meanwhile\n";
  table.print(out);
}

void print_parked_side_by_side(std::ostream& out, const Results& results) {
  Table table;
  table.add({"on", "sessions/s", "/SQLite", "/commits", "memory a session", "disk a session",
             "database MiB", "WAL MiB", "RSS MiB", "peak MiB", "errors"});
  for (const Parked& parked : results.parked) {
    const Engine engine = parked.setup.engine;
    table.add(
        {name_of(parked.setup), fixed(parked.per_s, 0), fixed(compare(parked, kSqlite, results), 2),
         fixed(ratios_of(parked.per_s, engine, results.ceilings).to_commits, 3),
         fixed(parked.memory_bytes, 0), fixed(parked.disk_bytes, 0),
         mebibytes(parked.database_bytes),
         engine == Engine::sqlite ? mebibytes(parked.wal_bytes) : "-", mebibytes(parked.rss_bytes),
         mebibytes(parked.peak_rss_bytes), std::to_string(parked.errors)});
  }
  out << "\nparked: " << results.parked.front().sessions
      << " sessions waiting for their answer; a session's cost in bytes\n"
         "  memory: of all nodes; disk: SQLite's file and WAL, or PostgreSQL's tables and "
         "indexes\n";
  table.print(out);
}

}  // namespace holdpoint::bench
