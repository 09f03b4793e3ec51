#include <algorithm>
#include <exception>
#include <fstream>
#include <iostream>
#include <optional>
#include <stdexcept>
#include <thread>

#include "agent_process.h"
#include "interrupt.h"
#include "options.h"
#include "report.h"
#include "server_process.h"
#include "temp_dir.h"

namespace holdpoint::bench {
namespace {

constexpr Seconds kLongestCeiling{3};

template <typename Work>
void with_server(const Options& options, const std::filesystem::path& dir, int agent_port,
                 Work work) {
  ServerProcess server(options.binary, dir, agent_port);
  try {
    work(server);
  } catch (const Interrupted&) {
    throw;
  } catch (const std::exception& error) {
    throw std::runtime_error(server.explain(error.what()));
  }
  server.stop();
}

void measure(const Options& options, const std::filesystem::path& dir, Results& results) {
  std::optional<AgentProcess> agent;
  if (options.wants(Part::lifecycles) || options.wants(Part::parked)) {
    if (!std::filesystem::exists(options.binary))
      throw std::runtime_error("no server at " + options.binary.string());
    agent.emplace();
  }
  watch_for_interrupt();

  if (options.wants(Part::ceilings)) {
    std::cerr << "measuring the machine's ceilings\n";
    results.ceilings = measure_ceilings(dir, std::min(options.span, kLongestCeiling));
  }
  if (options.wants(Part::lifecycles)) {
    with_server(options, dir / "lifecycles", agent->port(), [&](const ServerProcess& server) {
      for (const int clients : options.clients) {
        std::cerr << "running lifecycles, " << clients << " clients\n";
        results.lifecycles.push_back(run_lifecycles(server, agent->pid(), clients, options.span));
      }
    });
  }
  if (options.wants(Part::parked)) {
    // A server of its own: after a load, freed memory and a grown database would hide the cost.
    with_server(options, dir / "parked", agent->port(), [&](const ServerProcess& server) {
      std::cerr << "parking " << options.parked << " sessions\n";
      results.parked = park_sessions(server, options.parked);
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
