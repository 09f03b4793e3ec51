#include <algorithm>
#include <exception>
#include <fstream>
#include <iostream>
#include <optional>
#include <stdexcept>
#include <thread>

#include "agent_process.h"
#include "deployment.h"
#include "interrupt.h"
#include "options.h"
#include "private_postgres.h"
#include "report.h"
#include "temp_dir.h"

namespace holdpoint::bench {
namespace {

constexpr Seconds kLongestCeiling{3};
constexpr Seconds kDiskLook{0.5};

std::vector<Setup> setups_of(const Options& options) {
  std::vector<Setup> setups{Setup{}};
  if (options.postgres)
    for (const int nodes : options.nodes) setups.push_back({Engine::postgres, nodes});
  return setups;
}

// The PostgreSQL of a run; empty when there is none.
struct Postgres {
  std::optional<PrivatePostgres> own;
  std::optional<PostgresServer> server;

  PostgresServer* get() { return server ? &*server : nullptr; }
};

void start_postgres(const Options& options, const std::filesystem::path& dir, Postgres& postgres) {
  if (!options.postgres_url.empty()) {
    postgres.server.emplace(options.postgres_url, false);
    return;
  }
  std::cerr << "starting PostgreSQL\n";
  // As root it runs as another user, who has to get there.
  using std::filesystem::perms;
  std::filesystem::permissions(dir, perms::group_exec | perms::others_exec,
                               std::filesystem::perm_options::add);
  postgres.own.emplace(dir / "postgres");
  check_interrupt();
  postgres.server.emplace(postgres.own->url(), true);
}

// Runs `work` on the nodes of each setup, one after the other, each on a fresh database.
template <typename Work>
void for_each_setup(const Options& options, const std::filesystem::path& dir, int agent_port,
                    Postgres& postgres, Work work) {
  int number = 0;
  for (const Setup& setup : setups_of(options)) {
    Deployment deployment(setup, options.binary, dir / std::to_string(++number), agent_port,
                          postgres.get());
    try {
      work(deployment, options.postgres ? " on " + name_of(setup) : "");
    } catch (const Interrupted&) {
      throw;
    } catch (const std::exception& error) {
      throw std::runtime_error(deployment.explain(error.what()));
    }
    deployment.stop();
  }
}

void measure(const Options& options, const std::filesystem::path& dir, Results& results) {
  std::optional<AgentProcess> agent;
  if (options.wants(Part::lifecycles) || options.wants(Part::parked)) {
    if (!std::filesystem::exists(options.binary))
      throw std::runtime_error("no server at " + options.binary.string());
    agent.emplace();
  }
  watch_for_interrupt();
  Postgres postgres;
  if (options.postgres) {
    start_postgres(options, dir, postgres);
    results.postgres = postgres.server->facts();
  }

  if (options.wants(Part::ceilings)) {
    std::cerr << "measuring the machine's ceilings\n";
    results.ceilings =
        measure_ceilings(dir, std::min(options.span, kLongestCeiling), postgres.get());
  }
  if (options.wants(Part::lifecycles)) {
    for_each_setup(options, dir / "lifecycles", agent->port(), postgres,
                   [&](const Deployment& deployment, const std::string& where) {
                     for (const int clients : options.clients) {
                       std::cerr << "running lifecycles" << where << ", " << clients
                                 << " clients\n";
                       std::optional<double> syncs;
                       if (options.postgres) syncs = measure_syncs(dir / "sync", kDiskLook);
                       results.lifecycles.push_back(
                           run_lifecycles(deployment, agent->pid(), clients, options.span));
                       results.lifecycles.back().fdatasyncs_per_s = syncs;
                     }
                   });
  }
  if (options.wants(Part::parked)) {
    // Servers of its own: after a load, freed memory and a grown database would hide the cost.
    for_each_setup(options, dir / "parked", agent->port(), postgres,
                   [&](const Deployment& deployment, const std::string& where) {
                     std::cerr << "parking " << options.parked << " sessions" << where << '\n';
                     results.parked.push_back(park_sessions(deployment, options.parked));
                   });
  }
}

void report(const Options& options, const Results& results) {
  print_tables(std::cout, results);
  std::cout.flush();
  if (!options.json) return;
  std::ofstream file(*options.json);
  print_json(file, results);
  file.close();
  if (!file) throw std::runtime_error("cannot write " + options.json->string());
}

int run(const Options& options) {
  const TempDir dir;
  Results results;
  results.cores = std::thread::hardware_concurrency();
  results.seconds = options.span.count();
  results.dir = dir.path().string();
  results.dir_in_memory = dir.in_memory();

  std::string problem;
  try {
    measure(options, dir.path(), results);
  } catch (const std::exception& error) {
    problem = error.what();
  }
  report(options, results);
  if (!problem.empty()) std::cerr << "bench failed: " << problem << '\n';
  return problem.empty() && results.errors() == 0 ? 0 : 1;
}

}  // namespace
}  // namespace holdpoint::bench

int main(int argc, char** argv) {
  try {
    const auto options = holdpoint::bench::parse_options(argc, argv);
    if (options.help) {
      std::cout << holdpoint::bench::kHelp;
      return 0;
    }
    return holdpoint::bench::run(options);
  } catch (const holdpoint::bench::UsageError& error) {
    std::cerr << "bench: " << error.what() << "\n\n" << holdpoint::bench::kHelp;
    return 2;
  } catch (const std::exception& error) {
    std::cerr << "bench: " << error.what() << '\n';
    return 1;
  }
}
