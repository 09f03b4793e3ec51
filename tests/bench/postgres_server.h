#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

#include "postgres_connection.h"

namespace holdpoint::bench {

// What a reader of the figures has to know about the server.
struct PostgresFacts {
  std::string version;
  std::string where;  // host, port and database
  bool own = false;   // started by the bench
  bool processes_here = false;
  // "fsync=off …": settings under which a commit may be lost; empty when there are none.
  std::string not_durable;
};

// The PostgreSQL that nodes are measured on. Everything is asked on one connection, so it is for
// one thread.
class PostgresServer {
 public:
  // `own` when the bench has started it itself.
  PostgresServer(std::string url, bool own);

  const std::string& url() const { return url_; }
  const PostgresFacts& facts() const { return facts_; }
  PostgresConnection& connection() { return connection_; }

  // Processor time of all its processes so far; nothing when they are not on this machine.
  std::optional<double> cpu_seconds() const;

  // How many transactions have written something or posted a notice so far, in all its databases.
  double writing_transactions();

 private:
  std::string url_;
  PostgresConnection connection_;
  PostgresFacts facts_;
  std::optional<pid_t> main_process_;
};

}  // namespace holdpoint::bench
