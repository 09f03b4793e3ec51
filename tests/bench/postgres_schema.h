#pragma once

#include <string>

#include "postgres_server.h"

namespace holdpoint::bench {

// A fresh schema, dropped with all it holds: nothing of the bench stays in a database that was
// given to it, and no part of a run pays for what an earlier one left.
class PostgresSchema {
 public:
  explicit PostgresSchema(PostgresServer& server);
  PostgresSchema(const PostgresSchema&) = delete;
  PostgresSchema& operator=(const PostgresSchema&) = delete;
  ~PostgresSchema();

  // The server's URL, for connections that see this schema alone.
  std::string url() const;
  // Tables with their indexes and out-of-line values.
  double bytes() const;

 private:
  PostgresServer& server_;
  std::string name_;
};

}  // namespace holdpoint::bench
