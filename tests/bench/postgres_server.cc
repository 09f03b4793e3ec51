#include "postgres_server.h"

#include <cstdlib>
#include <utility>

#include "process_usage.h"

namespace holdpoint::bench {
namespace {

std::string find_risks(PostgresConnection& connection) {
  std::string risks;
  for (const std::string name : {"fsync", "synchronous_commit", "full_page_writes"})
    if (connection.value("SHOW " + name) == "off")
      risks += (risks.empty() ? "" : " ") + name + "=off";
  return risks;
}

// The process that started the one behind `connection`. On another machine that number would be
// some other process here, or none.
std::optional<pid_t> find_main_process(PostgresConnection& connection) {
  const std::string pid = connection.value(
      "SELECT pg_backend_pid() WHERE inet_server_addr() IS NOT DISTINCT FROM inet_client_addr()");
  if (pid.empty()) return std::nullopt;
  const auto backend = find_process(std::atoi(pid.c_str()));
  if (!backend || backend->name != "postgres") return std::nullopt;
  const auto parent = find_process(backend->parent);
  if (!parent || parent->name != "postgres") return std::nullopt;
  return backend->parent;
}

}  // namespace

PostgresServer::PostgresServer(std::string url, bool own)
    : url_(std::move(url)), connection_(url_), main_process_(find_main_process(connection_)) {
  facts_.version = connection_.value("SHOW server_version");
  facts_.where = connection_.where();
  facts_.own = own;
  facts_.processes_here = main_process_.has_value();
  facts_.not_durable = find_risks(connection_);
}

std::optional<double> PostgresServer::cpu_seconds() const {
  if (!main_process_) return std::nullopt;
  return family_cpu_seconds(*main_process_);
}

double PostgresServer::writing_transactions() {
  // A transaction gets its number when it first writes, so what only reads is not among them.
  return std::strtod(
      connection_.value("SELECT pg_snapshot_xmax(pg_current_snapshot())::text").c_str(), nullptr);
}

}  // namespace holdpoint::bench
