#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "batch_sizes.h"
#include "postgres_schema.h"
#include "process_usage.h"
#include "server_process.h"
#include "setup.h"

namespace holdpoint::bench {

struct DiskUse {
  double database_bytes = 0;
  double wal_bytes = 0;  // of SQLite alone: PostgreSQL's log is the whole server's
};

// The nodes of one setup on a database of their own: a SQLite file, or a fresh schema.
class Deployment {
 public:
  // `postgres` may be null for SQLite.
  Deployment(const Setup& setup, const std::filesystem::path& binary,
             const std::filesystem::path& dir, int agent_port, PostgresServer* postgres);

  const Setup& setup() const { return setup_; }
  std::vector<Endpoint> endpoints() const;
  // Each node's.
  std::vector<ProcessUsage> usage() const;
  // Of PostgreSQL; nothing on SQLite, which is in the node, or if it is on another machine.
  std::optional<double> database_cpu_seconds() const;
  DiskUse disk() const;

  // Of all nodes together; nothing if they show none.
  std::optional<BatchSizes> batches() const;
  // How many transactions have written to PostgreSQL; nothing on SQLite.
  std::optional<double> writing_transactions() const;

  // Throws when a node does not leave in time, or leaves with an error.
  void stop();
  // `problem`, with how each node ended if it did, and the last lines of its log.
  std::string explain(const std::string& problem);

 private:
  Setup setup_;
  std::filesystem::path dir_;
  PostgresServer* postgres_;
  std::optional<PostgresSchema> schema_;  // outlives the nodes
  std::vector<std::unique_ptr<ServerProcess>> nodes_;
};

}  // namespace holdpoint::bench
