#include "deployment.h"

#include <system_error>

#include "load.h"

namespace holdpoint::bench {
namespace {

double size_or_zero(const std::filesystem::path& path) {
  std::error_code missing;
  const auto size = std::filesystem::file_size(path, missing);
  return missing ? 0 : static_cast<double>(size);
}

}  // namespace

Deployment::Deployment(const Setup& setup, const std::filesystem::path& binary,
                       const std::filesystem::path& dir, int agent_port, PostgresServer* postgres)
    : setup_(setup), dir_(dir), postgres_(setup.engine == Engine::postgres ? postgres : nullptr) {
  if (postgres_ != nullptr) schema_.emplace(*postgres_);
  const std::string url = schema_ ? schema_->url() : "sqlite:" + (dir_ / "holdpoint.db").string();
  for (int i = 1; i <= setup_.nodes; ++i)
    nodes_.push_back(std::make_unique<ServerProcess>(binary, dir_ / ("node_" + std::to_string(i)),
                                                     agent_port, url));
}

std::vector<Endpoint> Deployment::endpoints() const {
  std::vector<Endpoint> endpoints;
  for (const auto& node : nodes_) endpoints.push_back(node->endpoint());
  return endpoints;
}

std::vector<ProcessUsage> Deployment::usage() const {
  std::vector<ProcessUsage> usage;
  for (const auto& node : nodes_) usage.push_back(usage_of(node->pid()));
  return usage;
}

std::optional<double> Deployment::database_cpu_seconds() const {
  if (postgres_ == nullptr) return std::nullopt;
  return postgres_->cpu_seconds();
}

DiskUse Deployment::disk() const {
  if (schema_) return {schema_->bytes(), 0};
  return {size_or_zero(dir_ / "holdpoint.db"), size_or_zero(dir_ / "holdpoint.db-wal")};
}

std::optional<BatchSizes> Deployment::batches() const {
  // Reading adds up what it finds under one name, so the nodes' texts may follow each other.
  std::string metrics;
  for (const auto& node : nodes_) metrics += fetch(node->endpoint(), "/metrics") + "\n";
  return read_batch_sizes(metrics);
}

std::optional<double> Deployment::writing_transactions() const {
  if (postgres_ == nullptr) return std::nullopt;
  return postgres_->writing_transactions();
}

void Deployment::stop() {
  for (const auto& node : nodes_) node->stop();
}

std::string Deployment::explain(const std::string& problem) {
  std::string text = problem;
  for (const auto& node : nodes_) text = node->explain(text);
  return text;
}

}  // namespace holdpoint::bench
