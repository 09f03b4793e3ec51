#pragma once

#include "instant.h"
#include "postgres_server.h"

namespace holdpoint::bench {

constexpr int kCeilingPostgresConnections = 16;

// Transactions a second on so many connections: a prepared INSERT of one row each, straight through
// libpq, a thread a connection in this process.
double measure_transactions(PostgresServer& server, int connections, Seconds span);

}  // namespace holdpoint::bench
